"""Least squares on the edges of a graph: systems in its weighted Laplacian."""

from __future__ import annotations

import numpy as np

from gnnsync.linalg.operator import EdgeOperator
from gnnsync.typing import FloatArray

# Relative size of a right-hand side that is rounding only: some hundred times machine epsilon.
_ROUNDING = 1e-13
# Longest step of `gauss_newton_step` in radians. A nearly detached part of the graph can be moved
# by many turns; in portions of a radian the residuals are wrapped again in between.
_LONGEST_STEP = 1.0


def least_squares_shift(
    operator: EdgeOperator,
    weight: FloatArray,
    target: FloatArray,
    *,
    tol: float = 1e-12,
    max_iterations: int | None = None,
) -> FloatArray:
    """The x (n,) that minimises Σ_e w_e (x[s] - x[t] - target_e)².

    Solves L_w x = Bᵀ W target, with L_w the weighted Laplacian and B the incidence matrix, by
    conjugate gradients preconditioned with the degrees, in O(m) per iteration. L_w has one null
    vector per component of the weighted graph; started from 0 the iteration stays in its range.
    Nodes without weight stay 0.

    Args:
        operator: of the graph, n nodes and m edges.
        weight: (m,) w ≥ 0.
        target: (m,).
        tol: relative accuracy of the residual in the preconditioned norm.
        max_iterations: most iterations; 2n if not given.
    """
    n = operator.num_nodes
    degree = operator.degree(weight)
    adjacency = operator.adjacency(weight)
    inverse = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0)
    flow = weight * target
    right = np.bincount(operator.src, weights=flow, minlength=n)
    right -= np.bincount(operator.dst, weights=flow, minlength=n)

    x = np.zeros(n)
    residual = right
    preconditioned = inverse * residual
    direction = preconditioned
    size = float(residual @ preconditioned)
    # The floor is for targets that are themselves rounding errors.
    goal = max(tol**2 * size, _ROUNDING**2 * float(degree.sum()))
    for _ in range(2 * n if max_iterations is None else max_iterations):
        if size <= goal:
            break
        image = degree * direction - adjacency @ direction
        curvature = float(direction @ image)
        if curvature <= 0.0:  # rounding only: the Laplacian is positive semidefinite
            break
        step = size / curvature
        x = x + step * direction
        residual = residual - step * image
        preconditioned = inverse * residual
        size, previous = float(residual @ preconditioned), size
        direction = preconditioned + (size / previous) * direction
    return x


def gauss_newton_step(
    operator: EdgeOperator, weight: FloatArray, residual: FloatArray, *, max_iterations: int
) -> FloatArray:
    r"""Change (n, k) of the angles that reduces the weighted squares of their wrapped residuals.

    .. math:: \min_x \sum_e w_{e,l}\, (r_{e,l} + x_{s,l} - x_{t,l})^2 \quad\text{for each } l,

    every entry limited to one radian either way.

    Args:
        operator: of the graph, m edges.
        weight: (m, k).
        residual: (m, k), wrapped.
        max_iterations: most conjugate gradient steps per column.
    """
    steps = [
        least_squares_shift(operator, w, -r, max_iterations=max_iterations)
        for w, r in zip(weight.T, residual.T, strict=True)
    ]
    return np.clip(np.stack(steps, axis=1), -_LONGEST_STEP, _LONGEST_STEP)
