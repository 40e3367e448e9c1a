"""Errors that state the field, the value found and the remedy, and checks that raise them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnnsync.typing import BoolArray, FloatArray, IntArray


class GnnsyncError(Exception):
    """Base of the errors that a user can correct; the command line prints them in one line."""


class ParameterError(GnnsyncError, ValueError):
    """A parameter has a value that is not allowed.

    `name` is the parameter's own name; callers that know its key in a config add a prefix.
    """

    def __init__(self, name: str, value: Any, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} = {value!r}: must be {allowed}")


class ConfigError(GnnsyncError):
    """A config is wrong; the message states the key, the value and what is allowed."""


class GraphError(GnnsyncError, ValueError):
    """A measurement graph is malformed, or unsuitable for the operation."""


class SolutionError(GnnsyncError):
    """A method found no angles for its measurements."""


class DataFileError(GnnsyncError, ValueError):
    """A file is malformed or cannot be accessed; states the file and, where known, the line."""


class CheckpointError(GnnsyncError):
    """A checkpoint or a file of weights is missing, unreadable or of another model."""


# Above this, float64 no longer represents every whole number.
_LARGEST_EXACT = 2**53


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
    left = "(" if open_low or math.isinf(low) else "["
    right = ")" if open_high or math.isinf(high) else "]"
    unbounded = math.isinf(low) and math.isinf(high)
    allowed = "a finite number" if unbounded else f"a number in {left}{low:g}, {high:g}{right}"
    try:
        number = (
            math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        )
    except OverflowError:  # a whole number beyond the largest float
        number = math.inf
    if not math.isfinite(number):
        raise ParameterError(name, value, allowed)
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
    if not isinstance(value, str) or value not in options:
        meant = _nearest(value, options) if isinstance(value, str) else None
        hint = f" (did you mean {meant}?)" if meant else ""
        raise ParameterError(name, value, f"one of {', '.join(options)}{hint}")
    return str(value)


def _nearest(text: str, options: list[str]) -> str | None:
    """The option that a mistyped text most likely means: `CEMP-GCW` is `cemp_gcw`."""
    plain = text.lower().replace("-", "_").replace(" ", "_")
    return next(iter(difflib.get_close_matches(plain, options, n=1)), None)


def check_bool(name: str, value: Any) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool):
        raise ParameterError(name, value, "true or false")
    return value


def check_array(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> FloatArray:
    """Return `value` as a float64 array if its entries are finite and it has this shape."""
    array = _numbers(name, value).astype(np.float64)
    if shape is not None and array.shape != shape:
        raise GraphError(f"{name} has shape {array.shape}: must be {shape}")
    _reject(name, array, ~np.isfinite(array), "must be finite")
    return array


def check_whole_array(name: str, value: ArrayLike) -> IntArray:
    """Return `value` as an int64 array if all its entries are whole numbers."""
    array = _numbers(name, value)
    if array.dtype.kind == "f":
        whole = (array == np.rint(array)) & (np.abs(array) <= _LARGEST_EXACT)
        _reject(name, array, ~whole, "must be a whole number")
    return array.astype(np.int64)


def check_flags(name: str, value: ArrayLike, length: int) -> BoolArray:
    """Return `value` as a bool array (length,); numbers must be 0 or 1."""
    flags = np.asarray(value)
    array = flags.astype(float) if flags.dtype == bool else check_array(name, value)
    if array.shape != (length,):
        raise GraphError(f"{name} has shape {array.shape}: must be ({length},)")
    _reject(name, array, (array != 0) & (array != 1), "must be true or false (1 or 0)")
    return array.astype(bool)


def first_line(error: BaseException) -> str:
    """The first nonblank line of an error's message; the name of its class if there is none."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def one_line(message: object, separator: str = " ") -> str:
    """A message of several lines joined into one, fit for a terminal."""
    lines = [" ".join(line.split()) for line in str(message).splitlines()]
    joined = separator.join(line for line in lines if line)
    return printable(joined) or type(message).__name__


def printable(value: object) -> str:
    r"""The text with escapes such as \\x1b for characters that would control a terminal.

    These are control characters, marks of the direction of writing, and unpaired surrogates.
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text
    )


def _numbers(name: str, value: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:
        raise GraphError(f"{name} is ragged: its rows must have equal length") from None
    if array.size and array.dtype.kind not in "fiu":
        first = array.ravel()[0]
        raise GraphError(f"{name} holds {array.dtype} ({first!r}): must hold real numbers")
    return array


def _reject(name: str, array: NDArray[Any], bad: BoolArray, requirement: str) -> None:
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        at = ", ".join(map(str, place))
        raise GraphError(f"{name}[{at}] is {array[place]}: {requirement}")


def check_names(names: Iterable[Hashable], *, repeats: bool = False) -> tuple[Hashable, ...]:
    """Return the distinct names of nodes, in order; an error if one repeats, unless it may."""
    seen: dict[Hashable, None] = {}
    for name in names:
        try:
            if name in seen and not repeats:
                raise GraphError(f"node_names has {name!r} twice: names must be distinct")
            seen[name] = None
        except TypeError:
            raise GraphError(
                f"node name {name!r} is not hashable: use a str, int or tuple"
            ) from None
    return tuple(seen)
