"""The layout of a table: separator, header and columns, from its first line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gnnsync.errors import DataFileError
from gnnsync.io.input.numbers import is_number
from gnnsync.io.input.source import Source
from gnnsync.io.tables.titles import OFFSETS, Columns, Schema, check_required, find_titles

# Separators in the order in which they are tried, and of a line that fits none.
_SEPARATORS, _USUAL = "\t;,", "\t,;"
_LONGEST_TITLE = 40  # characters of a title in a hint
_DIGITS = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """How the lines of a table are divided.

    Args:
        delimiter: separator of the fields; None for white space.
        place: number of each column of a measurement, from 0.
        width: fields of a line.
        first_line: number of the line that the layout was found from.
        has_header: whether that line is a header.
        schema: the columns of this kind of table.
    """

    delimiter: str | None
    place: dict[str, int]
    width: int
    first_line: int
    has_header: bool
    schema: Schema = OFFSETS

    def split(self, source: Source, first_line: int, lines: list[str]) -> list[list[str]]:
        """Fields of each line, [] for a blank one."""
        return split_lines(source, first_line, lines, self.delimiter)

    @property
    def may_cut_numbers(self) -> bool:
        """Whether `a,b,1,5` has an offset of 1.5 for some writers, and of 1 with weight 5 here."""
        whole = self.width == len(self.schema.default) == 4
        return self.delimiter == "," and whole and not self.has_header

    def hint(self, line: int, row: list[str]) -> str:
        """What a first line without any number may be."""
        if self.has_header or line != self.first_line or any(map(is_number, row)):
            return ""
        if row[-1].strip().lstrip("+-\N{MINUS SIGN}.")[:1].isdigit():  # 30°, 0x1F: no title
            return ""
        shown = (entry.strip()[:_LONGEST_TITLE] for entry in row)
        titles = dict(zip(self.schema.required, shown, strict=False))
        named = ",".join(f"{column}={title}" for column, title in titles.items())
        return f"; if this line is a header, name its columns: --columns {named}"


def find_layout(
    source: Source,
    line: int,
    first: str,
    columns: Columns,
    comment: str,
    schema: Schema = OFFSETS,
) -> Layout:
    """The layout of a table with this first line that is neither blank nor a comment.

    The separator is the first of tab, semicolon, comma and white space with which the line is a
    header, or has a number where one is due. A header lists the columns in any order, and columns
    of other titles are ignored; the comment before the first line counts as one if it names the
    columns.

    Args:
        source: the file, for errors.
        line: number of the line.
        first: its text.
        columns: titles of columns that the user names.
        comment: the last comment before the line.
        schema: the columns of this kind of table.
    """
    # A semicolon with a number behind it divides the line, even if there are commas too.
    likely = [*(mark for mark in _SEPARATORS if mark in first), None]
    usual = next((mark for mark in _USUAL if mark in first), None)
    chosen = next((mark for mark in likely if _fits(first, mark, columns, schema)), usual)
    row = [entry.strip() for entry in split_lines(source, line, [first], chosen)[0]]
    try:
        found = _titles_of(row, columns, _quick_split(comment.strip(), chosen), schema)
    except DataFileError as error:
        raise source.error(str(error), line) from None
    if found is not None:
        is_header = _is_header(row, columns, schema)
        return Layout(chosen, found, len(row), line, is_header, schema)
    *others, last = schema.required
    if len(row) == 1:
        raise source.error(
            f"one field: separate {', '.join(others)} and {last} by commas, semicolons, tabs or "
            "spaces",
            line,
        )
    least, most = len(schema.required), len(schema.default)
    if not least <= len(row) <= most:
        further = "".join(f"[, {name}]" for name in schema.default[least:])
        numbered = ",".join(f"{name}={i}" for i, name in enumerate(schema.required, 1))
        raise source.error(
            f"{len(row)} fields and no header: must be {', '.join(schema.required)}{further}; a "
            f"header, or --columns {numbered}, says which is which",
            line,
        )
    place = dict(zip(schema.default, range(len(row)), strict=False))
    return Layout(chosen, place, len(row), line, False, schema)


def _titles_of(
    row: list[str], columns: Columns, comment: list[str], schema: Schema
) -> dict[str, int] | None:
    """Places of the columns by a header, a comment or the user; None if none of them names any."""
    if _is_header(row, columns, schema):
        found = find_titles(row, columns, schema)
        check_required(found, row, schema)
        return found
    titles = [entry.strip() for entry in comment]
    if len(titles) == len(row):
        found = find_titles(titles, columns, schema)
        if set(schema.required) <= found.keys():
            return found
    if columns:  # by numbers, or titles that the file does not have
        found = find_titles([str(i + 1) for i in range(len(row))], columns, schema)
        check_required(found, row, schema)
        return found
    return None


def split_lines(
    source: Source, first_line: int, lines: list[str], delimiter: str | None
) -> list[list[str]]:
    """Fields of each line, [] for a blank one."""
    if delimiter is None:
        return [line.split() for line in lines]
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise source.error(
            f"{error}: correct the quotes of the line", first_line + reader.line_num - 1
        ) from None
    if len(rows) != len(lines):
        raise source.error(
            "a quoted field runs over the end of a line: close the quote", first_line
        )
    return [row if len(row) > 1 or "".join(row).strip() else [] for row in rows]


def _rows(lines: list[str], delimiter: str | None) -> Iterator[list[str]]:
    if delimiter is None:
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _quick_split(text: str, delimiter: str | None) -> list[str]:
    return text.split() if delimiter is None else text.split(delimiter)


def _fits(first: str, delimiter: str | None, columns: Columns, schema: Schema) -> bool:
    """Whether the line, divided so, is a whole header or has a number where one is due."""
    try:
        row = next(_rows([first], delimiter), [])
    except csv.Error:
        return False
    row = [entry.strip() for entry in row]
    try:
        titles = find_titles(row, columns, schema).keys()
        if set(schema.required) <= titles and _is_header(row, columns, schema):
            return True
        numbered = find_titles([str(i + 1) for i in range(len(row))], columns, schema)
    except DataFileError:
        return False
    place = numbered.get(schema.value, schema.default.index(schema.value))
    if place >= len(row):
        return False
    entry = row[place]
    # With points and commas mixed it is no number, but the separator is right.
    return is_number(entry) or (delimiter != "," and bool(_DIGITS.fullmatch(entry)))


def _is_header(row: list[str], columns: Columns, schema: Schema) -> bool:
    """Whether a line has the title of a column, and no number where one would be."""
    place = schema.default.index(schema.value)
    if len(row) > place and is_number(row[place].replace(",", ".")):
        return False
    listed = [entry.lower() for entry in row]
    if any(title.lower() in listed for title in columns.values()):
        return True
    return bool(find_titles(row, {}, schema))
