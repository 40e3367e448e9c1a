"""`read_distances` and `as_distances`: distance networks from files and from objects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError, ParameterError
from gnnsync.io.distances.anchor_table import with_anchors
from gnnsync.io.distances.network import merged_network, network_from_columns
from gnnsync.io.distances.schema import DISTANCES
from gnnsync.io.graph_file import file_format
from gnnsync.io.input.encoding import check_encoding
from gnnsync.io.input.source import Progress, Source
from gnnsync.io.objects import array_of, sequence_columns, titles_of
from gnnsync.io.tables.arrays import choose_columns
from gnnsync.io.tables.columns import read_columns
from gnnsync.io.tables.parquet import read_parquet_columns
from gnnsync.io.tables.table import node_names
from gnnsync.io.tables.titles import Columns, check_columns

FORMATS = ("csv", "tsv", "parquet")
_KINDS = (
    "a DistanceNetwork, a file name, a DataFrame, a SciPy sparse matrix of distances, an array "
    "(m, 3) or (m, 4), a tuple (i, j, distance) or a list of rows"
)


def read_distances(
    path: str | os.PathLike[str],
    *,
    anchors: Any = None,
    format: str | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
    keep_names: bool = False,
    progress: Progress | None = None,
) -> DistanceNetwork:
    """Read measured distances: lines `i,j,distance[,sigma]`, sigma the standard deviation.

    Names, header, separators, comments and compression are as in `gnnsync.read`. Repeated
    distances of a pair are merged to their weighted mean.

    Args:
        path: `.csv`, `.tsv`, `.txt` (also `.gz`) or `.parquet`, or `-` for standard input.
        anchors: known positions: the name of a file with lines `name,x,y`, or what else
            `gnnsync.locate` accepts.
        format: csv, tsv or parquet; by default the file's ending, and csv for standard input.
        columns: titles of the columns, where they are not known ones: {"distance": "metres"}.
        encoding: of the text files, such as `latin-1`.
        keep_names: see `gnnsync.read`.
        progress: called with (bytes read, bytes in total).

    Raises:
        DataFileError: a file cannot be read; the message states file, line and field.
    """
    source = Source(path, progress, check_encoding(encoding))
    kind = file_format(source, format)
    if kind not in FORMATS:
        raise source.error(f"is {kind}: distances are read from {', '.join(FORMATS)}")
    named = check_columns(columns, schema=DISTANCES)
    if kind == "parquet" and encoding is not None:
        raise ParameterError("encoding", encoding, "used with text, not with parquet")
    with source.named_errors():
        if kind == "parquet":
            found = read_parquet_columns(source, named, DISTANCES)
            network = network_from_columns(source.name, found)
        else:
            table = read_columns(source, named, DISTANCES, keep_names=keep_names)
            names, order = node_names(table.names)
            numbers = table.numbers
            network = merged_network(
                source.name,
                order[table.index],
                numbers["distance"],
                numbers.get("sigma"),
                names,
                len(order),
            )
    return with_anchors(network, anchors, encoding=encoding, keep_names=keep_names)


def as_distances(
    data: Any, anchors: Any = None, *, columns: Columns | None = None
) -> DistanceNetwork:
    """A distance network from whatever holds the distances.

    ==========================  ====================================================================
    `data`                      distances
    ==========================  ====================================================================
    DistanceNetwork             itself
    file name                   see `read_distances`
    DataFrame                   one per row, columns i, j, distance[, sigma]; pandas, polars, a
                                PyArrow table or a dictionary of columns
    SciPy sparse matrix         stored entry (i, j); one of (i, j) and (j, i), or both
    array (m, 3) or (m, 4)      rows i, j, distance[, sigma], with points as whole numbers
    tuple of 3 or 4 sequences   i, j, distance[, sigma]
    list of rows                (i, j, distance[, sigma]) each
    ==========================  ====================================================================

    Args:
        data: the distances.
        anchors: known positions, see `gnnsync.io.distances.anchor_table.with_anchors`; None leaves
            those of a `DistanceNetwork`.
        columns: titles of the columns of a table, where they are not known ones.
    """
    named = check_columns(columns, schema=DISTANCES)
    if isinstance(data, str | os.PathLike):
        return read_distances(Path(data) if data != "-" else data, anchors=anchors, columns=named)
    titles = titles_of(data)
    if titles is not None and not isinstance(data, DistanceNetwork):
        chosen = choose_columns([str(title) for title in titles], named, DISTANCES)
        keys = {str(title): title for title in titles}
        arrays = {column: array_of(data[keys[title]]) for column, title in chosen.items()}
        return with_anchors(network_from_columns("the table", arrays), anchors)
    if named:
        raise ParameterError("columns", columns, "left out, for the data have no titles")
    if isinstance(data, DistanceNetwork):
        return with_anchors(data, anchors)
    if sp.issparse(data):
        return with_anchors(_from_matrix(data), anchors)
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.shape[1] not in (3, 4):
            raise GraphError(f"the array has shape {data.shape}: must be (m, 3) or (m, 4)")
        found = dict(zip(DISTANCES.default, data.T, strict=False))
        return with_anchors(network_from_columns("the array", found), anchors)
    if isinstance(data, tuple | list):
        found = sequence_columns(data, DISTANCES)
        return with_anchors(network_from_columns("the distances", found), anchors)
    raise ParameterError("distances", data, _KINDS)


def _from_matrix(data: Any) -> DistanceNetwork:
    """A matrix (n, n) with a distance, or both of its two entries, for each measured pair."""
    matrix = sp.coo_array(data)
    n = matrix.shape[0]
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise GraphError(f"the matrix has shape {matrix.shape}: must be (n, n)")
    distance = np.asarray(matrix.data, dtype=np.float64)
    return merged_network(
        "the matrix", np.stack([matrix.row, matrix.col]).astype(np.int64), distance, None, None, n
    )
