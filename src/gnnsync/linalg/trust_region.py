"""Maximisation of Re⟨Y, HY⟩ over matrices with unit rows: a Riemannian trust-region method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.typing import ComplexArray, FloatArray
from gnnsync.work import advance_towards, time_is_up

# Ratio of actual to predicted gain: at most _ACCEPT rejects the step, below _SHRINK the radius is
# multiplied by _SHRINK_FACTOR, above _GROW (at the boundary) by _GROW_FACTOR. Values of Absil,
# Baker and Gallivan (2007).
_ACCEPT, _SHRINK, _GROW = 0.1, 0.25, 0.75
_SHRINK_FACTOR, _GROW_FACTOR = 0.25, 2
# First radius as a part of the largest, √n, the norm of a matrix with unit rows.
_FIRST_RADIUS = 1 / 8
# A step this close to the radius counts as being at the boundary.
_AT_BOUNDARY = 0.9
# Differences of the objective below this many machine epsilons of its size are rounding.
_ROUNDING_UNITS = 1e3
# Most conjugate gradient steps per trust-region step.
_INNER_ITERATIONS = 200
# Conjugate gradients stop at |r| ≤ |r₀|·min(|r₀|, this): superlinear convergence near the end.
_FORCING = 0.1
# The preconditioner's diagonal is kept above this part of its largest entry.
_LEAST_DIAGONAL = 1e-3


@dataclass(frozen=True, eq=False)
class Stationary:
    """The point where the ascent stopped.

    Args:
        rows: Y (n, r).
        gradient: max_i ‖(SY)_i‖.
        iterations: trust-region steps taken.
        converged: whether the gradient is below the tolerance.
    """

    rows: ComplexArray
    gradient: float
    iterations: int
    converged: bool


def maximise_unit_rows(
    matrix: sp.csr_array, rows: ComplexArray, *, tol: float, max_iterations: int
) -> Stationary:
    r"""Local maximum of :math:`f(Y) = \mathrm{Re}\langle Y, HY\rangle` over Y (n, r), ‖y_i‖ = 1.

    With S = diag(Re⟨y_i, (HY)_i⟩) - H the gradient is -2SY and the Hessian along a tangent U is
    the tangent part of -2SU (Boumal, Voroninski and Bandeira 2016). Steps solve the trust-region
    model by truncated conjugate gradients (Absil, Baker and Gallivan 2007), preconditioned by the
    diagonal of S.

    Args:
        matrix: H (n, n).
        rows: Y (n, r).
        tol: stop when every row of SY has norm at most this.
        max_iterations: most trust-region steps.
    """
    n = matrix.shape[0]
    largest_radius = np.sqrt(n)
    radius = _FIRST_RADIUS * largest_radius
    image, first = matrix @ rows, 0.0
    for iteration in range(max_iterations + 1):
        diagonal = _inner(rows, image)
        gradient = diagonal[:, None] * rows - image  # of -f/2: descent below
        steepest = float(np.linalg.norm(gradient, axis=1).max())
        first = max(first, steepest)
        advance_towards(tol, first, steepest)
        if steepest <= tol or iteration == max_iterations or time_is_up():
            break
        step, model = _truncated_cg(matrix, rows, diagonal, gradient, radius)
        candidate = rows + step
        candidate /= np.linalg.norm(candidate, axis=1, keepdims=True)
        candidate_image = matrix @ candidate
        gain = 0.5 * float((_inner(candidate, candidate_image) - diagonal).sum())
        # Near the optimum both are rounding; the regularised ratio then accepts.
        noise = _ROUNDING_UNITS * np.finfo(float).eps * abs(float(diagonal.sum()))
        ratio = (gain + noise) / (model + noise)
        if ratio < _SHRINK:
            radius *= _SHRINK_FACTOR
        elif ratio > _GROW and np.linalg.norm(step) > _AT_BOUNDARY * radius:
            radius = min(_GROW_FACTOR * radius, largest_radius)
        if ratio > _ACCEPT:
            rows, image = candidate, candidate_image
    return Stationary(rows, steepest, iteration, steepest <= tol)


def _truncated_cg(
    matrix: sp.csr_array,
    rows: ComplexArray,
    diagonal: FloatArray,
    gradient: ComplexArray,
    radius: float,
) -> tuple[ComplexArray, float]:
    """A tangent step within the radius, and the gain its quadratic model predicts."""
    magnitude = np.abs(diagonal)
    scale = 1.0 / np.maximum(magnitude, _LEAST_DIAGONAL * magnitude.max())[:, None]
    step, image = np.zeros_like(rows), np.zeros_like(rows)
    residual = gradient.copy()
    start = float(np.linalg.norm(residual))
    conditioned = scale * residual
    direction = -conditioned
    size = _dot(residual, conditioned)
    for number in range(_INNER_ITERATIONS):
        if number and time_is_up():
            break
        curved = _tangent(rows, diagonal[:, None] * direction - matrix @ direction)
        curvature = _dot(direction, curved)
        length = size / curvature if curvature > 0 else np.inf
        if curvature <= 0 or np.linalg.norm(step + length * direction) >= radius:
            length = _to_boundary(step, direction, radius)
            step, image = step + length * direction, image + length * curved
            break
        step, image = step + length * direction, image + length * curved
        residual = residual + length * curved
        if np.linalg.norm(residual) <= start * min(start, _FORCING):
            break
        conditioned = _tangent(rows, scale * residual)
        size, previous = _dot(residual, conditioned), size
        direction = -conditioned + (size / previous) * direction
    return step, -_dot(gradient, step) - 0.5 * _dot(step, image)


def _to_boundary(step: ComplexArray, direction: ComplexArray, radius: float) -> float:
    """The t ≥ 0 with ‖step + t·direction‖ = radius."""
    a, b, c = _dot(direction, direction), _dot(step, direction), _dot(step, step) - radius**2
    return (-b + np.sqrt(max(b * b - a * c, 0.0))) / a


def _tangent(rows: ComplexArray, ambient: ComplexArray) -> ComplexArray:
    return ambient - _inner(rows, ambient)[:, None] * rows


def _inner(a: ComplexArray, b: ComplexArray) -> FloatArray:
    return (a.real * b.real + a.imag * b.imag).sum(axis=1)


def _dot(a: ComplexArray, b: ComplexArray) -> float:
    return float(np.vdot(a, b).real)
