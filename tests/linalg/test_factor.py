"""The sparse factorisation against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.factor import LaplacianFactor


def random_graph(n: int, m: int, seed: int) -> MeasurementGraph:
    """A random multigraph that need not be connected."""
    rng = np.random.default_rng(seed)
    src = rng.integers(0, n, m)
    dst = (src + rng.integers(1, n, m)) % n
    return MeasurementGraph(np.stack([src, dst]), np.zeros(m), n)


def laplacian(graph: MeasurementGraph, weight: np.ndarray) -> np.ndarray:
    """L_w (n, n), dense."""
    incidence = np.zeros((graph.num_edges, graph.num_nodes))
    incidence[np.arange(graph.num_edges), graph.src] = 1.0
    incidence[np.arange(graph.num_edges), graph.dst] = -1.0
    return incidence.T @ (weight[:, None] * incidence)


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 30), extra=st.integers(0, 60), seed=st.integers(0, 1000))
def test_resistance_and_solution_are_those_of_the_pseudoinverse(
    n: int, extra: int, seed: int
) -> None:
    graph = random_graph(n, 1 + extra, seed)
    rng = np.random.default_rng(seed)
    weight, target = rng.uniform(0.1, 5.0, graph.num_edges), rng.normal(size=graph.num_edges)
    factor = LaplacianFactor(graph.edge_index, graph.components, np.ones(graph.num_edges))
    factor.update(weight)
    inverse = np.linalg.pinv(laplacian(graph, weight))
    (s, t) = graph.edge_index
    expected = inverse[s, s] + inverse[t, t] - 2.0 * inverse[s, t]
    np.testing.assert_allclose(factor.resistance(), expected, rtol=1e-8)
    x = factor.least_squares(target)
    right = np.zeros(n)
    np.add.at(right, s, weight * target)
    np.add.at(right, t, -weight * target)
    y = inverse @ right
    np.testing.assert_allclose(x[s] - x[t], y[s] - y[t], atol=1e-8)


def test_bridges_have_the_resistance_of_their_weight() -> None:
    chain = MeasurementGraph([[0, 1, 2], [1, 2, 3]], np.zeros(3), 4)
    factor = LaplacianFactor(chain.edge_index, chain.components, np.array([1.0, 2.0, 4.0]))
    assert factor.resistance() == pytest.approx([1.0, 0.5, 0.25])


def test_edges_of_weight_zero_are_measured_by_the_others() -> None:
    triangle = MeasurementGraph([[0, 1, 0], [1, 2, 2]], np.zeros(3), 3)
    factor = LaplacianFactor(triangle.edge_index, triangle.components, np.array([1.0, 1.0, 0.0]))
    assert factor.resistance()[2] == pytest.approx(2.0)
    assert factor.least_squares(np.array([1.0, 2.0, 50.0])) == pytest.approx([0.0, -1.0, -3.0])


def test_variance_about_the_mean_is_the_diagonal_of_the_pseudoinverse() -> None:
    rng = np.random.default_rng(0)
    chain = np.stack([np.arange(39), np.arange(1, 40)])
    extra = np.stack([rng.integers(0, 20, 15), rng.integers(20, 40, 15)])
    graph = MeasurementGraph(np.concatenate([chain, extra], axis=1), np.zeros(54), 40)
    weight = rng.uniform(0.1, 5.0, 54)
    factor = LaplacianFactor(graph.edge_index, graph.components, weight)
    inverse = np.linalg.pinv(laplacian(graph, weight))
    np.testing.assert_allclose(factor.variance(), np.diag(inverse), rtol=1e-9)
    assert factor.log_determinant() == pytest.approx(
        np.linalg.slogdet(laplacian(graph, weight)[1:, 1:])[1]
    )
