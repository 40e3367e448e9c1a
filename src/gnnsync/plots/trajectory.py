"""Figure of a solved pose graph: the trajectory with accepted and rejected closures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from gnnsync.errors import ParameterError
from gnnsync.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from gnnsync.pose_graph import PoseGraph, PoseSolution

_PATH, _ACCEPTED, _REJECTED, _BROKEN = "#33669e", "#2e8b57", "#c0392b", "#d9a400"
_WIDTH = 7.2  # inches
_SHORTEST, _TALLEST = 0.5, 1.4  # height of a panel over its width


def trajectory_figure(solution: PoseSolution, graph: PoseGraph) -> Figure:
    """The poses joined by trusted measurements, accepted closures in green, rejected in red.

    A trusted measurement that others contradict is drawn in yellow. If none is trusted, closures
    cannot be told from odometry, and the legend says edges.
    """
    if not hasattr(graph, "rotations"):
        raise ParameterError("graph", graph, "the PoseGraph that was solved")
    solution.headings.check_graph(graph.rotations)
    extent = np.maximum(np.ptp(solution.poses[:, :2], axis=0), 1e-9)
    height = float(np.clip(extent[1] / extent[0], _SHORTEST, _TALLEST)) * _WIDTH
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots()
    closures, accepted = graph.closures, solution.accepted
    what = "edges" if closures.all() else "closures"
    kinds = [
        (f"rejected {what}", closures & ~accepted, _REJECTED, 0.6, 0.5),
        (f"accepted {what}", closures & accepted, _ACCEPTED, 0.8, 0.9),
        ("trajectory", ~closures & accepted, _PATH, 1.0, 1.0),
        ("contradicted odometry", ~closures & ~accepted, _BROKEN, 1.6, 1.0),
    ]
    for label, edges, colour, width, opacity in kinds:
        _lines(axes, _ends(solution, graph, edges), label, colour, width, opacity)
    x, y, _ = solution.poses.T
    axes.scatter(x, y, s=2, color=_PATH, linewidths=0, zorder=3)
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.set_title(f"{graph.num_poses} poses, cost {solution.cost:.4g}")
    axes.legend(frameon=False, fontsize=8, loc="best")
    return figure


def _ends(solution: PoseSolution, graph: PoseGraph, edges: BoolArray) -> FloatArray:
    """Positions (e, 2, 2) of the two poses of each edge."""
    return solution.poses[graph.rotations.edge_index[:, edges].T, :2]


def _lines(
    axes: Axes, ends: FloatArray, label: str, colour: str, width: float, opacity: float
) -> None:
    if not len(ends):
        return
    lines = LineCollection(
        list(ends),
        colors=colour,
        linewidths=width,
        alpha=opacity,
        label=f"{label} ({len(ends)})",
    )
    axes.add_collection(lines)
