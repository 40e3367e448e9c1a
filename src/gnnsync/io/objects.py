"""`as_graph`: measurements that are in memory already, in the kinds of object people have."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import GraphError, ParameterError
from gnnsync.graph import MeasurementGraph
from gnnsync.graph.conversion import stored_entries
from gnnsync.io.graph_file import read
from gnnsync.io.input.offsets import offset_radians
from gnnsync.io.tables.arrays import choose_columns, graph_from_columns
from gnnsync.io.tables.titles import ALIASES, DEFAULT, OFFSETS, Columns, Schema, check_columns
from gnnsync.units import Unit, find_unit

# Relative difference of H and its conjugate transpose that is rounding.
_ROUNDING = 1e-9
_KINDS = (
    "a MeasurementGraph, a file name, a DataFrame, a NetworkX graph, a SciPy sparse matrix, an "
    "array (m, 3) or (n, n), or a tuple (src, dst, offset)"
)


def as_graph(
    data: Any, *, columns: Columns | None = None, unit: str | Unit | None = None
) -> MeasurementGraph:
    """A measurement graph from whatever holds the measurements theta[src] - theta[dst] = offset.

    ==========================  ====================================================================
    `data`                      measurements
    ==========================  ====================================================================
    MeasurementGraph            itself
    file name                   see `gnnsync.read`
    DataFrame                   one per row; pandas, polars, a PyArrow table, or a dictionary of
                                columns. Titles as in a file, or named by `columns`.
    NetworkX graph              one per edge with the attribute `offset`. (u, v) of a directed graph
                                measures theta[u] - theta[v]; an edge of an undirected graph
                                measures theta[u] - theta[v] for u < v.
    SciPy sparse matrix         stored entry (i, j) is theta[i] - theta[j], a stored zero included.
                                A complex entry is w·exp(i·offset), with its modulus as weight; of
                                a Hermitian matrix the upper triangle is taken.
    array (m, 3) or (m, 4)      rows src, dst, offset[, weight], with nodes as whole numbers
    array (n, n)                entry (i, j) is theta[i] - theta[j]; zero is no measurement. Complex
                                as above. An array of 3 × 3 or 4 × 4 could be either and is refused.
    tuple of 3 or 4 sequences   src, dst, offset[, weight]
    list of rows                (src, dst, offset[, weight]) each
    ==========================  ====================================================================

    Args:
        data: the measurements.
        columns: titles of columns or edge attributes, such as {"src": "node_a", "offset": "delta"}.
        unit: of the offsets: `radians`, `degrees` or `turns`; by default radians, with a
            `UnitWarning` if they look like degrees.
    """
    named = check_columns(columns)
    if isinstance(data, str | os.PathLike):
        return read(data, columns=columns, unit=unit)
    given = None if unit is None else find_unit(unit)
    if isinstance(data, MeasurementGraph):
        if named or given is not None:
            raise ParameterError("unit", unit, "left out with a MeasurementGraph, like columns")
        return data
    if hasattr(data, "is_directed") and hasattr(data, "edges"):
        return _from_networkx(data, named, given)
    titles = titles_of(data)
    if titles is not None:
        chosen = choose_columns([str(title) for title in titles], named)
        keys = {str(title): title for title in titles}
        arrays = {column: array_of(data[keys[title]]) for column, title in chosen.items()}
        return graph_from_columns("the table", arrays, given)
    if named:
        raise ParameterError("columns", columns, "left out, for the data have no titles")
    if sp.issparse(data):
        return _from_matrix(stored_entries(data), given)
    if isinstance(data, np.ndarray):
        return _from_array(data, given)
    if isinstance(data, tuple | list):
        return _from_sequences(data, given)
    raise ParameterError("graph", data, _KINDS)


def titles_of(data: Any) -> Sequence[Any] | None:
    """Titles of the columns of a table; None for what is none."""
    if isinstance(data, Mapping):
        return list(data)
    if not hasattr(data, "__getitem__") or sp.issparse(data):
        return None
    names = getattr(data, "column_names", None)
    names = getattr(data, "columns", None) if names is None else names
    return None if names is None else list(names)


def array_of(column: Any) -> Any:
    """A column as an array: by its own conversion, if it has one."""
    convert = getattr(column, "to_numpy", None)
    return np.asarray(column) if convert is None else convert()


def _from_networkx(data: Any, columns: Columns, unit: Unit | None) -> MeasurementGraph:
    edges = list(data.edges(data=True))
    if not data.is_directed():
        try:
            edges = [(u, v, kept) if u < v else (v, u, kept) for u, v, kept in edges]
        except TypeError:
            raise GraphError(
                "nodes of the undirected graph have no order u < v: use networkx.DiGraph"
            ) from None
    found: dict[str, Any] = {"src": _objects([u for u, _, _ in edges])}
    found["dst"] = _objects([v for _, v, _ in edges])
    for column in ("offset", "weight", "group", "trusted"):
        wanted = [columns[column]] if column in columns else ALIASES[column]
        title = next((name for name in wanted if any(name in kept for *_, kept in edges)), None)
        missing = [(u, v) for u, v, kept in edges if title is not None and title not in kept]
        if missing or (title is None and column in ("offset", *columns)):
            edge = f"edge {missing[0]}" if missing else "the graph"
            raise GraphError(
                f"{edge} has no attribute {title or wanted[0]!r}: set it, or name another one by "
                f"columns={{{column!r}: ...}}"
            )
        if title is not None:
            found[column] = np.array([kept[title] for *_, kept in edges])
    return graph_from_columns("the graph", found, unit, nodes=list(data.nodes))


def _objects(names: list[Any]) -> Any:
    """Names of any kind as they are: NumPy would make text of mixed ones, and rows of tuples."""
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _from_matrix(matrix: sp.coo_array, unit: Unit | None) -> MeasurementGraph:
    """A square matrix of offsets, or of phases w·exp(i·offset)."""
    if matrix.data.dtype.kind != "c":
        offset = offset_radians("the matrix", matrix.data, unit)
        return MeasurementGraph.from_adjacency(
            sp.coo_array((offset, (matrix.row, matrix.col)), shape=matrix.shape)
        )
    if unit is not None:
        raise ParameterError("unit", unit.name, "left out with a complex matrix of phases")
    difference = abs(matrix - matrix.conj().T)
    size = np.abs(matrix.data).max(initial=0.0)
    hermitian = matrix.shape[0] == matrix.shape[1] and difference.max() <= _ROUNDING * size
    kept = (matrix.row < matrix.col) if hermitian else (matrix.row != matrix.col)
    kept &= matrix.data != 0
    weight = np.abs(matrix.data[kept])
    plain = bool(np.allclose(weight, 1.0, rtol=_ROUNDING))
    part = sp.coo_array(
        (np.angle(matrix.data[kept]), (matrix.row[kept], matrix.col[kept])), shape=matrix.shape
    )
    return MeasurementGraph.from_adjacency(part, weight=None if plain else weight)


def _from_array(data: np.ndarray, unit: Unit | None) -> MeasurementGraph:
    rows = data.ndim == 2 and data.shape[1] in (3, 4)
    square = data.ndim == 2 and data.shape[0] == data.shape[1]
    if rows and square:
        raise GraphError(
            f"an array of shape {data.shape} may hold rows src, dst, offset, or a matrix: give a "
            "tuple (src, dst, offset), or use MeasurementGraph.from_adjacency"
        )
    if square:
        return _from_matrix(sp.coo_array(data), unit)
    if not rows:
        raise GraphError(f"the array has shape {data.shape}: must be (m, 3), (m, 4) or (n, n)")
    return graph_from_columns("the array", dict(zip(DEFAULT, data.T, strict=False)), unit)


def _from_sequences(data: tuple[Any, ...] | list[Any], unit: Unit | None) -> MeasurementGraph:
    return graph_from_columns("the measurements", sequence_columns(data), unit)


def sequence_columns(
    data: tuple[Any, ...] | list[Any], schema: Schema = OFFSETS
) -> dict[str, np.ndarray]:
    """The columns of a tuple of columns, or of a list of rows, in the order of the schema."""
    least, most = len(schema.required), len(schema.default)
    *first, last = schema.default
    order = f"({', '.join(first)}[, {last}])" if most > least else f"({', '.join(schema.default)})"
    if isinstance(data, list):
        widths = {len(row) if isinstance(row, list | tuple | np.ndarray) else 0 for row in data}
        if len(widths) != 1 or not all(least <= width <= most for width in widths):
            raise GraphError(f"a list of {schema.what} must hold rows {order}")
        data = tuple(zip(*data, strict=True))
    if not least <= len(data) <= most:
        raise GraphError(f"a tuple of {len(data)}: must be columns {order}")
    columns = {}
    for title, values in zip(schema.default, data, strict=False):
        listed = values.tolist() if hasattr(values, "tolist") else list(values)
        columns[title] = _objects(listed) if title in schema.names else np.asarray(listed)
    lengths = {title: len(values) for title, values in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{title} {size}" for title, size in lengths.items())
        raise GraphError(f"columns of different lengths ({sizes}): give one entry per measurement")
    return columns
