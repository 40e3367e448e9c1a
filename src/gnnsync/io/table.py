"""CSV and TSV: one measurement per line."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TextIO

import numpy as np

from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.numbers import is_number, number_problem
from gnnsync.io.offsets import offset_radians
from gnnsync.io.source import Source, shorten
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import RADIANS, Unit

ALIASES = {
    "src": ("src", "source", "from"),
    "dst": ("dst", "destination", "target", "to"),
    "offset": ("offset",),
    "weight": ("weight",),
    "group": ("group",),
    "trusted": ("trusted", "trust", "known_inlier"),
}
_REQUIRED = ("src", "dst", "offset")
_NUMBERS = ("offset", "weight", "group")
_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")


def read_table(source: Source, unit: Unit | None = None) -> MeasurementGraph:
    """Read lines `src,dst,offset[,weight]`: theta[src] - theta[dst] = offset.

    The first line determines the separator (comma, tab, semicolon, else white space) and whether
    there is a header. A header lists the columns in any order, may include `group` and `trusted`
    (1/0, true/false or yes/no), and columns of other names are ignored. Node names are text, and
    nodes are numbered by first appearance; if all names are whole numbers, they become integers
    and are sorted.
    """
    columns = _Columns()
    for first_line, lines in source.blocks():
        columns.add(source, first_line, lines)
    if not columns.offset:
        raise source.error("holds no measurements")
    offset = np.concatenate(columns.offset)
    weight = np.concatenate(columns.weight) if columns.weight else None
    group = np.concatenate(columns.group).astype(np.int64) if columns.group else None
    trusted = np.concatenate(columns.trusted) if columns.trusted else None
    index = np.concatenate(columns.index, axis=1)
    names, order = node_names(list(columns.number))
    return MeasurementGraph(
        order[index],
        offset_radians(source.name, offset, unit),
        len(order),
        weight=weight,
        trusted=trusted,
        group=group,
        node_names=names,
    )


def write_table(
    graph: MeasurementGraph, handle: TextIO, delimiter: str = ",", unit: Unit = RADIANS
) -> None:
    """Write `src,dst,offset[,weight][,group][,trusted]` with a header.

    Numbers keep all their digits. The format has no true angles.
    """
    if (np.bincount(graph.edge_index.ravel(), minlength=graph.num_nodes) == 0).any():
        raise DataFileError(
            "a table holds edges only, and some nodes have none: write .npz or .g2o"
        )
    text = [str(name) for name in graph.names]
    for name in text:
        if not name or name != name.strip() or len(name.splitlines()) > 1:
            raise DataFileError(f"node name {shorten(name)} cannot be kept in a table: write .npz")
    if len(set(text)) < len(text):
        raise DataFileError("two node names have the same text: write .npz or rename them")
    columns: dict[str, Sequence[object]] = {
        "src": [text[i] for i in graph.src.tolist()],
        "dst": [text[i] for i in graph.dst.tolist()],
        "offset": unit.from_radians(graph.offset).tolist(),
    }
    if graph.weight is not None:
        columns["weight"] = graph.weight.tolist()
    if graph.group is not None:
        columns["group"] = graph.group.tolist()
    if graph.trusted is not None:
        columns["trusted"] = graph.trusted.astype(int).tolist()
    writer = csv.writer(handle, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def node_names(
    text: list[str],
) -> tuple[tuple[Hashable, ...] | None, IntArray]:
    """Node names for the distinct names `text` of a file, and the node number of each (n,).

    Names 0..n-1 need not be stored (None); other whole numbers become sorted integers. `007` is
    text, because it and `7` must stay different nodes.
    """
    numbers = [_whole(name) for name in text]
    if any(number is None for number in numbers):
        return tuple(text), np.arange(len(text))
    key = [number for number in numbers if number is not None]
    ranked = sorted(range(len(key)), key=key.__getitem__)
    order = np.empty(len(key), dtype=np.int64)
    order[ranked] = np.arange(len(key))
    names = tuple(key[i] for i in ranked)
    return (None if names == tuple(range(len(names))) else names), order


@dataclass
class _Columns:
    """The columns read so far; the layout is determined by the first line."""

    delimiter: str | None = None
    place: dict[str, int] = field(default_factory=dict)
    width: int = 0
    number: dict[str, int] = field(default_factory=dict)
    index: list[IntArray] = field(default_factory=list)
    offset: list[FloatArray] = field(default_factory=list)
    weight: list[FloatArray] = field(default_factory=list)
    group: list[FloatArray] = field(default_factory=list)
    trusted: list[BoolArray] = field(default_factory=list)

    def add(self, source: Source, first_line: int, lines: list[str]) -> None:
        if not self.width:
            start = next((i for i, line in enumerate(lines) if line.strip()), None)
            if start is None:
                return
            has_header = self._learn_layout(source, first_line + start, lines[start])
            first_line, lines = first_line + start + has_header, lines[start + has_header :]
        rows = self._split(source, first_line, lines)
        filled = [row for row in rows if row]
        if not filled:
            return
        try:
            column = list(zip(*filled, strict=True))
            if len(column) != self.width:
                raise ValueError
            src, dst = (list(map(str.strip, column[self.place[name]])) for name in ("src", "dst"))
            numbers: dict[str, FloatArray] = {
                name: np.array(list(map(float, column[self.place[name]])))
                for name in _NUMBERS
                if name in self.place
            }
            trusted = self._trusted(column)
        except ValueError:
            self._explain(source, first_line, rows)
            raise
        if not _plausible(src, dst, numbers):
            self._explain(source, first_line, rows)
        number = self.number
        for name in chain.from_iterable(zip(src, dst, strict=True)):
            if name not in number:
                number[name] = len(number)
        sides = [np.fromiter(map(number.__getitem__, side), np.int64) for side in (src, dst)]
        self.index.append(np.stack(sides))
        for name, values in numbers.items():
            getattr(self, name).append(values)
        if trusted is not None:
            self.trusted.append(trusted)

    def _trusted(self, column: list[tuple[str, ...]]) -> BoolArray | None:
        """The column `trusted`, if there is one; raises `ValueError` if an entry is neither."""
        if "trusted" not in self.place:
            return None
        words = [text.strip().lower() for text in column[self.place["trusted"]]]
        if not set(words) <= {*_TRUE, *_FALSE}:
            raise ValueError
        return np.array([word in _TRUE for word in words])

    def _learn_layout(self, source: Source, line: int, first: str) -> bool:
        """Find separator and columns from the first line; returns whether it is a header."""
        self.delimiter = next((mark for mark in "\t,;" if mark in first), None)
        row = [entry.strip() for entry in self._split(source, line, [first])[0]]
        self.width = len(row)
        names = [entry.lower() for entry in row]
        found = {
            column: next(names.index(alias) for alias in aliases if alias in names)
            for column, aliases in ALIASES.items()
            if any(alias in names for alias in aliases)
        }
        if not found or (len(row) >= 3 and is_number(row[2])):
            if len(row) not in (3, 4):
                raise source.error(
                    f"{len(row)} fields and no header: must be src, dst, offset[, weight]", line
                )
            self.place = dict(
                zip(("src", "dst", "offset", "weight"), range(len(row)), strict=False)
            )
            return False
        for column in _REQUIRED:
            if column not in found:
                raise source.error(f"missing column {column!r} (found: {', '.join(row)})", line)
        self.place = found
        return True

    def _split(self, source: Source, first_line: int, lines: list[str]) -> list[list[str]]:
        """Fields of each line, [] for a blank one."""
        if self.delimiter is None:
            return [line.split() for line in lines]
        reader = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True, strict=True)
        try:
            rows = list(reader)
        except csv.Error as error:
            raise source.error(str(error), first_line + reader.line_num - 1) from None
        if len(rows) != len(lines):
            raise source.error("a quoted field runs over the end of a line", first_line)
        return [row if len(row) > 1 or "".join(row).strip() else [] for row in rows]

    def _explain(self, source: Source, first_line: int, rows: list[list[str]]) -> None:
        """Raise an error for the first line that is wrong, if any."""
        for line, row in enumerate(rows, first_line):
            if not row:
                continue
            if len(row) != self.width:
                raise source.error(f"{len(row)} fields, the first line has {self.width}", line)
            for name, place in self.place.items():
                problem = _problem(name, row[place].strip())
                if problem:
                    raise source.error(problem, line)
            ends = {row[self.place[name]].strip() for name in ("src", "dst")}
            if len(ends) == 1:
                name = shorten(ends.pop())
                raise source.error(f"src and dst are both {name}: remove the self-loop", line)


def _plausible(src: list[str], dst: list[str], numbers: dict[str, FloatArray]) -> bool:
    group = numbers.get("group")
    return (
        all(np.isfinite(values).all() for values in numbers.values())
        and ("weight" not in numbers or bool((numbers["weight"] > 0).all()))
        and (group is None or bool(((group >= -1) & (group == np.rint(group))).all()))
        and "" not in src
        and "" not in dst
        and not any(map(str.__eq__, src, dst))
    )


def _problem(name: str, text: str) -> str | None:
    """Error message for a field that is wrong; None if it is right."""
    if name in ("src", "dst"):
        return None if text else f"{name} is empty: name a node"
    if name == "trusted":
        known = text.lower() in (*_TRUE, *_FALSE)
        return None if known else f"trusted {shorten(text)} must be 1 or 0 (true/false, yes/no)"
    problem = number_problem(name, text)
    if problem is not None:
        return problem
    value = float(text)
    if name == "weight" and value <= 0:
        return f"weight {text} must be greater than 0"
    if name == "group" and (value < -1 or value != round(value)):
        return f"group {text} must be -1 (outlier) or a whole number from 0"
    return None


def _whole(text: str) -> int | None:
    """The integer whose decimal form is exactly `text`; None if there is none."""
    # int() also accepts "1_0", " 7" and "007"; comparing with str() excludes them.
    try:
        value = int(text)
    except ValueError:
        return None
    return value if str(value) == text else None
