from dataclasses import replace

import numpy as np
import pytest

from gnnsync.angles import wrap
from gnnsync.learn.inductive.polish import polished
from gnnsync.methods.robust.belief.propagation import Posterior
from gnnsync.methods.robust.noise.local_search import local_search
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


def test_nodes_whose_belief_is_narrow_and_agrees_keep_the_fitted_angle():
    graph = synthetic(0.5, 0.2)
    fit = local_search(graph, graph.angles)
    found = replace(blurred_truth(graph), origin=fit.angles)
    narrow = np.zeros_like(found.marginals)
    narrow[..., 0] = 1.0
    sure = np.arange(len(narrow)) % 2 == 0
    half = replace(found, marginals=np.where(sure[:, None, None], narrow, found.marginals))
    angles = polished(graph, half, np.random.default_rng(0)).angles
    change = np.abs(wrap(angles - fit.angles))[:, 0]
    assert change[sure].max() < 1e-4  # the fit again, to the tolerance of EM
    assert np.median(change[~sure]) > 2e-4


@pytest.mark.parametrize(("k", "eta"), [(1, 0.5), (2, 0.0)])
def test_closed_cycles_are_a_second_start_where_beliefs_are_wrong(k, eta):
    """Beliefs around random angles: only exact cycles lead to the truth."""
    graph = synthetic(eta, 0.0, k=k, p=0.3)
    lost = blurred_truth(graph, error=100.0)
    found = polished(graph, lost, np.random.default_rng(0))
    assert angular_mse(found.angles, graph.angles) < 1e-6


def test_noise_leaves_no_second_start():
    graph = synthetic(0.85, 0.2, p=0.15)
    found = polished(graph, blurred_truth(graph, error=100.0), np.random.default_rng(0))
    assert found.stop_reason == "the network, then EM"
    assert found.node_confidence.mean() < 0.5
