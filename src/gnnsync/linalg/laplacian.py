"""Weighted least squares on the edges of a graph."""

from __future__ import annotations

import numpy as np

from gnnsync.linalg.operator import EdgeOperator
from gnnsync.typing import FloatArray

_ROUNDING = 1e-13


def least_squares_shift(
    operator: EdgeOperator,
    weight: FloatArray,
    target: FloatArray,
    *,
    tol: float = 1e-12,
    max_iterations: int | None = None,
) -> FloatArray:
    """The x (n,) of least Σ_e w_e (x[s] - x[t] - target_e)².

    Solves L_w x = Bᵀ W target, L_w the weighted Laplacian, by conjugate gradients with the degrees
    as preconditioner, in O(m) per iteration. L_w is singular, once per connected component under
    the weights; starting from 0 the iteration stays where it is not. Nodes without weight stay 0.
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
    # The floor stands for targets that are themselves rounding.
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
