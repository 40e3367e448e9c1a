"""What EM and sampling need of the laws of the inlier noise (`gnnsync.noise_law`)."""

from __future__ import annotations

import numpy as np

from gnnsync.noise_law import LAPLACE, law_density
from gnnsync.typing import FloatArray

__all__ = ["LAPLACE", "SIGMA_FLOOR", "SIGMA_MAX", "law_density", "sample_noise", "shrinkage"]

# Smallest noise level that is distinguished from zero: above rounding, below any instrument.
SIGMA_FLOOR = 1e-7
# Largest: a normal law of this width is all but uniform on the circle.
SIGMA_MAX = 1.5
# Part of σ below which Laplace's cusp is rounded off, to keep the EM weight σ/|r| finite.
_CUSP = 0.01


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
