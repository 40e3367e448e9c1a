"""Write solutions: angles per node as CSV, Parquet, JSON or NPZ, residuals per edge as tables."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.files import atomic_output
from gnnsync.io.tables.cells import guard_cell
from gnnsync.io.tables.parquet import write_parquet
from gnnsync.solution import Solution, plain_name
from gnnsync.solution.table import Table, edge_table, node_table
from gnnsync.typing import FloatArray
from gnnsync.units import RADIANS, Unit, find_unit

ENDINGS = (".csv", ".json", ".npz", ".parquet")


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of an output file if its format can be written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataFileError(f"{path}: ends in {ending!r}: must be one of {', '.join(ENDINGS)}")
    return ending


def check_edge_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file of edges: Parquet by its ending, else CSV."""
    return ".parquet" if Path(path).suffix.lower() == ".parquet" else ".csv"


def write_solution(
    graph: MeasurementGraph,
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    unit: str | Unit = RADIANS,
    summary: dict[str, Any] | None = None,
    keep_names: bool = False,
) -> None:
    """Write node, angle(s), component and, if the method estimates it, the node's confidence.

    The file's ending determines the format; the file appears whole or not at all.

    Args:
        graph: the graph that was solved, for the names of the nodes.
        solution: the angles.
        path: `.csv`, `.parquet`, `.json` or `.npz`.
        unit: of the angles and residuals in the file.
        summary: figures to add to a `.json` file.
        keep_names: in `.csv`, write names that a spreadsheet would run as they are, see
            `gnnsync.io.tables.cells`.
    """
    ending, unit = check_ending(path), find_unit(unit)
    angles = unit.angles(solution.angles)
    with atomic_output(path, "wb" if ending in (".npz", ".parquet") else "w") as handle:
        if ending == ".csv":
            write_angles(graph, solution, handle, unit=unit, keep_names=keep_names)
        elif ending == ".parquet":
            write_parquet(node_table(graph, solution, unit), handle)
        elif ending == ".json":
            content = {
                "unit": unit.name,
                "summary": summary or {},
                "nodes": [plain_name(name) for name in graph.names],
                "angles": angles.tolist(),
                "component": solution.component.tolist(),
            }
            for name, values in _node_columns(solution, unit).items():
                content[name] = known_or(values, None)
            json.dump(content, handle, indent=1, allow_nan=False)
        else:
            arrays: dict[str, Any] = {
                "unit": unit.name,
                "node": name_array(graph),
                "angles": angles,
                "component": solution.component,
                "residual": unit.from_radians(solution.residual(graph)),
                "edge_confidence": solution.edge_confidence,
                "edge_group": solution.edge_group,
            }
            arrays |= _node_columns(solution, unit)
            np.savez_compressed(handle, **arrays)


def write_angles(
    graph: MeasurementGraph,
    solution: Solution,
    handle: TextIO,
    *,
    unit: Unit = RADIANS,
    keep_names: bool = False,
) -> None:
    """Write CSV lines node, angle (angle_1 to angle_k if k > 1), component, confidence, deviation.

    The last two columns (deviation_1 to deviation_k if k > 1) are present if the method
    estimates them; a cell is empty where they are unknown.
    """
    write_csv(node_table(graph, solution, unit), handle, keep_names=keep_names)


def write_csv(table: Table, handle: TextIO, *, keep_names: bool = False) -> None:
    """Write a table with its titles; a cell is empty where a number is unknown.

    Text that a spreadsheet would run gets an apostrophe in front, unless `keep_names`.
    """
    columns = [known_or(values, "") for values in table.values()]
    for place, values in enumerate(table.values()):
        if values.dtype.kind == "O" and not keep_names:
            columns[place] = list(map(guard_cell, columns[place]))
    writer = csv.writer(handle, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*columns, strict=True))


def known_or(values: NDArray[Any], unknown: object) -> list[Any]:
    """The entries of an array as nested lists, with `unknown` in the place of NaN."""
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return values.tolist()
    plain = values.astype(object)
    plain[np.isnan(values)] = unknown
    return plain.tolist()


def _node_columns(solution: Solution, unit: Unit) -> dict[str, FloatArray]:
    """Confidence and deviation of the nodes by name, as far as the method estimates them."""
    columns = {}
    if solution.node_confidence is not None:
        columns["node_confidence"] = solution.node_confidence
    if solution.node_deviation is not None:
        columns["node_deviation"] = unit.from_radians(solution.node_deviation)
    return columns


def write_edges(
    graph: MeasurementGraph,
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    unit: str | Unit = RADIANS,
    keep_names: bool = False,
) -> None:
    """Write the measurements as CSV, or Parquet by the file's ending; see `edge_table`.

    Angles are in `unit`. `confidence` is empty where nothing checks the measurement.
    """
    ending = check_edge_ending(path)
    table = edge_table(graph, solution, find_unit(unit))
    with atomic_output(path, "wb" if ending == ".parquet" else "w") as handle:
        if ending == ".parquet":
            write_parquet(table, handle)
        else:
            write_csv(table, handle, keep_names=keep_names)


def name_array(graph: MeasurementGraph) -> NDArray[Any]:
    """Names of the nodes: integers if all are, else text; never objects, which need a pickle."""
    names = list(graph.names)
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names])
