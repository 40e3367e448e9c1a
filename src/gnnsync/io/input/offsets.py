"""Offsets as a file has them, in radians; a warning where the unit is in doubt."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from gnnsync.typing import FloatArray
from gnnsync.units import RADIANS, Unit

# Offsets in radians, as differences of angles within one turn, are at most 2π in size. Those above
# are counted from a little more, so that rounding (6.29) does not count.
LARGEST_OFFSET = 6.3
# Share of such offsets from which a file looks like degrees. A few can be outliers, or radians
# that somebody has added up; normal offsets in degrees reach it from a spread of 4° on.
MANY = 0.1


class UnitWarning(UserWarning):
    """Offsets are taken for radians, and look like degrees."""


def offset_radians(name: str, offset: ArrayLike, unit: Unit | None) -> FloatArray:
    """Offsets (m,) in radians.

    Args:
        name: where they come from, for the warning.
        offset: (m,) as given.
        unit: their unit; None if it is not stated: radians, with a `UnitWarning` if they look like
            degrees.
    """
    values = np.asarray(offset, dtype=np.float64)
    if unit is not None:
        return unit.to_radians(values)
    count = int((np.abs(values) > LARGEST_OFFSET).sum())
    if count and count >= MANY * values.size:
        warnings.warn(
            f"{name}: {count} of {values.size} offsets are larger than 2π, AS IN DEGREES, and are "
            'read as radians: add --degrees (in Python unit="degrees") if they are degrees, '
            "--radians if not",
            UnitWarning,
            stacklevel=4,
        )
    return RADIANS.to_radians(values)
