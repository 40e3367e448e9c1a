"""Anchors: angles that are known beforehand, for any method.

An `Anchors` object gives the known angles (n, k) of a graph, NaN where an angle is unknown.
`as_anchors` makes one of what people have: a dictionary, an array, a file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.optimize import linear_sum_assignment

from gnnsync.angles import circular_distance, reduce_angle
from gnnsync.errors import GraphError, ParameterError, check_array, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.numbers import parse_number
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.nodes.anchor_file import read_anchor_file
from gnnsync.io.tables.cells import plain_cell
from gnnsync.typing import FloatArray
from gnnsync.units import RADIANS, Unit, find_unit

# Two statements of the same angle differ by less than this, in radians: rounding.
_SAME_ANGLE = 1e-9


@runtime_checkable
class Anchors(Protocol):
    """Gives the angles of a graph that are known beforehand."""

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray | None:
        """Known angles (n, k), NaN where unknown; None if there are none."""
        ...


@dataclass(frozen=True)
class NoAnchors:
    """Nothing is known but offsets."""

    def __call__(self, graph: MeasurementGraph, k: int) -> None:
        """None."""
        return


@dataclass(frozen=True)
class ShareAnchors:
    """A share of the nodes, drawn at random, with their true angles: for data that hold the truth.

    Args:
        share: of the nodes, in (0, 1]; at least one node is drawn.
        seed: of the draw; the same for every graph.
    """

    share: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_real("share", self.share, 0, 1, open_low=True)
        check_integer("seed", self.seed, 0)

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray:
        """True angles of the drawn nodes."""
        if graph.angles is None:
            raise GraphError("the graph has no angles: anchors by share need the truth; use a file")
        if graph.angles.shape[1] != k:
            raise ParameterError("k", k, f"{graph.angles.shape[1]}, the groups of the true angles")
        known = np.full((graph.num_nodes, k), np.nan)
        count = max(round(self.share * graph.num_nodes), 1)
        drawn = np.random.default_rng(self.seed).choice(graph.num_nodes, count, replace=False)
        known[drawn] = graph.angles[drawn]
        return known


@dataclass(frozen=True)
class FileAnchors:
    """Known angles from a text file, see `gnnsync.io.nodes.anchor_file`.

    Args:
        path: the file.
        unit: of the angles: radians, degrees or turns.
    """

    path: str | os.PathLike[str]
    unit: str | Unit = "radians"

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, os.PathLike)) or not os.fspath(self.path):
            raise ParameterError("path", self.path, "the name of a file of known angles")
        find_unit(self.unit)

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray:
        """The file's angles at the nodes of these names."""
        source, unit = Source(self.path), find_unit(self.unit)
        number = {str(name): i for i, name in enumerate(graph.names)}
        known = np.full((graph.num_nodes, k), np.nan)
        for line, name, angles in read_anchor_file(source, k):
            node = number.get(plain_cell(name), number.get(name))
            if node is None:
                raise source.error(
                    f"no node is called {shorten(name)}: use a name of the measurements", line
                )
            if not _state(known[node], unit.to_radians(angles)):
                raise source.error(f"another angle for {shorten(name)}: remove one of them", line)
        return known


@dataclass(frozen=True, eq=False)
class NamedAnchors:
    """Known angles by the names of the nodes.

    Args:
        angles: an angle per node (k = 1), or k angles.
        unit: of the angles.
        option: how the user calls them, for errors.
    """

    angles: Mapping[Any, Any]
    unit: Unit = RADIANS
    option: str = "anchors"

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray | None:
        """The angles at the nodes of these names."""
        number = {name: i for i, name in enumerate(graph.names)}
        by_text = {str(name): i for name, i in number.items()}
        known = np.full((graph.num_nodes, k), np.nan)
        for name, value in self.angles.items():
            node = number.get(name, by_text.get(str(name)))
            if node is None:
                raise ParameterError(self.option, name, "a node of the measurements")
            angles = np.atleast_1d(self._numbers(name, value))
            if angles.shape != (k,):
                allowed = f"{k} angle{'s' * (k > 1)} for {name} (k = {k})"
                raise ParameterError(self.option, value, allowed)
            if not _state(known[node], self.unit.to_radians(angles)):
                raise ParameterError(self.option, value, f"the only angle of {name}")
        return known if len(self.angles) else None

    def _numbers(self, name: Hashable, value: Any) -> FloatArray:
        try:
            return check_array("angle", value)
        except GraphError:
            raise ParameterError(f"{self.option}[{name}]", value, "finite numbers") from None


@dataclass(frozen=True, eq=False)
class GivenAnchors:
    """Known angles (n, k) by the number of the node, in radians, NaN where unknown."""

    known: FloatArray

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray | None:
        """The angles; None if all are unknown."""
        known = self.known[:, None] if self.known.ndim == 1 else self.known
        expected = (graph.num_nodes, k)
        if known.shape != expected:
            raise ParameterError("anchors.shape", known.shape, str(expected))
        return known if np.isfinite(known).any() else None


@dataclass(frozen=True)
class SeveralAnchors:
    """The known angles of several sources, which must agree."""

    parts: tuple[Anchors, ...]

    def __call__(self, graph: MeasurementGraph, k: int) -> FloatArray | None:
        """The angles of all parts; None if no part has any."""
        known = np.full((graph.num_nodes, k), np.nan)
        for part in self.parts:
            own = part(graph, k)
            if own is None:
                continue
            both = np.isfinite(known) & np.isfinite(own)
            wrong = both & (circular_distance(known, own) > _SAME_ANGLE)
            if wrong.any():
                name = graph.names[int(np.argwhere(wrong)[0, 0])]
                raise ParameterError("--fix", name, "a node that --anchors does not have too")
            known = np.where(np.isfinite(own), own, known)
        return known if np.isfinite(known).any() else None


def parse_fixed(texts: Sequence[str]) -> dict[str, list[float]]:
    """Known angles in `A=0`, for k > 1 `A=0,90`; a node stated twice must have the same ones."""
    fixed: dict[str, list[float]] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        numbers = [parse_number(entry) for entry in value.split(",")]
        if not equals or not name.strip() or not all(_finite(number) for number in numbers):
            raise ParameterError("--fix", text, "NODE=ANGLE, such as A=90 (k > 1: A=0,90)")
        angles = [float(number) for number in numbers if number is not None]
        if fixed.setdefault(name.strip(), angles) != angles:
            raise ParameterError("--fix", text, f"the only angle of {name.strip()}")
    return fixed


def as_anchors(anchors: Any, unit: Unit = RADIANS, option: str = "anchors") -> Anchors:
    """An `Anchors` object from what people have.

    Args:
        anchors: a dictionary {node: angle} (k angles for k > 1), an array (n,) or (n, k) with NaN
            where an angle is unknown, the name of a file, an `Anchors` object, or None.
        unit: of the angles.
        option: how the user calls them, for errors.
    """
    if anchors is None:
        return NoAnchors()
    if isinstance(anchors, str | os.PathLike):
        return FileAnchors(anchors, unit)
    if isinstance(anchors, Mapping):
        return NamedAnchors(anchors, unit, option)
    if callable(anchors):
        return anchors
    try:
        array = np.asarray(anchors, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim not in (1, 2) or not array.size or np.isinf(array).any():
        raise ParameterError(
            option, anchors, "a dictionary {node: angle}, an array (n, k) with NaN, or a file name"
        )
    return GivenAnchors(unit.to_radians(array))


def anchored(angles: FloatArray, known: FloatArray) -> FloatArray:
    """Angles (n, k) rotated, set by set, to fit the known ones (n, k; NaN elsewhere).

    Where an angle is known, the result has it exactly.

    The groups are first matched with those of the anchors.
    """
    given = np.isfinite(known)
    target = np.where(given, known, 0.0)
    agreement = (np.exp(1j * angles).T @ (np.exp(-1j * target) * given)) / len(angles)
    _, group = linear_sum_assignment(np.abs(agreement.T), maximize=True)
    rotated = angles[:, group] - np.angle(agreement[group, np.arange(len(group))])
    return reduce_angle(np.where(given, known, rotated))


def _finite(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def _state(known: FloatArray, angles: FloatArray) -> bool:
    """Set the known angles (k,) of a node; False if others were stated before."""
    before = np.isfinite(known)
    if before.any() and (circular_distance(known, angles)[before] > _SAME_ANGLE).any():
        return False
    known[:] = angles
    return True
