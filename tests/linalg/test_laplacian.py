"""Weighted least squares on edges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gnnsync import MeasurementGraph
from gnnsync.linalg.laplacian import gauss_newton_step, least_squares_shift
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
