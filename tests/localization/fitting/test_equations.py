import numpy as np

from gnnsync.localization.fitting.equations import PairEnergy, PairEquations
from tests.distances import complete_network


def springs(distance):
    """Energy (l - d)² / 2 of each pair."""

    def energy(length):
        ones = np.ones_like(length)
        residual = length - distance
        return PairEnergy(0.5 * residual**2, residual, ones, ones)

    return energy


def solved(network, start, free=None, steps=30, **options):
    free = np.ones(network.num_points, bool) if free is None else free
    equations = PairEquations(network.pairs, free, start.shape[1])
    for _ in range(steps):
        start, _ = equations.step(start, springs(network.distance), **options)
    return start


SQUARE = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [1.0, 3.0]]


def test_steps_find_the_distances():
    network = complete_network(SQUARE)
    start = np.array(SQUARE) + 0.2 * np.random.default_rng(0).standard_normal((5, 2))
    assert np.abs(network.residual(solved(network, start))).max() < 1e-12


def test_each_step_lowers_the_energy():
    network = complete_network(SQUARE)
    energy = springs(network.distance)
    place = np.random.default_rng(1).standard_normal((5, 2))
    equations = PairEquations(network.pairs, np.ones(5, bool))
    values = []
    for _ in range(10):
        values.append(energy(network.residual(place) + network.distance).value.sum())
        place, _ = equations.step(place, energy)
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < values[0]


def test_points_that_are_not_free_stay():
    network = complete_network(SQUARE)
    free = np.array([False, False, True, True, True])
    start = np.array(SQUARE)
    start[2:] += 0.1
    found = solved(network, start, free)
    assert (found[:2] == start[:2]).all()
    np.testing.assert_allclose(found, SQUARE, atol=1e-9)


def test_a_spring_flattens_the_last_coordinate():
    network = complete_network(SQUARE)
    start = np.column_stack([SQUARE, 0.1 * np.ones(5)])
    start[0, 2] = -0.3
    assert np.abs(solved(network, start, spring=1.0)[:, 2]).max() < 1e-6
