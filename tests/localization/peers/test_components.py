import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.localization.peers import MDSMap, Smacof
from gnnsync.localization.peers.components import Placed, locate_components

POINTS = np.array([[0, 0], [4, 0], [4, 3], [0, 3], [9, 9], [12, 9], [9, 13], [20, 20]], float)
PAIRS = np.array([[0, 0, 0, 1, 1, 2, 4, 4, 5], [1, 2, 3, 2, 3, 3, 5, 6, 6]])


def two_components(**fields):
    """A square and a triangle with all distances, and a point with none."""
    true = np.linalg.norm(POINTS[PAIRS[0]] - POINTS[PAIRS[1]], axis=1)
    return DistanceNetwork(PAIRS, true, 8, points=POINTS, **fields)


def test_each_component_is_moved_onto_its_anchors():
    chosen = np.array([0, 1, 2, 4, 7])
    network = two_components(anchors=chosen, anchor_positions=POINTS[chosen])
    found = MDSMap()(network)
    np.testing.assert_allclose(found.points[:5], POINTS[:5], atol=1e-9)
    np.testing.assert_allclose(found.points[7], POINTS[7])
    np.testing.assert_allclose(network.residual(found.points), 0.0, atol=1e-9)
    assert found.localizable.tolist() == [True] * 8


def test_what_a_peer_states_is_empty_or_neutral():
    network = two_components()
    found = Smacof(random_starts=2)(network, seed=4)
    assert np.isnan(found.covariance).all()
    assert found.edge_confidence.tolist() == [1.0] * 9
    np.testing.assert_allclose(network.residual(found.points), 0.0, atol=1e-3)
    again = Smacof(random_starts=2)(network, seed=4)
    np.testing.assert_array_equal(found.points, again.points)


def test_one_component_without_convergence_is_reported():
    def locate(part, rng):
        return Placed(np.zeros((part.num_points, 2)), part.num_points, part.num_points > 3)

    found = locate_components(two_components(), locate, 0)
    assert (found.converged, found.iterations) == (False, 4)
    assert found.stop_reason == "most iterations reached"
