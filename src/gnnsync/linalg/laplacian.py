"""Least squares on the edges of a graph: systems in its weighted Laplacian."""

from __future__ import annotations

import numpy as np

from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.topology import component_labels
from gnnsync.typing import FloatArray

# Relative size of a right-hand side that is rounding only: some hundred times machine epsilon.
_ROUNDING = 1e-13
# Conjugate gradient steps after which a sparse graph is factorised instead. Slow convergence means
# a small spectral gap, hence small separators, hence a sparse factor: long chains, pose graphs.
_PATIENCE = 100
# Graphs that may be factorised: at most this many edges per node, and this many nodes.
_SPARSE_DEGREE, _SPARSE_NODES = 3, 30_000
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

    That is L_w x = Bᵀ W target, with B the incidence matrix; see `laplacian_solve`.

    Args:
        operator: of the graph, n nodes and m edges.
        weight: (m,) w ≥ 0.
        target: (m,).
        tol: relative accuracy of the residual in the preconditioned norm.
        max_iterations: most iterations; 2n if not given.
    """
    n, flow = operator.num_nodes, weight * target
    right = np.zeros(n)
    right += np.bincount(operator.src, weights=flow, minlength=n)
    right -= np.bincount(operator.dst, weights=flow, minlength=n)
    return laplacian_solve(operator, weight, right, tol=tol, max_iterations=max_iterations)


def laplacian_solve(
    operator: EdgeOperator,
    weight: FloatArray,
    right: FloatArray,
    *,
    tol: float = 1e-12,
    max_iterations: int | None = None,
) -> FloatArray:
    """The x (n,) with L_w x = `right` (n,), L_w the weighted Laplacian.

    By conjugate gradients preconditioned with the degrees, in O(m) per iteration, or by a sparse
    factorisation where these converge slowly (see `factorises`). L_w has one null vector per
    component of the weighted graph, to which `right` must be orthogonal; x is orthogonal to it in
    the inner product of the degrees. Nodes without weight stay 0.
    """
    if operator.factor is not None:
        return _factorised(operator, weight, right)
    n = operator.num_nodes
    degree = operator.degree(weight)
    adjacency = operator.adjacency(weight)
    inverse = np.divide(1.0, degree, out=np.zeros(n), where=degree > 0)

    x = np.zeros(n)
    residual = right
    preconditioned = inverse * residual
    direction = preconditioned
    size = float(residual @ preconditioned)
    # The floor is for targets that are themselves rounding errors.
    goal = max(tol**2 * size, _ROUNDING**2 * float(degree.sum()))
    for iteration in range(2 * n if max_iterations is None else max_iterations):
        if size <= goal:
            break
        if iteration == _PATIENCE and _may_factorise(operator):
            return _factorised(operator, weight, right)
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


def factorises(operator: EdgeOperator) -> bool:
    """Whether least squares on the graph are solved by a sparse factorisation.

    Decided by trial: the graph is sparse (at most 3 edges per node, 30,000 nodes) and 100 conjugate
    gradient steps with equal weights do not reach an accuracy of 1e-6.
    """
    if operator.factor is None and _may_factorise(operator):
        ones = np.ones(operator.num_edges)
        least_squares_shift(
            operator, ones, np.cos(operator.offset), tol=1e-6, max_iterations=_PATIENCE + 1
        )
    return operator.factor is not None


def gauss_newton_step(
    operator: EdgeOperator,
    weight: FloatArray,
    residual: FloatArray,
    *,
    max_iterations: int,
    tol: float = 1e-12,
) -> FloatArray:
    r"""Change (n, k) of the angles that reduces the weighted squares of their wrapped residuals.

    .. math:: \min_x \sum_e w_{e,l}\, (r_{e,l} + x_{s,l} - x_{t,l})^2 \quad\text{for each } l,

    every entry limited to one radian either way.

    Args:
        operator: of the graph, m edges.
        weight: (m, k).
        residual: (m, k), wrapped.
        max_iterations: most conjugate gradient steps per column.
        tol: their relative accuracy.
    """
    steps = [
        least_squares_shift(operator, w, -r, max_iterations=max_iterations, tol=tol)
        for w, r in zip(weight.T, residual.T, strict=True)
    ]
    return np.clip(np.stack(steps, axis=1), -_LONGEST_STEP, _LONGEST_STEP)


def _may_factorise(operator: EdgeOperator) -> bool:
    n = operator.num_nodes
    return operator.num_edges <= _SPARSE_DEGREE * n and n <= _SPARSE_NODES


def _factorised(operator: EdgeOperator, weight: FloatArray, right: FloatArray) -> FloatArray:
    """`laplacian_solve` by a factorisation, whose pattern the operator keeps."""
    n, index = operator.num_nodes, np.stack([operator.src, operator.dst])
    if operator.factor is None:
        label = component_labels(index, n).astype(np.int64)
        operator.factor = LaplacianFactor(index, label, weight)
    else:
        operator.factor.update(weight)
    x = operator.factor.solve(right)
    # The factor holds one node of each component of the graph at 0, and parts that no weight joins
    # to it anywhere: each part is moved to mean 0.
    part = component_labels(index[:, weight > 0], n)
    degree = operator.degree(weight)
    total = np.maximum(np.bincount(part, degree), np.finfo(float).tiny)
    x -= (np.bincount(part, degree * x) / total)[part]
    return np.where(degree > 0, x, 0.0)
