"""`read` and `write`: measurement graphs in all supported formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gnnsync.errors import ParameterError, check_choice
from gnnsync.io.files import atomic_output
from gnnsync.io.input.encoding import check_encoding
from gnnsync.io.input.source import STDIN, Progress, Source
from gnnsync.io.matrices.mtx import read_mtx, write_mtx
from gnnsync.io.matrices.npz import read_npz, write_npz
from gnnsync.io.poses.g2o import read_g2o, write_g2o
from gnnsync.io.tables.parquet import read_parquet, write_parquet
from gnnsync.io.tables.table import read_table, table_columns, write_table
from gnnsync.io.tables.titles import Columns, check_columns
from gnnsync.pose_graph import odometry_edges
from gnnsync.units import RADIANS, Unit, input_unit

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph

FORMATS = ("csv", "tsv", "g2o", "npz", "mtx", "parquet")
_TABLES = ("csv", "tsv", "parquet")
_BINARY = ("npz", "parquet")
TRUST = ("odometry", "none")
_ENDINGS = {f".{name}": name for name in FORMATS} | {".txt": "csv"}
# Endings of other kinds of files, and what to do with them.
_OTHER_KINDS = (
    dict.fromkeys((".zip", ".7z", ".tar", ".tgz"), "extract the file from the archive")
    | dict.fromkeys((".xls", ".xlsx", ".ods"), "save the sheet as CSV")
    | dict.fromkeys((".bz2", ".xz", ".zst"), "expand it, or compress it by gzip")
    | {".json": "write it as CSV with the columns src,dst,offset"}
)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    unit: str | Unit | None = None,
    degrees: bool = False,
    trust: str | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
    keep_names: bool = False,
    progress: Progress | None = None,
) -> MeasurementGraph:
    """Read a measurement graph.

    Args:
        path: file, or `-` for standard input.
        format: csv, tsv, g2o, npz, mtx or parquet; by default the file's ending, and csv for
            standard input and `.txt`. csv and tsv both detect the separator. Text may be
            compressed by gzip (`offsets.csv.gz`).
        unit: of the offsets: `radians`, `degrees` or `turns` (g2o is always in radians). By default
            radians, with a `UnitWarning` if a tenth of the offsets are larger than 2π.
        degrees: the same as `unit="degrees"`.
        trust: measurements known to be inliers. `odometry`: edges between consecutive whole-number
            node names; `none`: no edge; None: `odometry` for g2o, else those that the file's own
            field `trusted` names.
        columns: titles of the columns of a table, where they are not known ones:
            {"src": "node_a", "dst": "node_b", "offset": "delta"}. A title may be a number from 1.
        encoding: of a text file, such as `latin-1`; by default UTF-8, or UTF-16 with its mark.
        keep_names: read names such as `'=1+1` as they are; by default an apostrophe before what
            a spreadsheet would run is left out, as `write` puts it there.
        progress: called with (bytes read, bytes in total) while a text format is read.

    Raises:
        DataFileError: the file cannot be read; the message states file, line and field.
    """
    source = Source(path, progress, check_encoding(encoding))
    kind, given = file_format(source, format), input_unit(unit, degrees)
    named = check_columns(columns)
    if named and kind not in _TABLES:
        raise ParameterError("columns", dict(named), f"used with a table, not with {kind}")
    if encoding is not None and kind in _BINARY:
        raise ParameterError("encoding", encoding, f"used with text, not with {kind}")
    if kind == "g2o":
        check_g2o_unit(source, given)
        trust = trust or "odometry"
    with source.named_errors():
        if kind == "g2o":
            graph = read_g2o(source)
        elif kind == "npz":
            graph = read_npz(source, given)
        elif kind == "mtx":
            graph = read_mtx(source, given)
        elif kind == "parquet":
            graph = read_parquet(source, given, named)
        else:
            graph = read_table(source, given, named, keep_names=keep_names)
    return trust_edges(graph, trust)


def write(
    graph: MeasurementGraph,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    unit: str | Unit | None = None,
    degrees: bool = False,
    keep_names: bool = False,
) -> None:
    """Write a measurement graph in the format of the file's ending, atomically.

    Fields that the format cannot hold raise `DataFileError`, except the true angles, which are
    dropped by all formats but `.npz`.

    Args:
        graph: the measurements.
        path: file.
        format: csv, tsv, g2o, npz, mtx or parquet; by default the file's ending.
        unit: of the offsets in the file: `radians` (default), `degrees` or `turns`.
        degrees: the same as `unit="degrees"`.
        keep_names: in `.csv` and `.tsv`, write names that a spreadsheet would run as they are; by
            default with an apostrophe in front, which `read` leaves out.
    """
    source = Source(path)
    kind, written = file_format(source, format), input_unit(unit, degrees) or RADIANS
    if kind == "g2o":
        check_g2o_unit(source, written)
    with atomic_output(path, "wb" if kind in _BINARY else "w") as handle:
        if kind == "g2o":
            write_g2o(graph, handle)
        elif kind == "npz":
            write_npz(graph, handle, written)
        elif kind == "mtx":
            write_mtx(graph, handle, written)
        elif kind == "parquet":
            write_parquet(table_columns(graph, written), handle)
        else:
            mark = "\t" if kind == "tsv" else ","
            write_table(graph, handle, mark, written, keep_names=keep_names)


def check_g2o_unit(source: Source, unit: Unit | None) -> None:
    """Refuse a unit other than that of the format."""
    if unit not in (None, RADIANS):
        raise source.error(
            f"g2o is in radians by definition: leave out {unit}, or add --output-{unit} for "
            "headings in that unit"
        )


def trust_edges(graph: MeasurementGraph, trust: str | None) -> MeasurementGraph:
    """The graph with the trusted edges that `trust` names (see `read`); None changes nothing."""
    if trust is None:
        return graph
    if check_choice("trust", trust, TRUST) == "none":
        return graph if graph.trusted is None else graph.replace(trusted=None)
    odometry = odometry_edges(graph)
    return graph.replace(trusted=odometry if odometry.any() else None)


def file_format(source: Source, format: str | None) -> str:
    """Format of a file by its ending, or the one that is named."""
    if format is not None:
        return check_choice("format", format, FORMATS)
    if source.path == STDIN:
        return "csv"
    path = Path(source.path)
    suffix = path.suffix.lower()
    compressed = suffix == ".gz"
    if compressed:
        suffix = Path(path.stem).suffix.lower()
    if suffix in _OTHER_KINDS and not os.path.isdir(source.path):
        raise source.error(f"ends in {path.suffix!r}, which is not read: {_OTHER_KINDS[suffix]}")
    if suffix not in _ENDINGS and not os.path.isdir(source.path):
        raise source.error(
            f"ends in {path.suffix!r}: known endings are {', '.join(_ENDINGS)} and .gz behind "
            "them; or name the format by --format"
        )
    kind = _ENDINGS.get(suffix, "csv")
    if compressed and kind in _BINARY:
        raise source.error(f"{suffix} is compressed already: expand the file by gunzip")
    return kind
