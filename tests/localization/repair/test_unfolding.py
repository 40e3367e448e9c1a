import numpy as np

from gnnsync.localization.repair.unfolding import Unfolding
from gnnsync.positions import position_rmse
from gnnsync.rigidity import localizable_points
from tests.distances import disc_network


def folded_network():
    """A map whose left part lies on the right one."""
    network = disc_network(n=120, degree=14.0)
    folded = network.points.copy()
    folded[:, 0] = np.abs(folded[:, 0] - 0.25)
    return network, folded


def test_a_fold_is_taken_out_through_the_third_dimension():
    network, folded = folded_network()
    unfold = Unfolding(network, np.zeros(120, bool))
    good = localizable_points(network.pairs, 120)
    before, flat, lifted = (
        position_rmse(points, network, good)
        for points in (folded, unfold(folded, 0.0, 1), unfold(folded, 1.0, 1, 15))
    )
    assert lifted < 0.3 * before
    assert flat > 0.5 * before


def test_a_plain_map_stays_as_it_is():
    network, _ = folded_network()
    unfold = Unfolding(network, np.zeros(120, bool))
    assert position_rmse(unfold(network.points, 0.0, 0), network) < 0.01


def test_held_points_do_not_move():
    network, folded = folded_network()
    held = np.arange(120) < 3
    found = Unfolding(network, held)(folded, 0.3, 0)
    assert (found[:3] == folded[:3]).all()
