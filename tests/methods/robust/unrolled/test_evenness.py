"""Fits that are the same solution everywhere, and fits that are not."""

import numpy as np
import pytest

from gnnsync.data.outliers import observe
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.methods.robust.unrolled.evenness import dispersion, is_even

NODES = 200


@pytest.fixture
def network():
    """A geometric graph with two groups, and which nodes are in its left half."""
    rng = np.random.default_rng(1)
    points, pairs = rng.random((NODES, 2)), np.stack(np.triu_indices(NODES, 1))
    near = np.linalg.norm(points[pairs[0]] - points[pairs[1]], axis=1) < 0.25
    angles = rng.uniform(0.0, 2 * np.pi, (NODES, 2))
    return observe(pairs[:, near], angles, 0.2, rng=rng, inlier_noise=0.05), points[:, 0] < 0.5


def test_the_truth_is_even(network):
    graph, _ = network
    fit = fit_mixture(graph, graph.angles, move=False)
    assert dispersion(graph, fit) < 1.0
    assert is_even(graph, fit)


def test_halves_that_do_not_fit_together_are_not(network):
    graph, left = network
    turned = graph.angles + np.where(left, 0.0, 2.0)[:, None]
    fit = fit_mixture(graph, turned, move=False)
    assert dispersion(graph, fit) > 1.2
    assert not is_even(graph, fit)


def test_few_edges_cannot_tell(network):
    graph, _ = network
    kept = np.random.default_rng(2).random(graph.num_edges) < 0.3
    sparse = graph.keep_edges(kept)
    assert not is_even(sparse, fit_mixture(sparse, graph.angles, move=False))
