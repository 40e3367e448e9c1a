"""Units of angles: radians, degrees, turns. Everything inside the package is in radians.

Files, tables, summaries and figures may use another unit. The conversion happens where numbers come
in (`Unit.to_radians`) and where they go out (`Unit.from_radians`, `Unit.format`, `in_unit`), and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnnsync.errors import ParameterError, check_bool, check_choice
from gnnsync.typing import FloatArray


@dataclass(frozen=True)
class Unit:
    """A unit of angles. There are three: `RADIANS`, `DEGREES`, `TURNS`.

    Whoever prints, draws or writes an angle takes a `unit: Unit = RADIANS` and calls

    * `unit.from_radians(values)` for numbers (a column, an axis),
    * `unit.angles(values)` for angles in [0, 2π) that a person will read,
    * `unit.format(value)` for a number with its symbol: `0.0123 rad`, `0.7°`, `0.002 turns`,
    * `unit.symbol` for the label of an axis, `unit.name` for a field of a file.

    Args:
        name: `radians`, `degrees` or `turns`.
        symbol: what stands behind a number: `rad`, `°`, `turns`.
        turn: one full turn in this unit.
        decimals: decimals of an angle that a conversion keeps; further ones are its rounding.
    """

    name: str
    symbol: str
    turn: float
    decimals: int | None = None

    def to_radians(self, values: ArrayLike) -> FloatArray:
        """Numbers in this unit, in radians."""
        return np.asarray(values, dtype=np.float64) * (2.0 * np.pi / self.turn)

    def from_radians(self, values: ArrayLike) -> FloatArray:
        """Radians, in this unit."""
        return np.asarray(values, dtype=np.float64) * (self.turn / (2.0 * np.pi))

    def angles(self, values: ArrayLike) -> FloatArray:
        """Angles in [0, 2π) in this unit, in [0, turn), without the rounding of the conversion.

        30°, which is not a finite number of radians, comes back as 30.
        """
        converted = self.from_radians(values)
        if self.decimals is None:
            return converted
        rounded = np.round(converted, self.decimals)
        return np.where(rounded >= self.turn, 0.0, rounded)

    def format(self, value: float, digits: int = 3) -> str:
        """A number of radians as text in this unit, with the symbol behind it."""
        return self.label(f"{float(self.from_radians(value)):.{digits}g}")

    def label(self, number: object) -> str:
        """A number that is in this unit already, with the symbol behind it."""
        gap = "" if self.symbol == "°" else " "
        return f"{number}{gap}{self.symbol}"

    def __str__(self) -> str:
        return self.name


RADIANS = Unit("radians", "rad", 2.0 * np.pi)
DEGREES = Unit("degrees", "°", 360.0, decimals=12)
TURNS = Unit("turns", "turns", 1.0, decimals=14)
UNITS = {unit.name: unit for unit in (RADIANS, DEGREES, TURNS)}


def find_unit(unit: str | Unit) -> Unit:
    """The unit of this name, or the unit itself."""
    if isinstance(unit, Unit):
        return unit
    return UNITS[check_choice("unit", unit, UNITS)]


def input_unit(unit: str | Unit | None, degrees: bool = False) -> Unit | None:
    """The unit that a caller states by `unit`, or by the older `degrees=True`; None if by neither.

    None means radians, with a warning if the numbers look like degrees.
    """
    if not check_bool("degrees", degrees):
        return None if unit is None else find_unit(unit)
    if unit is not None and find_unit(unit) is not DEGREES:
        raise ParameterError("degrees", degrees, f"left out with unit={find_unit(unit).name!r}")
    return DEGREES


def in_unit(figures: Mapping[str, Any], unit: Unit, names: Collection[str]) -> dict[str, Any]:
    """Figures in which those of these `names` are converted from radians, and `unit` names it.

    A figure may be a number, None, or a list or dictionary of figures (of which a dictionary of
    unnamed kind, such as quantiles by level, is converted as a whole).

    Args:
        figures: a summary, in radians.
        unit: the unit of the result.
        names: keys, at any depth, whose values are angles.
    """
    return {**_converted(figures, unit, names), "unit": unit.name}


def _converted(figures: Any, unit: Unit, names: Collection[str], angle: bool = False) -> Any:
    if isinstance(figures, Mapping):
        return {
            key: _converted(value, unit, names, angle or key in names)
            for key, value in figures.items()
        }
    if isinstance(figures, list | tuple):
        return [_converted(value, unit, names, angle) for value in figures]
    number = isinstance(figures, int | float) and not isinstance(figures, bool)
    return float(unit.from_radians(figures)) if angle and number else figures
