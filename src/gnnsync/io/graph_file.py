"""`read` and `write`: a measurement graph in any of the formats, by the file's ending."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
        format: csv, tsv, g2o, npz or mtx; by default what the file's ending says, and csv for
            standard input and `.txt`. csv and tsv both find the separator by themselves.
        degrees: offsets are in degrees (g2o is always in radians).
        progress: told (bytes read, bytes in all) of text formats.

    Raises:
        DataFileError: names the file, and the line and field where there is one.
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
    """Write a measurement graph, by the file's ending; the file appears whole or not at all.

    What a format cannot hold is refused, except the true angles, which only `.npz` keeps.
    """
    kind = _format(Source(path), format)
    if kind == "g2o" and degrees:
        raise DataFileError(f"{path}: g2o is in radians by definition: leave out degrees")
    with atomic_output(path, "wb" if kind == "npz" else "w") as handle:
        target: Any = handle
        if kind == "g2o":
            write_g2o(graph, target)
        elif kind == "npz":
            write_npz(graph, target, degrees)
        elif kind == "mtx":
            write_mtx(graph, target, degrees)
        else:
            write_table(graph, target, "\t" if kind == "tsv" else ",", degrees)


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
