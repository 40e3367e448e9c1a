"""Arithmetic on the circle: reduction, distance, mean, alignment up to a global rotation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from gnnsync.typing import FloatArray, IntArray

TWO_PI = 2.0 * np.pi
_BELOW_PI = np.nextafter(np.pi, 0.0)
# A sum of unit vectors below this fraction of their total length is rounding error.
_CANCELLED = 1e-12


def reduce_angle(angle: ArrayLike) -> FloatArray:
    """Reduce to [0, 2π). `np.mod` alone can return 2π itself for tiny negative numbers."""
    reduced = np.mod(np.asarray(angle, dtype=np.float64), TWO_PI)
    return np.where(reduced >= TWO_PI, 0.0, reduced)


def wrap(angle: ArrayLike) -> FloatArray:
    """Reduce to [-π, π): the signed angle of smallest magnitude.

    x - 2π·floor(x / 2π + 1/2), a quarter of the time of `np.mod`. The floor can be off by one
    beside the cut, by rounding, and the product is meaningless where floats are more than a turn
    apart: both are clipped to the range. Angles of (-π, π) return as they are.
    """
    x = np.asarray(angle, dtype=np.float64)
    wrapped = x - TWO_PI * np.floor(x / TWO_PI + 0.5)
    return np.minimum(np.maximum(wrapped, -np.pi), _BELOW_PI)


def circular_distance(a: ArrayLike, b: ArrayLike) -> FloatArray:
    """Geodesic distance min((a-b) mod 2π, (b-a) mod 2π), in [0, π]."""
    return np.abs(wrap(np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)))


def circular_mean(
    angle: ArrayLike, weight: ArrayLike | None = None, axis: int | None = None
) -> FloatArray:
    """Direction of Σ w·exp(i·angle), in [0, 2π); 0 where that sum vanishes."""
    phase = np.exp(1j * np.asarray(angle, dtype=np.float64))
    if weight is not None:
        phase = phase * np.asarray(weight, dtype=np.float64)
    total = phase.sum(axis=axis)
    # Opposite directions cancel up to rounding, whose direction is meaningless.
    vanishes = np.abs(total) <= _CANCELLED * np.abs(phase).sum(axis=axis)
    return np.where(vanishes, 0.0, reduce_angle(np.angle(total)))


def resultant(estimate: ArrayLike, truth: ArrayLike) -> complex:
    """Mean of exp(i(r - R)) over nodes: its argument is the global shift, its modulus the fit."""
    difference = np.asarray(estimate, dtype=np.float64) - np.asarray(truth, dtype=np.float64)
    return complex(np.exp(1j * difference).mean())


def align(estimate: ArrayLike, truth: ArrayLike) -> FloatArray:
    """Rotate `estimate` (n,) by the one angle that brings it closest to `truth` (n,).

    The circular mean of r - R maximises Re Σ exp(i(r - R - shift)), the chordal criterion.
    """
    shift = np.angle(resultant(estimate, truth))
    return reduce_angle(np.asarray(estimate, dtype=np.float64) - shift)


def match_columns(estimate: ArrayLike, truth: ArrayLike) -> IntArray:
    """Best pairing of k estimated columns with k true ones, each up to its own rotation.

    Returns `order` (k,) such that `estimate[:, order[l]]` belongs to `truth[:, l]`. The optimal
    assignment gives the same value as trying all k! permutations.
    """
    estimate = np.asarray(estimate, dtype=np.float64)
    truth = np.asarray(truth, dtype=np.float64)
    agreement = np.abs(np.exp(1j * truth).conj().T @ np.exp(1j * estimate)) / len(truth)
    return linear_sum_assignment(agreement, maximize=True)[1].astype(np.int64)


def align_columns(estimate: ArrayLike, truth: ArrayLike) -> FloatArray:
    """Match the columns of `estimate` (n, k) to those of `truth` (n, k) and align each."""
    estimate = np.asarray(estimate, dtype=np.float64)
    truth = np.asarray(truth, dtype=np.float64)
    order = match_columns(estimate, truth)
    columns = [align(estimate[:, j], truth[:, group]) for group, j in enumerate(order)]
    return np.stack(columns, axis=1)
