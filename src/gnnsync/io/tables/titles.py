"""Which column of a table is which: known titles, or those that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gnnsync.errors import DataFileError, ParameterError
from gnnsync.io.input.numbers import is_natural
from gnnsync.io.input.source import shorten

# Titles by which the columns of a measurement are known, in any case; the first found counts.
ALIASES = {
    "src": ("src", "source", "from", "i", "node_a", "node_1", "node1", "node_i"),
    "dst": ("dst", "destination", "target", "to", "j", "node_b", "node_2", "node2", "node_j"),
    "offset": (
        "offset",
        "angle",
        "delta",
        "theta",
        "dtheta",
        "measurement",
        "difference",
        "angle_difference",
    ),
    "weight": ("weight",),
    "group": ("group",),
    "trusted": ("trusted", "trust", "known_inlier"),
}
# Titles that an error message lists, and characters of each.
_MOST_TITLES, _LONGEST_TITLE = 12, 30
REQUIRED = ("src", "dst", "offset")
# Columns of a table without a header.
DEFAULT = ("src", "dst", "offset", "weight")

Columns = Mapping[str, str]
"""Titles of columns that a user names: {"src": "node_a", "offset": "delta"}."""


@dataclass(frozen=True)
class Schema:
    """The columns of one kind of table.

    Args:
        aliases: titles by which each column is known, in any case; the first found counts.
        required: columns that every table has.
        default: columns of a table without a header, in their order.
        names: columns that hold names.
        numbers: columns that hold numbers.
        value: the column of numbers by which a line of data is told from a header.
        flags: column of yes and no, if there is one.
        what: what a line holds.
        positive: columns whose numbers are greater than 0, and what to do about others.
    """

    aliases: Mapping[str, tuple[str, ...]]
    required: tuple[str, ...]
    default: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    value: str
    flags: str | None = None
    what: str = "measurements"
    positive: Mapping[str, str] = field(default_factory=dict)


OFFSETS = Schema(
    ALIASES,
    REQUIRED,
    DEFAULT,
    names=("src", "dst"),
    numbers=("offset", "weight", "group"),
    value="offset",
    flags="trusted",
    positive={"weight": ""},
)


def parse_columns(text: str, schema: Schema = OFFSETS) -> dict[str, str]:
    """The titles in `src=node_a,dst=node_b,offset=delta`."""
    example = ",".join(map("{}={}".format, schema.required, "abc"))
    columns = {}
    for part in text.split(","):
        column, equals, title = part.partition("=")
        if not equals or not title.strip():
            raise ParameterError("--columns", text, f"COLUMN=TITLE pairs: {example}")
        if column.strip() in columns:
            raise ParameterError("--columns", text, f"one title for {column.strip()}")
        columns[column.strip()] = title.strip()
    return dict(check_columns(columns, "--columns", schema))


def check_columns(
    columns: Columns | None, name: str = "columns", schema: Schema = OFFSETS
) -> Columns:
    """Return the titles if they are of columns that such a table has."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        example = {schema.value: "delta"}
        raise ParameterError(name, columns, f"a dictionary such as {example}".replace("'", '"'))
    for column, title in columns.items():
        if column not in schema.aliases:
            raise ParameterError(name, column, "titles of " + ", ".join(schema.aliases))
        if not isinstance(title, str) or not title:
            raise ParameterError(f"{name}[{column}]", title, "the title of a column")
    return columns


def find_titles(
    titles: Sequence[str], columns: Columns, schema: Schema = OFFSETS
) -> dict[str, int]:
    """Place of each column of a schema among the titles of a table.

    A column that the user names is that of this title, exactly or but for its case, or that of
    this number from 1; others go by the schema's aliases. Columns that are not found are left out.

    Raises:
        DataFileError: a named title is not there, or twice.
    """
    lower = [title.strip().lower() for title in titles]
    found = {}
    for column, aliases in schema.aliases.items():
        if column in columns:
            found[column] = _place(columns[column], titles, lower)
        else:
            place = next((lower.index(alias) for alias in aliases if alias in lower), None)
            if place is not None:
                found[column] = place
    named = {column: found[column] for column in columns}
    for column, place in named.items():
        other = next((c for c, p in named.items() if p == place and c != column), None)
        if other is not None:
            raise DataFileError(
                f"column {shorten(columns[column])} is named for {column} and for {other}: name "
                "another for one of them"
            )
    return found


def check_required(
    found: Mapping[str, int], titles: Sequence[str], schema: Schema = OFFSETS
) -> None:
    """Raise a `DataFileError` if a column that every such table has was not found."""
    for column in schema.required:
        if column not in found:
            raise DataFileError(
                f"missing column {column!r} (found: {_listed(titles)}): name it by "
                f"--columns {column}=TITLE"
            )


def _place(title: str, titles: Sequence[str], lower: Sequence[str]) -> int:
    for wanted, listed in ((title, [name.strip() for name in titles]), (title.lower(), lower)):
        if listed.count(wanted) == 1:
            return listed.index(wanted)
        if listed.count(wanted) > 1:
            raise DataFileError(f"column {shorten(title)} is there twice: rename one of them")
    if is_natural(title) and 1 <= int(title) <= len(titles):
        return int(title) - 1
    raise DataFileError(f"no column {shorten(title)} (found: {_listed(titles)}): name one of these")


def _listed(titles: Sequence[str]) -> str:
    """The titles of a table, for an error message."""
    shown = [str(title)[:_LONGEST_TITLE] for title in titles[:_MOST_TITLES]]
    more = len(titles) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
