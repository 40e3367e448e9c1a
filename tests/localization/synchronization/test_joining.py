import numpy as np

from gnnsync.localization.synchronization.joining import join_bodies
from gnnsync.positions import position_rmse
from tests.distances import disc_network


def halves(network):
    """Two bodies without common points, the smaller one reflected and turned."""
    left = np.flatnonzero(network.points[:, 0] < 0.6)
    right = np.flatnonzero(network.points[:, 0] >= 0.6)
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    return [(left, network.points[left]), (right, network.points[right] @ turn.T + 3.0)]


def test_bodies_are_joined_by_their_distances():
    network = disc_network(n=100, degree=12.0)
    found = join_bodies(network, halves(network))
    assert position_rmse(found, network) < 1e-3


def test_points_in_no_body_follow():
    network = disc_network(n=100, degree=14.0)
    left = halves(network)[:1]
    left = [(left[0][0], left[0][1])]
    found = join_bodies(network, left)
    assert np.isfinite(found).all()
    assert position_rmse(found, network) < 0.05


def test_without_bodies_every_point_has_a_place():
    network = disc_network(n=20, degree=4.0)
    assert np.isfinite(join_bodies(network, [])).all()
