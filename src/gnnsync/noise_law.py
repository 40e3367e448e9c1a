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


def law_name(dof: float) -> str:
    """`normal`, `Laplace` or `Student's t`."""
    if dof == LAPLACE:
        return "Laplace"
    return "normal" if np.isinf(dof) else f"Student's t, ν = {dof:g}"
