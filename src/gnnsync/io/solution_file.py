"""Solutions out: angles per node as CSV, JSON or NPZ, and the verdict on every edge as CSV."""

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
from gnnsync.typing import FloatArray

ENDINGS = (".csv", ".json", ".npz")


def check_ending(path: str | os.PathLike[str]) -> str:
    """The ending of an output file, if it is one that can be written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataFileError(f"{path}: ends in {ending!r}: must be one of {', '.join(ENDINGS)}")
    return ending


def write_solution(
    graph: MeasurementGraph,
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    degrees: bool = False,
    summary: dict[str, Any] | None = None,
) -> None:
    """Write node, angle(s), component and, where the method states it, the confidence in a node.

    The file's ending tells the format; it is written whole or not at all.

    Args:
        graph: what was solved: names the nodes.
        solution: the angles.
        path: `.csv`, `.json` or `.npz`.
        degrees: write angles in degrees rather than radians.
        summary: figures to add to a `.json`.
    """
    ending = check_ending(path)
    angles = np.degrees(solution.angles) if degrees else solution.angles
    with atomic_output(path, "wb" if ending == ".npz" else "w") as handle:
        target: Any = handle
        if ending == ".csv":
            write_angles(graph, solution, target, degrees=degrees)
        elif ending == ".json":
            content = {
                "unit": "degrees" if degrees else "radians",
                "summary": summary or {},
                "nodes": [_plain(name) for name in _names(graph)],
                "angles": angles.tolist(),
                "component": solution.component.tolist(),
            }
            if solution.node_confidence is not None:
                content["node_confidence"] = solution.node_confidence.tolist()
            json.dump(content, target, indent=1, allow_nan=False)
        else:
            arrays: dict[str, Any] = {
                "node": _name_array(graph),
                "angles": angles,
                "component": solution.component,
                "residual": _residual(graph, solution, degrees),
                "edge_confidence": solution.edge_confidence,
                "edge_group": solution.edge_group,
            }
            if solution.node_confidence is not None:
                arrays["node_confidence"] = solution.node_confidence
            np.savez_compressed(target, **arrays)


def write_angles(
    graph: MeasurementGraph, solution: Solution, handle: TextIO, *, degrees: bool = False
) -> None:
    """Write CSV lines node, angle (angle_1, ..., angle_k if k > 1), component, confidence.

    The last column is there if the method states the confidence in a node.
    """
    angles = np.degrees(solution.angles) if degrees else solution.angles
    k = solution.k
    titles = ["angle"] if k == 1 else [f"angle_{group + 1}" for group in range(k)]
    writer = csv.writer(handle, lineterminator="\n")
    last = [solution.component.tolist()]
    if solution.node_confidence is not None:
        last.append(solution.node_confidence.tolist())
    writer.writerow(["node", *titles, "component", "confidence"][: 1 + k + len(last)])
    rows = zip(_names(graph), angles.tolist(), *last, strict=True)
    writer.writerows([name, *row, *rest] for name, row, *rest in rows)


def write_edges(
    graph: MeasurementGraph,
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    degrees: bool = False,
) -> None:
    """Write CSV lines src, dst, offset, residual, confidence, group.

    `residual` is angle[src] - angle[dst] - offset, the signed angle of least size, for the group
    (one of k sets, from 0) that explains the edge best.
    """
    names = list(_names(graph))
    columns = (
        [names[i] for i in graph.src.tolist()],
        [names[i] for i in graph.dst.tolist()],
        (np.degrees(graph.offset) if degrees else graph.offset).tolist(),
        _residual(graph, solution, degrees).tolist(),
        solution.edge_confidence.tolist(),
        solution.edge_group.tolist(),
    )
    with atomic_output(path) as handle:
        target: Any = handle
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(["src", "dst", "offset", "residual", "confidence", "group"])
        writer.writerows(zip(*columns, strict=True))


def _residual(graph: MeasurementGraph, solution: Solution, degrees: bool) -> FloatArray:
    residual = solution.residual(graph)
    return np.degrees(residual) if degrees else residual


def _names(graph: MeasurementGraph) -> Any:
    return graph.node_names or range(graph.num_nodes)


def _plain(name: Any) -> int | str:
    return name if isinstance(name, int) else str(name)


def _name_array(graph: MeasurementGraph) -> NDArray[Any]:
    """Integers if all names are, else text: never objects, which would need a pickle."""
    names = list(_names(graph))
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names])
