"""Samples of the angles of graphs with few cycles."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.methods.robust.sparse.posterior import (
    MOST_JUNCTIONS,
    sample_angles,
    small_kernel,
    sparse_kernel,
)


def ring(n: int, sigma: float, seed: int = 0) -> MeasurementGraph:
    """A cycle of n nodes, with a tail of one node at node 0."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n + 1)
    src, dst = np.append(np.arange(n), n), np.append(np.roll(np.arange(n), -1), 0)
    offset = angles[src] - angles[dst] + sigma * rng.standard_normal(n + 1)
    return MeasurementGraph(np.stack([src, dst]), offset, n + 1, angles=angles)


def test_trees_and_large_graphs_are_not_sampled() -> None:
    tree = MeasurementGraph([[0, 1], [1, 2]], [0.0, 0.1], 3)
    assert sparse_kernel(tree) is None
    assert small_kernel(tree) is not None
    n = MOST_JUNCTIONS + 2
    every = np.array([(i, j) for i in range(n) for j in range(i)]).T
    assert sparse_kernel(MeasurementGraph(every, np.zeros(every.shape[1]), n)) is None


def test_deviation_on_a_ring_is_that_of_error_propagation() -> None:
    n, sigma = 8, 0.02
    graph = ring(n, sigma)
    kernel = sparse_kernel(graph)
    assert kernel is not None
    found = sample_angles(graph, kernel, np.random.default_rng(1), sigma=sigma, seen=(0.0, 1e6))
    deviation = found.deviation(graph.angles[:, 0])
    # Pseudo-inverse of the Laplacian: exact.
    laplacian = np.zeros((n + 1, n + 1))
    for s, t in graph.edge_index.T:
        laplacian[[s, t], [s, t]] += 1.0
        laplacian[[s, t], [t, s]] -= 1.0
    fitted = found.candidates[0]
    about = found.deviation(fitted)
    expected = sigma * np.sqrt(np.linalg.pinv(laplacian).diagonal())
    np.testing.assert_allclose(about, expected, rtol=0.2)
    assert (deviation > 0.5 * expected).all()
    assert np.isnan(found.edge_confidence).tolist() == [False] * n + [True]


def test_a_tail_is_as_sure_as_outliers_are_rare() -> None:
    graph = ring(6, 0.002)
    kernel = sparse_kernel(graph)
    assert kernel is not None
    rng = np.random.default_rng(0)
    found = sample_angles(graph, kernel, rng, seen=(100.0, 300.0), sigma=0.002)
    # The ring closes, so that its edges are inliers; one of four edges elsewhere is not.
    assert found.right(graph.angles[:, 0])[:6].min() > 0.9
    assert found.right(graph.angles[:, 0])[6] == pytest.approx(0.75, abs=0.1)


def test_the_better_of_two_estimates_is_chosen() -> None:
    graph = ring(20, 0.01)
    kernel = sparse_kernel(graph)
    assert kernel is not None
    found = sample_angles(graph, kernel, np.random.default_rng(0))
    truth = graph.angles[:, 0]
    turned = truth + np.where(np.arange(21) < 9, 1.0, 0.0)
    assert found.best(truth, 0.01) is truth
    error = wrap(found.best(turned, 0.01) - truth)
    assert np.abs(wrap(error - error[3])).max() < 0.2
