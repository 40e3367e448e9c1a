"""Weighted least squares on edges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gnnsync import MeasurementGraph
from gnnsync.linalg.laplacian import factorises, gauss_newton_step, least_squares_shift
from gnnsync.linalg.operator import EdgeOperator


@given(st.integers(0, 10_000))
def test_least_squares_agree_with_the_pseudoinverse(seed):
    rng = np.random.default_rng(seed)
    n, m = 8, 14
    src = rng.integers(n, size=m)
    dst = (src + rng.integers(1, n, size=m)) % n
    operator = EdgeOperator(MeasurementGraph(np.stack([src, dst]), np.zeros(m), n))
    weight = rng.uniform(0.1, 1, m) * (rng.random(m) < 0.7)
    target = rng.standard_normal(m)
    incidence = np.zeros((m, n))
    incidence[np.arange(m), src], incidence[np.arange(m), dst] = 1.0, -1.0
    root = np.sqrt(weight)
    best = np.linalg.lstsq(root[:, None] * incidence, root * target, rcond=None)[0]
    found = least_squares_shift(operator, weight, target)
    np.testing.assert_allclose(root * (incidence @ (found - best)), 0, atol=1e-6)


def test_gauss_newton_step_solves_every_column_and_limits_it():
    """A path 0-1-2: column 0 asks for 0.2 per edge, column 1 for far more than a radian."""
    graph = MeasurementGraph(np.array([[0, 1], [1, 2]]), np.zeros(2), 3)
    residual = np.array([[-0.2, -3.0], [-0.2, -3.0]])
    step = gauss_newton_step(EdgeOperator(graph), np.ones((2, 2)), residual, max_iterations=50)
    np.testing.assert_allclose(step[:, 0], [0.2, 0.0, -0.2], atol=1e-9)
    np.testing.assert_allclose(step[:, 1], [1.0, 0.0, -1.0], atol=1e-9)


def _chain(n=2000, closures=20):
    """A path of n nodes with a few further edges, as in a pose graph."""
    rng = np.random.default_rng(0)
    path = np.stack([np.arange(n - 1), np.arange(1, n)])
    index = np.concatenate([path, rng.choice(n, (2, closures), replace=False)], axis=1)
    return MeasurementGraph(index, rng.uniform(0, 6, index.shape[1]), n)


def test_long_chains_are_factorised():
    graph = _chain()
    operator = EdgeOperator(graph)
    rng = np.random.default_rng(1)
    truth = rng.standard_normal(graph.num_nodes)
    weight = rng.uniform(0.1, 1, graph.num_edges)
    found = least_squares_shift(operator, weight, truth[graph.src] - truth[graph.dst])
    assert operator.factor is not None
    np.testing.assert_allclose(np.ptp(found - truth), 0, atol=1e-8)


def test_parts_without_weight_between_them_keep_their_rotation():
    graph = _chain()
    operator = EdgeOperator(graph)
    weight = np.ones(graph.num_edges)
    assert factorises(operator)
    weight[[700, *range(graph.num_nodes - 1, graph.num_edges)]] = 0.0
    target = np.random.default_rng(2).standard_normal(graph.num_edges)
    found = least_squares_shift(operator, weight, target)
    degree = operator.degree(weight)
    for part in (slice(0, 701), slice(701, None)):
        assert abs((degree * found)[part].sum()) < 1e-6
    inner = weight > 0
    np.testing.assert_allclose((found[graph.src] - found[graph.dst])[inner], target[inner])


def test_expanders_are_not_factorised():
    rng = np.random.default_rng(0)
    n = 2000
    index = np.concatenate([np.stack([np.arange(n), rng.permutation(n)]) for _ in range(3)], axis=1)
    index = index[:, index[0] != index[1]]
    assert not factorises(EdgeOperator(MeasurementGraph(index, np.ones(index.shape[1]), n)))
