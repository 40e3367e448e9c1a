"""Reading the lines of a table of text: separator, header, names, numbers, errors with the line."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from gnnsync.io.input.numbers import number_problem
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.tables.cells import plain_cell
from gnnsync.io.tables.layout import Layout, find_layout
from gnnsync.io.tables.titles import OFFSETS, Columns, Schema
from gnnsync.typing import BoolArray, FloatArray, IntArray

COMMENT = "#"
# Larger groups are no numbers of sets of angles.
_MOST_GROUPS = 1_000_000
TRUE, FALSE = ("1", "true", "yes"), ("0", "false", "no")

# What may be meant by lines such as a,b,1,5.
_CUT = (
    "{}: third and fourth fields are whole numbers, READ AS {} AND {}: if 1,5 means 1.5, "
    "write 1.5 or put semicolons between the fields; if not, --columns {} or a header says so"
)


class DecimalCommaWarning(UserWarning):
    """Numbers with decimal commas may have been read as two numbers."""


@dataclass(frozen=True, eq=False)
class TableColumns:
    """The columns of a table, as they were read.

    Args:
        names: distinct names of the file, by first appearance.
        index: (c, m) numbers of the names in the c columns of names.
        numbers: columns (m,) of numbers by their name.
        flags: (m,) the column of yes and no, if there is one.
        line: (m,) number of each line in the file.
    """

    names: list[str]
    index: IntArray
    numbers: dict[str, FloatArray]
    flags: BoolArray | None
    line: IntArray


def read_columns(
    source: Source,
    columns: Columns | None = None,
    schema: Schema = OFFSETS,
    *,
    keep_names: bool = False,
) -> TableColumns:
    """Read a table of this schema.

    The first line determines the separator (comma, tab, semicolon, else white space), whether
    there is a header, and which column is which (`gnnsync.io.tables.layout`). Lines that begin
    with `#` are comments. With a separator other than the comma, numbers may have decimal commas.

    Args:
        source: the file.
        columns: titles of columns, where they are not those of the schema.
        schema: the columns of this kind of table.
        keep_names: leave apostrophes before names that a spreadsheet would run.
    """
    table = _Table(columns or {}, schema, keep_names)
    for first_line, lines in source.blocks():
        table.add(source, first_line, lines)
    if not table.index:
        raise source.error(f"holds no {schema.what}: give lines {','.join(schema.required)}")
    numbers = {name: np.concatenate(values) for name, values in table.numbers.items()}
    if table.whole and len(np.unique(numbers[schema.default[3]])) > 1:
        third, fourth = (name.upper() for name in schema.default[2:4])
        named = ",".join(f"{name}={i}" for i, name in enumerate(schema.default, 1))
        warning = _CUT.format(source.name, third, fourth, named)
        warnings.warn(warning, DecimalCommaWarning, stacklevel=4)
    return TableColumns(
        list(table.number),
        np.concatenate(table.index, axis=1),
        numbers,
        np.concatenate(table.flags) if table.flags else None,
        np.concatenate(table.line),
    )


@dataclass
class _Table:
    """The columns read so far; the layout is determined by the first line."""

    columns: Columns
    schema: Schema
    keep_names: bool = False
    layout: Layout | None = None
    comment: str = ""
    commas: bool = False
    points: bool = False
    whole: bool = True
    number: dict[str, int] = field(default_factory=dict)
    index: list[IntArray] = field(default_factory=list)
    numbers: dict[str, list[FloatArray]] = field(default_factory=dict)
    flags: list[BoolArray] = field(default_factory=list)
    line: list[IntArray] = field(default_factory=list)

    def add(self, source: Source, first_line: int, lines: list[str]) -> None:
        if COMMENT in "".join(lines):
            lines = self._without_comments(lines)
        if self.layout is None:
            start = next((i for i, line in enumerate(lines) if line.strip()), None)
            if start is None:
                return
            line, first = first_line + start, lines[start]
            self.layout = find_layout(source, line, first, self.columns, self.comment, self.schema)
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
            names = [self._names(column[place[name]]) for name in self.schema.names]
            numbers = {
                name: self._numbers(column[place[name]])
                for name in self.schema.numbers
                if name in place
            }
            flags = self._flags(column)
        except ValueError:
            self._explain(source, first_line, rows)
            raise source.error(
                "cannot be read: give numbers with decimal points", first_line
            ) from None
        if not _plausible(names, numbers, self.schema):
            self._explain(source, first_line, rows)
        if self.whole and not self.columns and self.layout.may_cut_numbers:
            third, fourth = (column[place[name]] for name in self.schema.default[2:4])
            self.whole = _whole_numbers(third, fourth)
        else:
            self.whole = False
        self._keep(names, numbers, flags)
        self.line.append(first_line + np.flatnonzero([bool(row) for row in rows]))

    def _keep(
        self, names: list[list[str]], numbers: dict[str, FloatArray], flags: BoolArray | None
    ) -> None:
        number = self.number
        for name in chain.from_iterable(zip(*names, strict=True)):
            if name not in number:
                number[name] = len(number)
        sides = [np.fromiter(map(number.__getitem__, side), np.int64) for side in names]
        self.index.append(np.stack(sides))
        for name, values in numbers.items():
            self.numbers.setdefault(name, []).append(values)
        if flags is not None:
            self.flags.append(flags)

    def _without_comments(self, lines: list[str]) -> list[str]:
        """The lines with empty ones in place of comments; the last before the data is kept."""
        kept = []
        for line in lines:
            if not is_comment(line):
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
        earlier = self.numbers.get(self.schema.value, [])
        fractions = [values for values in earlier if not (values == np.rint(values)).all()]
        self.points = self.points or (bool(fractions) and not self.commas)
        if "." in text or self.points:
            raise ValueError
        values = np.array([float(entry.replace(",", ".", 1)) for entry in texts])
        self.commas = self.commas or "," in text
        return values

    def _flags(self, column: list[tuple[str, ...]]) -> BoolArray | None:
        """The column of flags, if there is one; raises `ValueError` if an entry is neither."""
        assert self.layout is not None
        title = self.schema.flags
        if title is None or title not in self.layout.place:
            return None
        words = [text.strip().lower() for text in column[self.layout.place[title]]]
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
                if name in self.schema.numbers and self.layout.delimiter != ",":
                    points, commas = points or "." in text, commas or "," in text
                    if points and commas:
                        mark, other = ("comma", "points") if "," in text else ("point", "commas")
                        raise source.error(
                            f"{name} {shorten(text)} has a decimal {mark}, others have {other}: "
                            "write all numbers with points",
                            line,
                        )
                    text = text.replace(",", ".") if text.count(",") == 1 else text
                problem = _problem(name, text, self.schema)
                if problem:
                    raise source.error(problem + self.layout.hint(line, row), line)
            ends = {row[self.layout.place[name]].strip() for name in self.schema.names}
            if len(ends) < len(self.schema.names):
                both = " and ".join(self.schema.names)
                name = shorten(ends.pop())
                raise source.error(f"{both} are both {name}: remove the self-loop", line)


def is_comment(text: str) -> bool:
    """Whether a line is a comment."""
    return text.lstrip().startswith(COMMENT)


def _plausible(names: list[list[str]], numbers: dict[str, FloatArray], schema: Schema) -> bool:
    group = numbers.get("group")
    return (
        all(np.isfinite(values).all() for values in numbers.values())
        and all((numbers[name] > 0).all() for name in schema.positive if name in numbers)
        and (
            group is None
            or bool(((group >= -1) & (group < _MOST_GROUPS) & (group == np.rint(group))).all())
        )
        and not any("" in side for side in names)
        and (len(names) < 2 or not any(map(str.__eq__, *names)))
    )


def _problem(name: str, text: str, schema: Schema) -> str | None:
    """Error message for a field that is wrong; None if it is right."""
    if name in schema.names:
        return None if text else f"{name} is empty: name a node"
    if name == schema.flags:
        known = text.lower() in (*TRUE, *FALSE)
        return None if known else f"{name} {shorten(text)} must be 1 or 0 (true/false, yes/no)"
    problem = number_problem(name, text)
    if problem is not None:
        return problem
    value = float(text)
    if name in schema.positive and value <= 0:
        remedy = schema.positive[name]
        return f"{name} {text} must be greater than 0" + (remedy and f": {remedy}")
    if name == "group" and (not -1 <= value < _MOST_GROUPS or value != round(value)):
        return f"group {text} must be -1 (outlier) or a whole number from 0 to {_MOST_GROUPS - 1}"
    return None


def _whole_numbers(*columns: tuple[str, ...]) -> bool:
    """Whether no number has a decimal point or an exponent."""
    return all(set("".join(column)) <= set("+-0123456789 ") for column in columns)
