"""CSV and TSV: one measurement per line."""

from __future__ import annotations

import csv
from collections.abc import Hashable
from typing import Any, TextIO

import numpy as np

from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.tables.cells import guard_cell
from gnnsync.io.tables.columns import is_comment, read_columns
from gnnsync.io.tables.titles import Columns
from gnnsync.typing import IntArray
from gnnsync.units import RADIANS, Unit

# Longer names stay text: whole numbers of 18 digits and a sign fit in 64 bits.
_LONGEST_NUMBER = 18


def read_table(
    source: Source,
    unit: Unit | None = None,
    columns: Columns | None = None,
    *,
    keep_names: bool = False,
) -> MeasurementGraph:
    """Read lines `src,dst,offset[,weight]`: theta[src] - theta[dst] = offset.

    For separators, header and comments see `gnnsync.io.tables.columns.read_columns`. Node names
    are text, and nodes are numbered by first appearance; if all names are whole numbers, they
    become integers and are sorted.

    Args:
        source: the file.
        unit: of the offsets; None if it is not stated.
        columns: titles of columns, where they are not those of `gnnsync.io.tables.titles.ALIASES`.
        keep_names: leave apostrophes before names that a spreadsheet would run.
    """
    table = read_columns(source, columns, keep_names=keep_names)
    group = table.numbers.get("group")
    names, order = node_names(table.names)
    return MeasurementGraph(
        order[table.index],
        offset_radians(source.name, table.numbers["offset"], unit),
        len(order),
        weight=table.numbers.get("weight"),
        trusted=table.flags,
        group=None if group is None else group.astype(np.int64),
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
    quoted = any(map(is_comment, columns["src"]))
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
