"""`read` and `write`: measurement graphs in all supported formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gnnsync.errors import DataFileError, check_choice
from gnnsync.io.files import atomic_output
from gnnsync.io.g2o import read_g2o, write_g2o
from gnnsync.io.mtx import read_mtx, write_mtx
from gnnsync.io.npz import read_npz, write_npz
from gnnsync.io.source import STDIN, Progress, Source
from gnnsync.io.table import read_table, write_table

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph

FORMATS = ("csv", "tsv", "g2o", "npz", "mtx")
_ENDINGS = {f".{name}": name for name in FORMATS} | {".txt": "csv"}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    degrees: bool = False,
    progress: Progress | None = None,
) -> MeasurementGraph:
    """Read a measurement graph.

    Args:
        path: file, or `-` for standard input.
        format: csv, tsv, g2o, npz or mtx; by default the file's ending, and csv for standard
            input and `.txt`. csv and tsv both detect the separator.
        degrees: offsets are in degrees (g2o is always in radians).
        progress: called with (bytes read, bytes in total) while a text format is read.

    Raises:
        DataFileError: the file cannot be read; the message states file, line and field.
    """
    source = Source(path, progress)
    kind = _format(source, format)
    if kind == "g2o":
        if degrees:
            raise source.error("g2o is in radians by definition: leave out degrees")
        return read_g2o(source)
    if kind == "npz":
        return read_npz(source, degrees)
    if kind == "mtx":
        return read_mtx(source, degrees)
    return read_table(source, degrees)


def write(
    graph: MeasurementGraph,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    degrees: bool = False,
) -> None:
    """Write a measurement graph in the format of the file's ending, atomically.

    Fields that the format cannot hold raise `DataFileError`, except the true angles, which are
    dropped by all formats but `.npz`.
    """
    kind = _format(Source(path), format)
    if kind == "g2o" and degrees:
        raise DataFileError(f"{path}: g2o is in radians by definition: leave out degrees")
    with atomic_output(path, "wb" if kind == "npz" else "w") as handle:
        if kind == "g2o":
            write_g2o(graph, handle)
        elif kind == "npz":
            write_npz(graph, handle, degrees)
        elif kind == "mtx":
            write_mtx(graph, handle, degrees)
        else:
            write_table(graph, handle, "\t" if kind == "tsv" else ",", degrees)


def _format(source: Source, format: str | None) -> str:
    if format is not None:
        return check_choice("format", format, FORMATS)
    if source.path == STDIN:
        return "csv"
    suffix = Path(source.path).suffix.lower()
    if suffix not in _ENDINGS and not os.path.isdir(source.path):
        raise source.error(
            f"ends in {suffix!r}: known endings are {', '.join(_ENDINGS)}; or name the format"
        )
    return _ENDINGS.get(suffix, "csv")
