import numpy as np
import pytest

from gnnsync.learn.inductive.polish import polished
from gnnsync.methods.robust.belief.propagation import Posterior
from gnnsync.metrics import angular_mse
from tests.methods.networks import synthetic


def blurred_truth(graph, error=0.3, bins=32, seed=0):
    """Beliefs around angles that are off by some tenths of a radian."""
    rng = np.random.default_rng(seed)
    origin = graph.angles + rng.normal(0, error, graph.angles.shape)
    grid = 2 * np.pi * np.arange(bins) / bins
    marginals = np.exp(np.cos(grid)) * np.ones((*origin.shape, 1))
    marginals /= marginals.sum(axis=2, keepdims=True)
    share = np.full(graph.angles.shape[1], 0.5 / graph.angles.shape[1])
    return Posterior(marginals, origin, share, 0.3, 10)


@pytest.mark.parametrize("k", [1, 2])
def test_exact_inliers_end_exact(k):
    graph = synthetic(0.3, 0.0, k=k, p=0.3)
    found = polished(graph, blurred_truth(graph), np.random.default_rng(0))
    assert angular_mse(found.angles, graph.angles) < 1e-10
    assert found.diagnostics["sigma"] < 1e-3
    assert found.edge_confidence[graph.group >= 0].min() > 0.99


def test_noisy_inliers_end_near_the_least_squares_fit():
    graph = synthetic(0.3, 0.2)
    blurred = blurred_truth(graph)
    found = polished(graph, blurred, np.random.default_rng(0))
    assert angular_mse(found.angles, graph.angles) < 0.1 * angular_mse(blurred.origin, graph.angles)
    assert found.diagnostics["sigma"] == pytest.approx(0.2, rel=0.2)
    assert found.node_confidence.min() > 0.5
