"""When an iteration counts as converged: what is left to move is negligible against the noise."""

from __future__ import annotations

import math

import numpy as np

from gnnsync.metrics import estimate_outliers
from gnnsync.typing import FloatArray

# Part of the noise of an offset below which further movement of the angles, in root mean square,
# does not matter: the angles themselves are uncertain by σ/√(edges at a node), ten times as much
# at 100 edges and more at fewer.
NEGLIGIBLE = 0.01

# First scale, in standard deviations of the inliers, of a method that begins with given angles and
# whose scale of the residuals falls: edges that fit the angles take part from the beginning.
_START_SIGMAS = 3.0


def movement_left(step: float, previous: float) -> float:
    """Further movement of an iteration whose last two steps had these sizes.

    The sum of the geometric series with ratio step/previous; infinite if the steps do not fall,
    or if there was only one (`previous` is infinite then).
    """
    if step == 0.0:
        return 0.0
    if step >= previous or math.isinf(previous):
        return math.inf
    return step * step / (previous - step)


def is_negligible(step: float, previous: float, noise: float) -> bool:
    """Whether angles that moved by `step`, after `previous`, will hardly move, given the noise."""
    return movement_left(step, previous) <= NEGLIGIBLE * noise


def first_scale(residual: FloatArray, low: float, high: float) -> float:
    """Scale of the residuals (m,) at which a method may go on from their angles, in [low, high]."""
    noise = estimate_outliers(np.abs(residual))[1]
    return min(max(_START_SIGMAS * noise, low), high)


def typical_residual(residual: FloatArray) -> float:
    """Noise of the offsets for methods that do not estimate it: the median |residual|."""
    return float(np.median(np.abs(residual))) if residual.size else 0.0
