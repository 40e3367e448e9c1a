"""Measurement graphs from columns of numbers and names, wherever the columns come from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.errors import DataFileError, GnnsyncError, GraphError, first_line, printable
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.tables.columns import FALSE, TRUE
from gnnsync.io.tables.table import node_names
from gnnsync.io.tables.titles import OFFSETS, Columns, Schema, check_required, find_titles
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import Unit


def choose_columns(
    titles: Sequence[str], columns: Columns, schema: Schema = OFFSETS
) -> dict[str, str]:
    """The title of each column of a schema; one that is missing raises `DataFileError`."""
    found = find_titles(titles, columns, schema)
    check_required(found, titles, schema)
    return {column: titles[place] for column, place in found.items()}


def graph_from_columns(
    name: str,
    columns: Mapping[str, Any],
    unit: Unit | None = None,
    nodes: Sequence[Hashable] = (),
) -> MeasurementGraph:
    """A graph from columns src, dst, offset and, if there are any, weight, group and trusted.

    Names are numbered as in a file: whole numbers are sorted, others go by first appearance.

    Args:
        name: where the columns come from, for errors and warnings.
        columns: (m,) each.
        unit: of the offsets; None if it is not stated.
        nodes: further nodes, which may have no measurement.
    """
    try:
        if not len(columns["offset"]):
            raise GraphError("holds no measurements: give rows src, dst, offset")
        names, index, n = number_names(
            name_column(columns, "src"), name_column(columns, "dst"), nodes
        )
        fields = {
            "weight": real_column(columns, "weight"),
            "group": real_column(columns, "group"),
            "trusted": _flags(columns),
        }
        return MeasurementGraph(
            index,
            offset_radians(name, _required_real(columns, "offset"), unit),
            n,
            node_names=names,
            **{key: value for key, value in fields.items() if value is not None},  # type: ignore[arg-type]
        )
    except GnnsyncError as error:
        raise DataFileError(printable(f"{name}: {first_line(error)}")) from None


def name_column(columns: Mapping[str, Any], side: str) -> list[Hashable]:
    """Names of nodes: whole numbers as integers, others as they are; a missing one is refused."""
    listed = [_name(value) for value in np.asarray(columns[side]).tolist()]
    for row, value in enumerate(listed):
        if value is None or value != value or value == "":
            raise GraphError(f"{side} of row {row} is missing: name a node, or remove the row")
        if isinstance(value, float):
            raise GraphError(f"{side} of row {row} is {value}: a node is a whole number or text")
    return listed


def _name(value: Any) -> Hashable:
    """A whole number as an integer, whatever type its column has; text without blanks around."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.strip() if isinstance(value, str) else value


def number_names(
    src: list[Hashable], dst: list[Hashable], nodes: Sequence[Hashable] = ()
) -> tuple[tuple[Hashable, ...] | None, IntArray, int]:
    """Distinct names (None if they are the numbers), numbers (2, m) of each edge, and n."""
    try:
        ends = (end for pair in zip(src, dst, strict=True) for end in pair)
        seen = dict.fromkeys([*nodes, *ends])
    except TypeError:
        raise GraphError("a node name is not hashable: use text, numbers or tuples") from None
    whole = all(isinstance(name, int) and not isinstance(name, bool) for name in seen)
    if whole or all(isinstance(name, str) for name in seen):
        names, order = node_names([str(name) for name in seen])
    else:
        names, order = tuple(seen), np.arange(len(seen))
    number = dict(zip(seen, order.tolist(), strict=True))
    index = [np.fromiter(map(number.__getitem__, side), np.int64, len(side)) for side in (src, dst)]
    return names, np.stack(index), len(order)


def _required_real(columns: Mapping[str, Any], title: str) -> FloatArray:
    values = real_column(columns, title)
    assert values is not None
    return values


def real_column(columns: Mapping[str, Any], title: str) -> FloatArray | None:
    """A column of finite numbers; None if there is none."""
    if title not in columns:
        return None
    array: NDArray[Any] = np.asarray(columns[title])
    try:
        values = array.astype(np.float64)
    except (TypeError, ValueError):
        raise GraphError(f"{title} holds {array.dtype}: must hold numbers") from None
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise GraphError(f"{title} of row {row} is {array[row]}: correct it or remove the row")
    return values


def _flags(columns: Mapping[str, Any]) -> BoolArray | None:
    """The column of trusted measurements; None if there is none."""
    if "trusted" not in columns:
        return None
    array = np.asarray(columns["trusted"])
    if array.dtype == bool:
        return array
    words = [str(value).strip().lower().removesuffix(".0") for value in array.tolist()]
    for row, word in enumerate(words):
        if word not in (*TRUE, *FALSE):
            raise GraphError(f"trusted of row {row} is {word}: must be 1 or 0 (true/false, yes/no)")
    return np.array([word in TRUE for word in words])
