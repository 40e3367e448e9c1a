"""Weights of measurements: only their ratios count, as far as float64 can tell them apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from gnnsync.errors import GraphError, check_array
from gnnsync.typing import FloatArray

# The largest ratio of two weights that a sum of float64 can hold: 1 + 1/2^52 is the next number
# after 1. A measurement of less weight would count for nothing.
LARGEST_RATIO = 2.0**52
# Methods multiply, square and sum weights; between these bounds they stay far from 0 and infinity.
# Scaling by a power of two changes no digit.
_SMALLEST, _LARGEST = 2.0**-100, 2.0**100


def check_weights(weight: ArrayLike, edges: int, name: Callable[[int], str]) -> FloatArray:
    """Return weights (m,) that are positive, finite and comparable.

    If one is below 2⁻¹⁰⁰ or above 2¹⁰⁰, all are divided by the power of two that brings the largest
    to [1, 2), which changes no ratio.

    Args:
        weight: (m,).
        edges: their number m.
        name: of an edge by its number, for errors.
    """
    values = check_array("weight", weight, (edges,))
    if not edges:
        return values
    low, high = int(np.argmin(values)), int(np.argmax(values))
    if values[low] <= 0:
        raise GraphError(f"weight of {name(low)} is {values[low]:g}: must be greater than 0")
    if values[low] < values[high] / LARGEST_RATIO:
        raise GraphError(
            f"weight of {name(low)} is {values[low]:g}, of {name(high)} {values[high]:g}: float64 "
            f"cannot weigh more than {LARGEST_RATIO:.2g} to 1; correct one or leave it out"
        )
    if values[low] < _SMALLEST or values[high] > _LARGEST:
        _, exponent = np.frexp(values[high])
        return np.ldexp(values, 1 - int(exponent))
    return values
