"""Density of a wrapped normal law, relative to the uniform one."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI
from gnnsync.typing import FloatArray

# Variance at which the sum over turns and the Fourier series are both exact to 1e-5.
_SWITCH = 3.0
# Variance up to which the neighbouring turns contribute less than 1e-4.
_ONE_TURN = 0.4


def relative_density(residual: FloatArray, variance: FloatArray) -> FloatArray:
    r"""2π·f(r) for the wrapped normal density f of the given variance, r in [-π, π].

    .. math:: \sqrt{2π/v} \sum_{t=-1}^{1} e^{-(r + 2πt)^2 / 2v}
        \quad\text{or, for large } v, \quad 1 + 2 e^{-v/2} \cos r + 2 e^{-2v} \cos 2r.
    """
    small = np.minimum(variance, _SWITCH)
    density = np.exp(-0.5 * residual**2 / small)
    wide = small > _ONE_TURN
    if wide.any():
        # The nearest other turn; the turn on the far side is negligible up to `_SWITCH`.
        near, far = TWO_PI - np.abs(residual), TWO_PI + np.abs(residual)
        turns = np.exp(-0.5 * near**2 / small) + np.exp(-0.5 * far**2 / small)
        density += np.where(wide, turns, 0.0)
    density *= np.sqrt(TWO_PI / small)
    large = variance > _SWITCH
    if large.any():
        first, second = np.exp(-0.5 * variance), np.exp(-2.0 * variance)
        series = 1.0 + 2.0 * first * np.cos(residual) + 2.0 * second * np.cos(2.0 * residual)
        density = np.where(large, series, density)
    return density


def posterior(density: FloatArray, outliers: FloatArray | float) -> FloatArray:
    """Probability of an inlier, from its relative density and the share of outliers."""
    inlier = (1.0 - outliers) * density
    return inlier / (inlier + outliers)
