"""Errors that name the field, the value found and the remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


class GnnsyncError(Exception):
    """Base of the errors that a user can mend; the command line prints them in one line."""


class ParameterError(GnnsyncError, ValueError):
    """A parameter has a value that is not allowed.

    `name` is the parameter's own name; callers that know its place in a config prefix it.
    """

    def __init__(self, name: str, value: Any, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} = {value!r}: must be {allowed}")


class GraphError(GnnsyncError, ValueError):
    """A measurement graph is malformed, or not fit for what is asked of it."""


class DataFileError(GnnsyncError, ValueError):
    """A file cannot be read as what it should be; names the file and, where known, the line."""


def check_real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a float if it is a finite real number within the bounds."""
    bounds = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    allowed = "a finite number" if math.isinf(low) and math.isinf(high) else f"a number in {bounds}"
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ParameterError(name, value, allowed)
    number = float(value)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if below or above:
        raise ParameterError(name, value, allowed)
    return number


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int if it is a whole number within the bounds."""
    allowed = f"a whole number, at least {low}" + ("" if high is None else f" and at most {high}")
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(name, value, allowed)
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ParameterError(name, value, allowed)
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    options = list(choices)
    if value not in options:
        raise ParameterError(name, value, "one of " + ", ".join(options))
    return str(value)


def check_bool(name: str, value: Any) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool):
        raise ParameterError(name, value, "true or false")
    return value
