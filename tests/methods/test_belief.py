"""Belief propagation on the circle."""

import numpy as np
import pytest

from gnnsync.angles import wrap
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import ParameterError
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.belief import Belief, propagate
from gnnsync.methods.robust.belief.messages import Messages, point_estimates
from gnnsync.methods.spectral import SpectralRN
from gnnsync.metrics import aligned_error, angular_mse


def network(eta, sigma=0.0, k=1, n=150, p=0.2, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(erdos_renyi(n, p, seed), angles, eta, rng=rng, inlier_noise=sigma)


@pytest.mark.parametrize("weighted", [False, True])
def test_messages_on_a_tree_are_exact(weighted):
    """On a path of three nodes the marginals follow by summing over the bins."""
    weight = np.array([1.0, 4.0]) if weighted else None
    graph = MeasurementGraph([[0, 2], [1, 1]], [0.7, 5.9], 3, weight=weight)
    bins, sigma, share = 64, 0.4, np.array([0.6])
    messages = Messages(graph, np.zeros((3, 1)), share, sigma, bins)
    grid = 2 * np.pi * np.arange(bins) / bins
    prior = 1.0 + 0.8 * np.cos(grid - 1.0)
    messages.start(np.zeros((3, 1)))
    messages.set_prior([prior])
    for _ in range(60):
        messages.sweep()

    def factor(offset, scale):
        delta = grid[:, None] - grid[None, :] - offset
        wrapped = sum(np.exp(-0.5 * ((delta + 2 * np.pi * t) / scale) ** 2) for t in range(-4, 5))
        return 0.4 / (2 * np.pi) + 0.6 * wrapped / (scale * np.sqrt(2 * np.pi))

    scales = sigma / np.sqrt(weight / weight.mean()) if weighted else np.full(2, sigma)
    joint = np.einsum(
        "a,b,c,ab,cb->abc", prior, prior, prior, factor(0.7, scales[0]), factor(5.9, scales[1])
    )
    joint /= joint.sum()
    expected = [joint.sum(axis=(1, 2)), joint.sum(axis=(0, 2)), joint.sum(axis=(0, 1))]
    assert np.abs(messages.marginals()[:, 0] - expected).max() < 1e-5


def test_refining_bins_keeps_the_estimate():
    graph = network(0.3, 0.2)
    start = SpectralRN()(graph).angles
    messages = Messages(graph, start, np.array([0.6]), 0.3, 32)
    messages.start(np.full(start.shape, 2.0))
    for _ in range(10):
        messages.sweep()
    before = point_estimates(messages.marginals(), start)[1]
    messages.refine_bins()
    after = point_estimates(messages.marginals(), start)[1]
    assert np.abs(wrap(after - before)).max() < 0.1


def test_noise_is_learned():
    graph = network(0.5, 0.25)
    posterior = propagate(graph, SpectralRN()(graph).angles)
    assert 1 - posterior.share.sum() == pytest.approx(0.5, abs=0.05)
    assert posterior.sigma == pytest.approx(0.25, rel=0.2)


def test_posterior_mass_is_calibrated_where_it_is_high():
    graph = network(0.7, 0.1, n=200)
    posterior = propagate(graph, SpectralRN()(graph).angles)
    angles = point_estimates(posterior.marginals, posterior.origin)[0]
    sure = posterior.mass_near(angles, 0.5) > 0.95
    assert sure.mean() > 0.8
    assert (aligned_error(angles, graph.angles)[sure] < 0.5).mean() > 0.93


def test_beats_the_spectral_start():
    graph = network(0.7, n=200)
    spectral = angular_mse(SpectralRN()(graph).angles, graph.angles)
    assert spectral > 0.3
    assert angular_mse(Belief()(graph).angles, graph.angles) < 0.1 * spectral


def test_two_sets():
    graph = network(0.1, 0.05, k=2, p=0.3)
    assert angular_mse(Belief()(graph, 2).angles, graph.angles) < 0.01


@pytest.mark.parametrize(("name", "value"), [("bins", 8), ("sweeps", 0), ("tol", 0.0)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=name):
        Belief(**{name: value})
