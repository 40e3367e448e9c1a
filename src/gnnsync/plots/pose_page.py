"""The HTML page of a solved pose graph: its summary, its map, and tables of poses and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnnsync.plots.page import Column, Table, html_page
from gnnsync.plots.trajectory import trajectory_figure
from gnnsync.units import Unit

if TYPE_CHECKING:
    from gnnsync.pose_graph import PoseGraph, PoseSolution


def pose_page(
    solution: PoseSolution, graph: PoseGraph, summary: str, *, title: str, command: str, unit: Unit
) -> str:
    """The page as text; arguments as in `PoseSolution.html`."""
    figures = {"The poses, with accepted and rejected closures": trajectory_figure(solution, graph)}
    tables = [_poses(solution, graph, unit), _edges(solution, graph, unit)]
    return html_page(title, summary, figures, tables, command)


def _poses(solution: PoseSolution, graph: PoseGraph, unit: Unit) -> Table:
    """Poses in the order of the file."""
    x, y, heading = solution.poses.T
    columns: dict[str, Column] = {
        "pose": list(graph.rotations.names),
        "x": x.tolist(),
        "y": y.tolist(),
        f"heading ({unit.symbol})": unit.from_radians(heading).tolist(),
        "component": graph.rotations.components.tolist(),
    }
    doubt = np.zeros(len(x))
    if solution.headings.node_confidence is not None:
        columns["confidence"] = solution.headings.node_confidence.tolist()
    return Table.ranked("nodes", columns, doubt, "the first ones")


def _edges(solution: PoseSolution, graph: PoseGraph, unit: Unit) -> Table:
    """Edges, those of least confidence first."""
    names, rotations = list(graph.rotations.names), graph.rotations
    error = graph.error(solution.poses)
    columns: dict[str, Column] = {
        "edge": range(graph.num_edges),
        "start": [names[i] for i in rotations.dst.tolist()],
        "end": [names[i] for i in rotations.src.tolist()],
        "residual_x": error[:, 0].tolist(),
        "residual_y": error[:, 1].tolist(),
        f"residual_theta ({unit.symbol})": unit.from_radians(error[:, 2]).tolist(),
        "trusted": rotations.edge_trusted.tolist(),
        "confidence": solution.edge_confidence.tolist(),
        "accepted": solution.accepted.tolist(),
    }
    doubt = -solution.edge_confidence
    return Table.ranked("edges", columns, doubt, "those of least confidence")
