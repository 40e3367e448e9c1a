import numpy as np
import pytest

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError
from gnnsync.localization.peers.scaling import MOST_POINTS, check_size, path_lengths, scaled_paths
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
