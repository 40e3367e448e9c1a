"""Confidence across parts of a graph that few edges join."""

from __future__ import annotations

import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.methods.robust.confidence.clusters import find_blocks, find_clusters
from gnnsync.methods.robust.confidence.parts import confidence_of_parts
from gnnsync.methods.robust.noise.mixture import fit_mixture


def cliques_with_tail(eta: float, tail: int, seed: int = 0) -> MeasurementGraph:
    """A clique of 60 nodes with a share η of outliers, and a path of inliers that hangs on it."""
    rng = np.random.default_rng(seed)
    size = 60
    pairs = [(i, j) for i in range(size) for j in range(i)]
    path = [(size + i, size + i - 1 if i else 0) for i in range(tail)]
    index = np.array(pairs + path).T
    angles = rng.uniform(0, 2 * np.pi, size + tail)
    offset = angles[index[0]] - angles[index[1]] + 0.02 * rng.standard_normal(index.shape[1])
    wrong = rng.random(index.shape[1]) < eta
    wrong[len(pairs) :] = False
    offset[wrong] = rng.uniform(0, 2 * np.pi, wrong.sum())
    return MeasurementGraph(index, offset, size + tail, angles=angles)


def test_nodes_on_a_path_of_unchecked_edges_are_right_if_all_of_these_are() -> None:
    eta, tail = 0.2, 4
    graph = cliques_with_tail(eta, tail)
    confidence = gnnsync.solve(graph, "gnc").node_confidence
    assert confidence is not None
    assert confidence[:60].min() > 0.99
    expected = (1 - eta) ** np.arange(1, tail + 1)
    np.testing.assert_allclose(confidence[60:], expected, atol=0.08)
    trusted = np.arange(graph.num_edges) >= 60 * 59 // 2
    sure = gnnsync.solve(graph.replace(trusted=trusted), "gnc").node_confidence
    assert sure is not None
    assert sure.min() > 0.99


def two_cliques(links: int) -> MeasurementGraph:
    """Two exact cliques of 12 nodes with `links` exact edges between them."""
    pairs = [(i, j) for i in range(12) for j in range(i)]
    pairs += [(12 + i, 12 + j) for i, j in pairs] + [(i, 12 + i) for i in range(links)]
    index = np.array(pairs).T
    angles = np.random.default_rng(3).uniform(0, 2 * np.pi, 24)
    return MeasurementGraph(index, angles[index[0]] - angles[index[1]], 24, angles=angles)


@pytest.mark.parametrize(("links", "blocks", "clusters"), [(1, 2, 2), (2, 1, 2), (4, 1, 1)])
def test_clusters_are_divided_where_few_edges_join_them(links, blocks, clusters) -> None:
    graph = two_cliques(links)
    fit = fit_mixture(graph, graph.angles)
    assert find_blocks(graph).max() + 1 == blocks
    assert find_clusters(graph, fit).max() + 1 == clusters


def test_two_links_that_disagree_leave_the_rotation_in_doubt() -> None:
    graph = two_cliques(2)
    offset = graph.offset.copy()
    offset[-1] += 1.5
    doubtful = graph.replace(offset=offset)
    rng = np.random.default_rng(0)
    for which, low, high in ((graph, 0.9, 1.0), (doubtful, 0.3, 0.7)):
        fit = fit_mixture(which, graph.angles)
        right = confidence_of_parts(which, fit, rng)
        assert low < right.min() <= right.max() <= high
