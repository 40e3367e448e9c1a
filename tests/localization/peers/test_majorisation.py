import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.localization.peers.majorisation import Majorisation
from tests.localization.peers.networks import disc_network


@pytest.mark.parametrize("weights", ["equal", "relative", "stated"])
def test_the_stress_never_rises_and_its_gradient_vanishes(weights):
    network = disc_network(25, eta=0.1)
    network = network.replace(deviation=np.linspace(0.5, 2.0, network.num_edges))
    start = network.points + 0.1 * np.random.default_rng(1).standard_normal((25, 2))
    weight = Majorisation(weights).edge_weights(network)
    before = np.inf
    for steps in (1, 2, 3, 2000):
        fits = Majorisation(weights, max_iterations=steps, tolerance=1e-15)(network, start[None])
        points = fits.points[0]
        assert fits.stress[0] == pytest.approx(np.sum(weight * network.residual(points) ** 2))
        assert fits.stress[0] < before
        before = fits.stress[0]
    i, j = network.pairs
    step = points[i] - points[j]
    pull = (weight * network.residual(points) / np.linalg.norm(step, axis=1))[:, None] * step
    gradient = np.zeros_like(points)
    np.add.at(gradient, i, pull)
    np.add.at(gradient, j, -pull)
    assert np.abs(gradient).max() < 1e-5 * np.abs(weight).max()


def test_starts_together_end_where_each_ends_alone():
    network, steps = disc_network(20), Majorisation(max_iterations=50)
    starts = np.random.default_rng(0).random((3, 20, 2))
    together = steps(network, starts)
    for k, start in enumerate(starts):
        alone = steps(network, start[None])
        np.testing.assert_allclose(alone.points[0], together.points[k], atol=1e-12)
        assert alone.iterations[0] == together.iterations[k]
    assert together.best == np.argmin(together.stress)


def test_coinciding_points_of_a_start_stay_finite():
    network = disc_network(10, 6.0)
    assert np.isfinite(Majorisation()(network, np.zeros((1, 10, 2))).points).all()


def test_unknown_weights_and_missing_deviations():
    with pytest.raises(ParameterError, match="equal, relative, stated"):
        Majorisation("own")
    with pytest.raises(ParameterError, match="no deviations stated"):
        Majorisation("stated").edge_weights(disc_network())
