"""Laws of the inlier noise: normal, Student's t and Laplace, truncated to the circle.

A law is named by its degrees of freedom ν: infinite for normal, `LAPLACE` for Laplace's law, any
other number for Student's t.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erf, gammaln, stdtr

from gnnsync.angles import TWO_PI
from gnnsync.typing import FloatArray

# Stands for the degrees of freedom of Laplace's law, which is no Student's t.
LAPLACE = 0.0

# Smallest noise level that is distinguished from zero: above rounding, below any instrument.
SIGMA_FLOOR = 1e-7
# Largest: a normal law of this width is all but uniform on the circle.
SIGMA_MAX = 1.5
# Part of σ below which Laplace's cusp is rounded off, to keep the EM weight σ/|r| finite.
_CUSP = 0.01


def law_density(scaled: FloatArray, sigma: float, dof: float) -> FloatArray:
    """2π·f(scaled): density of the law of scale σ, truncated to the circle, relative to uniform."""
    if dof == LAPLACE:
        return np.pi / sigma / -np.expm1(-np.pi / sigma) * np.exp(-np.abs(scaled) / sigma)
    z2 = (scaled / sigma) ** 2
    if np.isinf(dof):
        peak = np.sqrt(TWO_PI) / sigma / erf(np.pi / sigma / np.sqrt(2.0))
        return peak * np.exp(-0.5 * z2)
    norm = np.exp(gammaln((dof + 1) / 2) - gammaln(dof / 2)) / np.sqrt(dof * np.pi)
    inside = 2.0 * stdtr(dof, np.pi / sigma) - 1.0
    return TWO_PI * norm / (sigma * inside) * (1.0 + z2 / dof) ** (-(dof + 1) / 2)


def shrinkage(residual: FloatArray, weight: FloatArray, sigma: float, dof: float) -> FloatArray:
    """Factor (m, k) of an inlier's square in the EM least squares, for weights (m,).

    (ν + 1)/(ν + w·r²/σ²) for Student's t, σ/(√w·|r|) for Laplace's law, 1 for normal noise.
    """
    if dof == LAPLACE:
        return sigma / np.sqrt(weight[:, None] * residual**2 + (_CUSP * sigma) ** 2)
    if np.isinf(dof):
        return np.ones_like(residual)
    return (dof + 1.0) / (dof + weight[:, None] * (residual / sigma) ** 2)


def sample_noise(size: int, dof: float, rng: np.random.Generator) -> FloatArray:
    """Independent noise (size,) of the law with scale 1, not truncated."""
    if dof == LAPLACE:
        return rng.laplace(size=size)
    if np.isinf(dof):
        return rng.standard_normal(size)
    return rng.standard_t(dof, size=size)
