import numpy as np
import pytest

from gnnsync.localization.fitting.fit import fit_points
from gnnsync.localization.fitting.reach import ReachLaw, missing_pairs
from gnnsync.position_limits import multiplicative_deviation, position_bound
from gnnsync.positions import position_rmse
from tests.distances import disc_network


def drawn(law, seed=0, size=20000):
    rng = np.random.default_rng(seed)
    length = 2.0 * np.sqrt(rng.random(size))
    chance = law.ceiling / (1.0 + np.exp((length - law.reach) / law.width))
    measured = rng.random(size) < chance
    return length[measured], length[~measured]


@pytest.mark.parametrize("true", [ReachLaw(1.0, 0.1, 0.9), ReachLaw(1.2, 0.03, 0.6)])
def test_the_law_is_found(true):
    measured, missing = drawn(true)
    first = ReachLaw.first(measured)
    found = first.fitted(measured, missing[missing < first.farthest], 0.0)
    assert abs(found.reach / true.reach - 1.0) < 0.02
    assert abs(found.width / true.width - 1.0) < 0.2
    assert abs(found.ceiling - true.ceiling) < 0.02


def test_pairs_drawn_at_random_tell_nothing():
    rng = np.random.default_rng(0)
    length = 1.5 * np.sqrt(rng.random(20000))
    measured = rng.random(20000) < 0.4
    law = ReachLaw.first(length[measured]).fitted(length[measured], length[~measured], 0.0)
    inside = np.array([0.2, 0.5, 0.8])
    for energy in (law.measured_energy(inside), law.missing_energy(inside)):
        assert np.abs(energy.slope).max() < 0.2


def test_slopes_and_curvatures_are_derivatives():
    law, step = ReachLaw(1.0, 0.1, 0.8), 1e-6
    length = np.linspace(0.5, 1.5, 11)
    for energy in (law.measured_energy, law.missing_energy):
        up, here, down = (energy(length + s * step) for s in (1.0, 0.0, -1.0))
        slope, curvature = ((up.value - down.value), (up.slope - down.slope))
        np.testing.assert_allclose(here.slope, slope / (2 * step), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(here.curvature, curvature / (2 * step), rtol=1e-5, atol=1e-6)


def test_missing_pairs_are_near_and_without_a_distance():
    network = disc_network(n=80)
    found = missing_pairs(network, network.points, np.ones(80, bool), 0.3)
    measured = set(map(tuple, np.sort(network.pairs, axis=0).T.tolist()))
    near = {
        (i, j)
        for i in range(80)
        for j in range(i + 1, 80)
        if np.hypot(*(network.points[i] - network.points[j])) <= 0.3
    }
    assert set(map(tuple, found.T.tolist())) == near - measured


def test_the_map_is_better_than_the_bound_of_the_distances_alone():
    ratios = []
    for seed in range(4):
        network = disc_network(n=150, degree=13.0, eta=0.3, seed=seed)
        fit = fit_points(network, network.points, np.zeros(150, bool), 200, 1e-6, shaped=True)
        bound = position_bound(network, None, multiplicative_deviation(network.distance, 0.3))
        ratios.append(position_rmse(fit.points, network, bound.scored) / bound.rmse())
    assert np.mean(ratios) < 0.8
