"""CSV and TSV: one measurement per line."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TextIO

import numpy as np

from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.numbers import number_problem
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.tables.cells import guard_cell, plain_cell
from gnnsync.io.tables.layout import Layout, find_layout
from gnnsync.io.tables.titles import Columns
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import RADIANS, Unit

COMMENT = "#"
_NUMBERS = ("offset", "weight", "group")
# Longer names stay text: whole numbers of 18 digits and a sign fit in 64 bits.
_LONGEST_NUMBER = 18
# Larger groups are no numbers of sets of angles.
_MOST_GROUPS = 1_000_000
TRUE, FALSE = ("1", "true", "yes"), ("0", "false", "no")


# What may be meant by lines such as a,b,1,5.
_CUT = (
    "{}: third and fourth fields are whole numbers, READ AS OFFSET AND WEIGHT: if 1,5 means 1.5, "
    "write 1.5 or put semicolons between the fields; if not, --columns "
    "src=1,dst=2,offset=3,weight=4 or a header says so"
)


class DecimalCommaWarning(UserWarning):
    """Offsets with decimal commas may have been read as offsets and weights."""


def read_table(
    source: Source,
    unit: Unit | None = None,
    columns: Columns | None = None,
    *,
    keep_names: bool = False,
) -> MeasurementGraph:
    """Read lines `src,dst,offset[,weight]`: theta[src] - theta[dst] = offset.

    The first line determines the separator (comma, tab, semicolon, else white space), whether
    there is a header, and which column is which (`gnnsync.io.tables.layout`). Lines that begin
    with `#` are comments. With a separator other than the comma, numbers may have decimal commas.
    Node names are text, and nodes are numbered by first appearance; if all names are whole
    numbers, they become integers and are sorted.

    Args:
        source: the file.
        unit: of the offsets; None if it is not stated.
        columns: titles of columns, where they are not those of `gnnsync.io.tables.titles.ALIASES`.
        keep_names: leave apostrophes before names that a spreadsheet would run.
    """
    table = _Table(columns or {}, keep_names)
    for first_line, lines in source.blocks():
        table.add(source, first_line, lines)
    if not table.offset:
        raise source.error("holds no measurements: give lines src,dst,offset")
    offset = np.concatenate(table.offset)
    if table.whole and len(np.unique(np.concatenate(table.weight))) > 1:
        warnings.warn(_CUT.format(source.name), DecimalCommaWarning, stacklevel=3)
    weight = np.concatenate(table.weight) if table.weight else None
    group = np.concatenate(table.group).astype(np.int64) if table.group else None
    trusted = np.concatenate(table.trusted) if table.trusted else None
    index = np.concatenate(table.index, axis=1)
    names, order = node_names(list(table.number))
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
    graph: MeasurementGraph,
    handle: TextIO,
    delimiter: str = ",",
    unit: Unit = RADIANS,
    *,
    keep_names: bool = False,
) -> None:
    """Write `src,dst,offset[,weight][,group][,trusted]` with a header.

    Numbers keep all their digits. The format has no true angles. Names that a spreadsheet would
    run get an apostrophe in front, unless `keep_names`.
    """
    columns = table_columns(graph, unit)
    if not keep_names and not all(isinstance(name, int) for name in graph.names):
        columns |= {side: list(map(guard_cell, columns[side])) for side in ("src", "dst")}
    # A line that begins with # is a comment, unless it is within quotes.
    quoted = any(map(_is_comment, columns["src"]))
    writer = csv.writer(
        handle,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_NONNUMERIC if quoted else csv.QUOTE_MINIMAL,
    )
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def table_columns(graph: MeasurementGraph, unit: Unit = RADIANS) -> dict[str, list[Any]]:
    """Columns src, dst, offset[, weight][, group][, trusted] of a table, with names as text."""
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
    columns: dict[str, list[Any]] = {
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
    return columns


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
class _Table:
    """The columns read so far; the layout is determined by the first line."""

    columns: Columns
    keep_names: bool = False
    layout: Layout | None = None
    comment: str = ""
    commas: bool = False
    points: bool = False
    whole: bool = True
    number: dict[str, int] = field(default_factory=dict)
    index: list[IntArray] = field(default_factory=list)
    offset: list[FloatArray] = field(default_factory=list)
    weight: list[FloatArray] = field(default_factory=list)
    group: list[FloatArray] = field(default_factory=list)
    trusted: list[BoolArray] = field(default_factory=list)

    def add(self, source: Source, first_line: int, lines: list[str]) -> None:
        if COMMENT in "".join(lines):
            lines = self._without_comments(lines)
        if self.layout is None:
            start = next((i for i, line in enumerate(lines) if line.strip()), None)
            if start is None:
                return
            line = first_line + start
            self.layout = find_layout(source, line, lines[start], self.columns, self.comment)
            first_line, lines = line, lines[start:]
            if self.layout.has_header:
                first_line, lines = first_line + 1, lines[1:]
        rows = self.layout.split(source, first_line, lines)
        filled = [row for row in rows if row]
        if not filled:
            return
        place = self.layout.place
        try:
            column = list(zip(*filled, strict=True))
            if len(column) != self.layout.width:
                raise ValueError
            src, dst = (self._names(column[place[name]]) for name in ("src", "dst"))
            numbers = {
                name: self._numbers(column[place[name]]) for name in _NUMBERS if name in place
            }
            trusted = self._trusted(column)
        except ValueError:
            self._explain(source, first_line, rows)
            raise source.error(
                "cannot be read: give numbers with decimal points", first_line
            ) from None
        if not _plausible(src, dst, numbers):
            self._explain(source, first_line, rows)
        if self.whole and not self.columns and self.layout.may_cut_numbers:
            self.whole = _whole_numbers(column[place["offset"]], column[place["weight"]])
        else:
            self.whole = False
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

    def _without_comments(self, lines: list[str]) -> list[str]:
        """The lines with empty ones in place of comments; the last before the data is kept."""
        kept = []
        for line in lines:
            if not _is_comment(line):
                kept.append(line)
                continue
            if self.layout is None and not any(text.strip() for text in kept):
                self.comment = line.lstrip()[len(COMMENT) :]
            kept.append("")
        return kept

    def _names(self, texts: tuple[str, ...]) -> list[str]:
        names = list(map(str.strip, texts))
        guarded = not self.keep_names and "'" in "".join(names)
        return list(map(plain_cell, names)) if guarded else names

    def _numbers(self, texts: tuple[str, ...]) -> FloatArray:
        """A column of numbers, with decimal points or, if the separator is none, commas."""
        assert self.layout is not None
        try:
            values = np.array(list(map(float, texts)))
        except ValueError:
            if self.layout.delimiter == ",":
                raise
            return self._with_commas(texts)
        return self._with_commas(texts) if self.commas else values

    def _with_commas(self, texts: tuple[str, ...]) -> FloatArray:
        """A column with decimal commas; one that has points too is refused by `ValueError`."""
        text = "".join(texts)
        fractions = [values for values in self.offset if not (values == np.rint(values)).all()]
        self.points = self.points or (bool(fractions) and not self.commas)
        if "." in text or self.points:
            raise ValueError
        values = np.array([float(entry.replace(",", ".", 1)) for entry in texts])
        self.commas = self.commas or "," in text
        return values

    def _trusted(self, column: list[tuple[str, ...]]) -> BoolArray | None:
        """The column `trusted`, if there is one; raises `ValueError` if an entry is neither."""
        assert self.layout is not None
        if "trusted" not in self.layout.place:
            return None
        words = [text.strip().lower() for text in column[self.layout.place["trusted"]]]
        if not set(words) <= {*TRUE, *FALSE}:
            raise ValueError
        return np.array([word in TRUE for word in words])

    def _explain(self, source: Source, first_line: int, rows: list[list[str]]) -> None:
        """Raise an error for the first line that is wrong, if any."""
        assert self.layout is not None
        points, commas = self.points, self.commas
        for line, row in enumerate(rows, first_line):
            if not row:
                continue
            if len(row) != self.layout.width:
                raise source.error(
                    f"{len(row)} fields, the first line has {self.layout.width}: give as many in "
                    "every line",
                    line,
                )
            for name, place in self.layout.place.items():
                text = row[place].strip()
                if name in _NUMBERS and self.layout.delimiter != ",":
                    points, commas = points or "." in text, commas or "," in text
                    if points and commas:
                        mark, other = ("comma", "points") if "," in text else ("point", "commas")
                        raise source.error(
                            f"{name} {shorten(text)} has a decimal {mark}, others have {other}: "
                            "write all numbers with points",
                            line,
                        )
                    text = text.replace(",", ".") if text.count(",") == 1 else text
                problem = _problem(name, text)
                if problem:
                    raise source.error(problem + self.layout.hint(line, row), line)
            ends = {row[self.layout.place[name]].strip() for name in ("src", "dst")}
            if len(ends) == 1:
                name = shorten(ends.pop())
                raise source.error(f"src and dst are both {name}: remove the self-loop", line)


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith(COMMENT)


def _plausible(src: list[str], dst: list[str], numbers: dict[str, FloatArray]) -> bool:
    group = numbers.get("group")
    return (
        all(np.isfinite(values).all() for values in numbers.values())
        and ("weight" not in numbers or bool((numbers["weight"] > 0).all()))
        and (
            group is None
            or bool(((group >= -1) & (group < _MOST_GROUPS) & (group == np.rint(group))).all())
        )
        and "" not in src
        and "" not in dst
        and not any(map(str.__eq__, src, dst))
    )


def _problem(name: str, text: str) -> str | None:
    """Error message for a field that is wrong; None if it is right."""
    if name in ("src", "dst"):
        return None if text else f"{name} is empty: name a node"
    if name == "trusted":
        known = text.lower() in (*TRUE, *FALSE)
        return None if known else f"trusted {shorten(text)} must be 1 or 0 (true/false, yes/no)"
    problem = number_problem(name, text)
    if problem is not None:
        return problem
    value = float(text)
    if name == "weight" and value <= 0:
        return f"weight {text} must be greater than 0"
    if name == "group" and (not -1 <= value < _MOST_GROUPS or value != round(value)):
        return f"group {text} must be -1 (outlier) or a whole number from 0 to {_MOST_GROUPS - 1}"
    return None


def _whole_numbers(*columns: tuple[str, ...]) -> bool:
    """Whether no number has a decimal point or an exponent."""
    return all(set("".join(column)) <= set("+-0123456789 ") for column in columns)


def _whole(text: str) -> int | None:
    """The integer whose decimal form is exactly `text`; None if there is none."""
    if len(text) > _LONGEST_NUMBER:
        return None
    # int() also accepts "1_0", " 7" and "007"; comparing with str() excludes them.
    try:
        value = int(text)
    except ValueError:
        return None
    return value if str(value) == text else None
