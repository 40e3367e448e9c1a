"""Write solutions: angles per node as CSV, JSON or NPZ, residuals per edge as CSV."""

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
from gnnsync.solution import Solution
from gnnsync.units import RADIANS, Unit, find_unit

ENDINGS = (".csv", ".json", ".npz")


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of an output file if its format can be written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataFileError(f"{path}: ends in {ending!r}: must be one of {', '.join(ENDINGS)}")
    return ending


def write_solution(
    graph: MeasurementGraph,
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    unit: str | Unit = RADIANS,
    summary: dict[str, Any] | None = None,
) -> None:
    """Write node, angle(s), component and, if the method estimates it, the node's confidence.

    The file's ending determines the format; the file appears whole or not at all.

    Args:
        graph: the graph that was solved, for the names of the nodes.
        solution: the angles.
        path: `.csv`, `.json` or `.npz`.
        unit: of the angles and residuals in the file.
        summary: figures to add to a `.json` file.
    """
    ending, unit = check_ending(path), find_unit(unit)
    angles = unit.angles(solution.angles)
    with atomic_output(path, "wb" if ending == ".npz" else "w") as handle:
        if ending == ".csv":
            write_angles(graph, solution, handle, unit=unit)
        elif ending == ".json":
            content = {
                "unit": unit.name,
                "summary": summary or {},
                "nodes": [plain_name(name) for name in graph.names],
                "angles": angles.tolist(),
                "component": solution.component.tolist(),
            }
            if solution.node_confidence is not None:
                content["node_confidence"] = solution.node_confidence.tolist()
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
            if solution.node_confidence is not None:
                arrays["node_confidence"] = solution.node_confidence
            np.savez_compressed(handle, **arrays)


def write_angles(
    graph: MeasurementGraph, solution: Solution, handle: TextIO, *, unit: Unit = RADIANS
) -> None:
    """Write CSV lines node, angle (angle_1, ..., angle_k if k > 1), component, confidence.

    The last column is present if the method estimates the confidence in a node.
    """
    angles = unit.angles(solution.angles)
    k = solution.k
    titles = ["angle"] if k == 1 else [f"angle_{group + 1}" for group in range(k)]
    writer = csv.writer(handle, lineterminator="\n")
    last = [solution.component.tolist()]
    if solution.node_confidence is not None:
        last.append(solution.node_confidence.tolist())
    writer.writerow(["node", *titles, "component", "confidence"][: 1 + k + len(last)])
    rows = zip(graph.names, angles.tolist(), *last, strict=True)
    writer.writerows([name, *row, *rest] for name, row, *rest in rows)


def write_edges(
    graph: MeasurementGraph,
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    unit: str | Unit = RADIANS,
) -> None:
    """Write CSV lines src, dst, offset, residual, confidence, group.

    `residual` is angle[src] - angle[dst] - offset reduced to [-π, π), for the group (one of the k
    sets of angles, from 0) with the smallest residual. Both angles are in `unit`.
    """
    names, unit = graph.names, find_unit(unit)
    columns = (
        [names[i] for i in graph.src.tolist()],
        [names[i] for i in graph.dst.tolist()],
        unit.angles(graph.offset).tolist(),
        unit.from_radians(solution.residual(graph)).tolist(),
        solution.edge_confidence.tolist(),
        solution.edge_group.tolist(),
    )
    with atomic_output(path) as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["src", "dst", "offset", "residual", "confidence", "group"])
        writer.writerows(zip(*columns, strict=True))


def plain_name(name: Any) -> int | str:
    """The name of a node as JSON can hold it."""
    return name if isinstance(name, int) else str(name)


def name_array(graph: MeasurementGraph) -> NDArray[Any]:
    """Names of the nodes: integers if all are, else text; never objects, which need a pickle."""
    names = list(graph.names)
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names])
