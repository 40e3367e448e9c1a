"""Write solved poses: vertices as g2o, CSV, JSON or NPZ, measurements as CSV."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from gnnsync.errors import DataFileError, check_choice
from gnnsync.io.files import atomic_output
from gnnsync.io.poses.pose_file import write_poses
from gnnsync.io.solution_file import check_edge_ending, known_or, name_array, write_csv
from gnnsync.io.tables.parquet import write_parquet
from gnnsync.pose_graph import PoseGraph, PoseSolution
from gnnsync.solution import plain_name
from gnnsync.solution.table import Table, plain_names
from gnnsync.typing import FloatArray
from gnnsync.units import RADIANS, Unit, find_unit

ENDINGS = (".g2o", ".csv", ".parquet", ".json", ".npz")
# What becomes of rejected measurements in a g2o file.
REJECTED = ("keep", "drop", "mark")


def check_pose_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of an output file if poses can be written in its format."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataFileError(f"{path}: ends in {ending!r}: must be one of {', '.join(ENDINGS)}")
    return ending


def write_pose_solution(
    graph: PoseGraph,
    solution: PoseSolution,
    path: str | os.PathLike[str],
    *,
    rejected: str = "keep",
    unit: str | Unit = RADIANS,
    summary: dict[str, Any] | None = None,
) -> None:
    """Write the poses in the format of the file's ending, atomically.

    Args:
        graph: the pose graph that was solved.
        solution: its poses.
        path: `.g2o` (vertices and measurements), `.csv`, `.parquet`, `.json` or `.npz`.
        rejected: in a `.g2o` file, `keep` writes all measurements, `drop` only the accepted ones,
            `mark` the others as comments `# rejected: EDGE_SE2 ...` at the end.
        unit: of the headings; a `.g2o` file is always in radians.
        summary: figures to add to a `.json` file.
    """
    ending, unit = check_pose_ending(path), find_unit(unit)
    check_choice("rejected", rejected, REJECTED)
    solution.headings.check_graph(graph.rotations)
    if ending == ".g2o":
        kept = graph.keep_edges(solution.accepted) if rejected == "drop" else graph
        marked = ~solution.accepted if rejected == "mark" else None
        write_poses(kept, path, poses=solution.poses, rejected=marked)
        return
    with atomic_output(path, "wb" if ending in (".npz", ".parquet") else "w") as handle:
        if ending == ".parquet":
            write_parquet(_pose_table(graph, solution, unit), handle)
        elif ending == ".csv":
            write_pose_table(graph, solution, handle, unit=unit)
        elif ending == ".json":
            json.dump(_content(graph, solution, summary, unit), handle, indent=1, allow_nan=False)
        else:
            np.savez_compressed(handle, **_arrays(graph, solution, unit))


def write_pose_table(
    graph: PoseGraph, solution: PoseSolution, handle: TextIO, *, unit: Unit = RADIANS
) -> None:
    """Write CSV lines node, x, y, theta, component and, if it is estimated, confidence.

    The heading theta is in `unit`; the confidence is that of the heading.
    """
    write_csv(_pose_table(graph, solution, unit), handle)


def _pose_table(graph: PoseGraph, solution: PoseSolution, unit: Unit) -> Table:
    """Columns node, x, y, theta, component and, if it is estimated, confidence."""
    table: Table = {"node": plain_names(graph.rotations)}
    table |= dict(zip(("x", "y", "theta"), _poses(solution, unit).T, strict=True))
    table["component"] = graph.rotations.components
    if solution.headings.node_confidence is not None:
        table["confidence"] = solution.headings.node_confidence
    return table


def write_pose_edges(
    graph: PoseGraph,
    solution: PoseSolution,
    path: str | os.PathLike[str],
    *,
    unit: str | Unit = RADIANS,
) -> None:
    """Write one line for each measurement, as CSV or, by the file's ending, Parquet.

    `start` and `end` are the poses i and j; dx, dy, dtheta the measured pose of j seen from i;
    then the residual of each (predicted less measured, in the frame of the measured pose j),
    whether the measurement is trusted, its confidence, and whether it was accepted (1 or 0).
    dtheta and its residual are in `unit`.
    """
    solution.headings.check_graph(graph.rotations)
    names, rotations, unit = plain_names(graph.rotations), graph.rotations, find_unit(unit)
    error = graph.error(solution.poses)
    table: Table = {
        "start": names[rotations.dst],
        "end": names[rotations.src],
        "dx": graph.translation[:, 0],
        "dy": graph.translation[:, 1],
        "dtheta": unit.from_radians(graph.measured_heading),
        "residual_x": error[:, 0],
        "residual_y": error[:, 1],
        "residual_theta": unit.from_radians(error[:, 2]),
        "trusted": rotations.edge_trusted.astype(int),
        "confidence": solution.edge_confidence,
        "accepted": solution.accepted.astype(int),
    }
    ending = check_edge_ending(path)
    with atomic_output(path, "wb" if ending == ".parquet" else "w") as handle:
        if ending == ".parquet":
            write_parquet(table, handle)
        else:
            write_csv(table, handle)


def _poses(solution: PoseSolution, unit: Unit) -> FloatArray:
    """Poses (n, 3) with the heading in this unit."""
    return np.column_stack([solution.poses[:, :2], unit.from_radians(solution.poses[:, 2])])


def _content(
    graph: PoseGraph, solution: PoseSolution, summary: dict[str, Any] | None, unit: Unit
) -> dict[str, Any]:
    content = {
        "unit": unit.name,
        "summary": summary or {},
        "nodes": [plain_name(name) for name in graph.rotations.names],
        "poses": _poses(solution, unit).tolist(),
        "component": graph.rotations.components.tolist(),
        "edge_confidence": known_or(solution.edge_confidence, None),
        "accepted": solution.accepted.tolist(),
    }
    if solution.headings.node_confidence is not None:
        content["node_confidence"] = known_or(solution.headings.node_confidence, None)
    return content


def _arrays(graph: PoseGraph, solution: PoseSolution, unit: Unit) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "unit": unit.name,
        "node": name_array(graph.rotations),
        "poses": _poses(solution, unit),
        "component": graph.rotations.components,
        "edge_confidence": solution.edge_confidence,
        "accepted": solution.accepted,
    }
    if solution.headings.node_confidence is not None:
        arrays["node_confidence"] = solution.headings.node_confidence
    return arrays
