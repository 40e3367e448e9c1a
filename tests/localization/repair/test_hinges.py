import numpy as np

from gnnsync.localization.repair.folds import FoldRepair
from gnnsync.localization.repair.hinges import reflected_parts
from gnnsync.positions import position_rmse
from tests.distances import network_within


def bent(seed=0, n=90):
    """Two strips that meet at a right angle."""
    rng = np.random.default_rng(seed)
    along, across = 3.0 * rng.random(n), 0.4 * rng.random(n)
    first = np.arange(n) % 2 == 0
    points = np.where(
        first[:, None],
        np.column_stack([along, across]),
        np.column_stack([across, along]),
    )
    return network_within(points, radius=0.7)


def test_a_part_is_reflected_at_a_narrow_place():
    network = bent()
    found = reflected_parts(network, network.points, 0.7, np.zeros(90, bool), 20)
    assert found
    for one in found:
        assert (one.points[~one.part] == network.points[~one.part]).all()
        inside = network.keep_edges(one.part[network.pairs].all(axis=0))
        np.testing.assert_allclose(inside.residual(one.points), 0.0, atol=1e-12)
    assert [one.cost for one in found] == sorted(one.cost for one in found)


def test_held_points_stay():
    network = bent()
    assert not reflected_parts(network, network.points, 0.7, np.ones(90, bool), 20)


def test_no_part_of_a_wide_map_is_reflected():
    points = np.random.default_rng(1).random((200, 2))
    network = network_within(points, radius=0.2)
    assert not reflected_parts(network, points, 0.2, np.zeros(200, bool), 20)


def test_a_reflected_leg_is_found():
    network = bent()
    wrong = reflected_parts(network, network.points, 0.7, np.zeros(90, bool), 1)[0].points
    search = {"landmarks": 0, "lifts": ()}
    assert position_rmse(FoldRepair(reflections=0, **search)(network, [wrong]), network) > 0.1
    assert position_rmse(FoldRepair(**search)(network, [wrong]), network) < 1e-6
