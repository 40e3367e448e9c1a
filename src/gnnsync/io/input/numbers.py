"""Numbers in text files: one set of rules and messages for all readers."""

from __future__ import annotations

import math
from collections.abc import Callable

from gnnsync.io.input.source import Source, shorten

# Every whole number of this many digits fits in 64 bits.
_MOST_DIGITS = 18
# Nodes that a file may declare beyond those of its measurements: one without any is not solved, and
# a line of text can claim 10^12 of them.
_FREE_NODES = 1_000_000
_NODES_PER_MEASUREMENT = 100


def parse_number(text: str) -> float | None:
    """The number that `text` is, NaN and infinity included; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def is_number(text: str) -> bool:
    """Whether `text` is a number, NaN and infinity included."""
    return parse_number(text) is not None


def is_natural(text: str) -> bool:
    """Whether `text` is a whole number from 0 that fits in 64 bits."""
    # isdecimal accepts the digits of all scripts, and so does int().
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def number_problem(name: str, text: str) -> str | None:
    """Why the text of field `name` is no finite number, for an error message; None if it is one."""
    value = parse_number(text)
    if value is None and text.rstrip().endswith("°"):
        return f"{name} {shorten(text)} is not a number: leave out the ° and add --degrees"
    if value is None:
        return f"{name} {shorten(text)} is not a number: correct it or remove the line"
    if math.isfinite(value):
        return None
    return f"{name} {shorten(text)} is not finite: correct it or remove the line"


def finite_number(source: Source, line: int, name: str, text: str) -> float:
    """The finite number in field `name`; raises an error with file and line otherwise."""
    problem = number_problem(name, text)
    if problem is not None:
        raise source.error(problem, line)
    return float(text)


def check_declared_nodes(nodes: int, measurements: int, error: Callable[[str], Exception]) -> None:
    """Refuse a declared number of nodes that the measurements of a file cannot account for."""
    if nodes > max(_FREE_NODES, _NODES_PER_MEASUREMENT * measurements):
        raise error(
            f"declares {nodes} nodes for {measurements} measurements: leave out nodes without any"
        )
