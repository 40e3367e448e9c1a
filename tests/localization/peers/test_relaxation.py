import numpy as np
import pytest

from gnnsync.errors import GraphError
from gnnsync.localization.peers import Relaxation
from gnnsync.positions import position_ane
from tests.localization.peers.networks import complete_network, disc_network

pytest.importorskip("cvxpy")


def test_exact_distances_give_the_points():
    network = disc_network(15, 8.0)
    rough, found = Relaxation(refined=False)(network), Relaxation()(network)
    assert position_ane(rough.points, network, rough.localizable) < 1e-2
    assert position_ane(found.points, network, found.localizable) < 1e-3


def test_anchors_state_distances_of_their_own():
    # A path of 3 points is flexible; with its ends 5 apart it is a triangle.
    triangle = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    network = complete_network(3).replace(
        pairs=np.array([[0, 1], [1, 2]]),
        distance=np.array([3.0, 4.0]),
        points=triangle,
        anchors=np.array([0, 2]),
        anchor_positions=triangle[[0, 2]],
    )
    found = Relaxation(refined=False)(network).points
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(3.0, abs=1e-2)
    np.testing.assert_allclose(found[[0, 2]], triangle[[0, 2]], atol=1e-2)


def test_large_networks_are_refused_in_one_line():
    with pytest.raises(GraphError, match=r"takes at most 20 connected points.*has 30") as error:
        Relaxation(max_points=20)(disc_network(30))
    assert "\n" not in str(error.value)
