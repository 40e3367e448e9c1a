import numpy as np
import pytest

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError
from gnnsync.localization.repair.scaling import (
    MOST_POINTS,
    check_size,
    landmark_map,
    path_lengths,
    scaled_paths,
)
from gnnsync.positions import position_ane
from tests.localization.peers.networks import complete_network, disc_network


def test_straight_paths_give_the_points():
    network = complete_network(40)
    assert position_ane(scaled_paths(network), network) < 1e-12


def test_the_iteration_for_large_networks_gives_the_same_as_the_dense_solver():
    network = disc_network(320, 16.0)
    found = scaled_paths(network)
    middle = np.eye(320) - 1.0 / 320
    inner = -0.5 * middle @ path_lengths(network) ** 2 @ middle
    value, vector = np.linalg.eigh(inner)
    np.testing.assert_allclose(
        np.abs(found), np.abs(vector[:, -2:] * np.sqrt(value[-2:])), atol=1e-9
    )


def test_paths_are_sums_of_distances():
    chain = DistanceNetwork(np.array([[0, 1], [1, 2]]), np.array([1.0, 2.0]), 3)
    assert path_lengths(chain).tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]


def test_networks_beyond_the_memory_are_refused_in_one_line():
    n = MOST_POINTS + 1
    chain = DistanceNetwork(np.stack([np.arange(n - 1), np.arange(1, n)]), np.ones(n - 1), n)
    with pytest.raises(GraphError, match=f"MDS-MAP takes at most {MOST_POINTS} points") as error:
        check_size("MDS-MAP", chain)
    assert "\n" not in str(error.value)


def test_paths_from_some_points_are_rows_of_all_paths():
    network = disc_network(40)
    some = np.array([3, 17])
    np.testing.assert_allclose(path_lengths(network, some), path_lengths(network)[some])


def test_all_points_as_landmarks_give_classical_scaling():
    network = disc_network(60, 14.0)
    found, known = landmark_map(network, 60), scaled_paths(network)
    np.testing.assert_allclose(_between(found), _between(known), atol=1e-9)


def test_few_landmarks_are_enough_if_paths_are_straight():
    network = complete_network(40)
    assert position_ane(landmark_map(network, 4), network) < 1e-9


def test_each_component_has_landmarks_of_its_own():
    one, two = complete_network(12), complete_network(9, seed=1)
    network = one.replace(
        num_points=22,  # the last one is alone
        pairs=np.concatenate([one.pairs, two.pairs + 12], axis=1),
        distance=np.concatenate([one.distance, two.distance]),
        points=np.concatenate([one.points, two.points, [[0.0, 0.0]]]),
    )
    found = landmark_map(network, 6)
    np.testing.assert_allclose(_between(found[:12]), _between(one.points), atol=1e-9)
    np.testing.assert_allclose(_between(found[12:21]), _between(two.points), atol=1e-9)
    assert (found[21] == 0.0).all()


def test_points_on_a_line_stay_on_it():
    chain = DistanceNetwork(np.array([[0, 1], [1, 2]]), np.array([1.0, 2.0]), 3)
    np.testing.assert_allclose(
        _between(landmark_map(chain, 3)), [[0, 1, 3], [1, 0, 2], [3, 2, 0]], atol=1e-6
    )


def test_landmarks_take_networks_beyond_the_memory_of_all_paths():
    n = 4 * MOST_POINTS
    chain = DistanceNetwork(np.stack([np.arange(n - 1), np.arange(1, n)]), np.ones(n - 1), n)
    found = landmark_map(chain, 5)
    assert abs(np.linalg.norm(found[-1] - found[0]) - (n - 1)) < 1e-3


def _between(points):
    return np.linalg.norm(points[:, None] - points[None], axis=-1)
