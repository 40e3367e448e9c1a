"""Nodes of a solution in the plane, coloured by their confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import FigureBase

from gnnsync.plots.layout import node_positions
from gnnsync.plots.style import FAINT, MANY_MARKS, PROBABILITY, UNKNOWN, WRONG, small_legend
from gnnsync.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph
    from gnnsync.solution import Solution

# Edges that are drawn at most; of more a sample, of which at most this part are outliers.
MOST_EDGES, _MOST_OUTLIERS = 4_000, 0.25
# Edges of less confidence are drawn as outliers.
_INLIER = 0.5


def draw_nodes(
    figure: FigureBase,
    solution: Solution,
    graph: MeasurementGraph,
    coordinates: FloatArray | None = None,
) -> None:
    """Nodes at their coordinates (n, 2), or in a layout of the graph, coloured by confidence.

    Without confidences of the nodes, by the mean confidence of their edges. Nodes without
    coordinates (NaN) are left out.
    """
    axes = figure.subplots()
    place = node_positions(graph) if coordinates is None else coordinates
    value, what = node_values(solution, graph)
    drawn, sampled = _draw_edges(axes, solution, graph, place)
    shown = np.isfinite(place).all(axis=1)
    unknown = shown & ~np.isfinite(value)
    known = shown & ~unknown
    size = float(np.clip(4_000.0 / max(len(value), 1), 1.5, 60.0))
    style: dict[str, Any] = {"s": size, "linewidths": 0.3 if size > 10 else 0.0, "zorder": 3}
    style |= {"rasterized": len(value) > MANY_MARKS, "edgecolors": "#444444"}
    axes.scatter(*place[unknown].T, color=UNKNOWN, **style)
    # The doubtful ones last, on top.
    order = np.flatnonzero(known)[np.argsort(-value[known], kind="stable")]
    colour: dict[str, Any] = {"c": value[order], "cmap": PROBABILITY, "vmin": 0.0, "vmax": 1.0}
    points = axes.scatter(place[order, 0], place[order, 1], **(style | colour))
    bar = figure.colorbar(points, ax=axes, shrink=0.8, pad=0.02)
    of_nodes = what == "nodes"
    bar.set_label("probability of being right" if of_nodes else "mean of the edges at the node")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title("confidence of the nodes" if of_nodes else "confidence around the nodes")
    if coordinates is None:
        axes.set_xticks([])
        axes.set_yticks([])
    if unknown.any():
        label = f"unknown ({int(unknown.sum()):,})"
        axes.scatter([], [], s=20, color=UNKNOWN, label=label)
    if sampled:
        axes.plot([], [], color=FAINT, label=f"a sample of {drawn:,} edges")
    small_legend(axes, loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=2)


def node_values(solution: Solution, graph: MeasurementGraph) -> tuple[FloatArray, str]:
    """Confidence (n,) of the nodes, NaN where unknown, and whether of `nodes` or of `edges`."""
    if solution.node_confidence is not None:
        return solution.node_confidence, "nodes"
    confidence = solution.edge_confidence
    known = np.isfinite(confidence)
    ends = graph.edge_index[:, known].ravel()
    count = np.bincount(ends, minlength=graph.num_nodes)
    total = np.bincount(ends, np.tile(confidence[known], 2), graph.num_nodes)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), "edges"


def _draw_edges(
    axes: Axes, solution: Solution, graph: MeasurementGraph, place: FloatArray
) -> tuple[int, bool]:
    """Edges as thin lines, outliers in red; the number drawn, and whether they are a sample."""
    chosen = _sample(solution.edge_confidence)
    ends = place[graph.edge_index[:, chosen].T]
    seen = np.isfinite(ends).all(axis=(1, 2))
    chosen, ends = chosen[seen], ends[seen]
    outlier = solution.edge_confidence[chosen] < _INLIER
    faint = float(np.clip(600.0 / max(len(chosen), 1), 0.12, 0.8))
    for wrong, colour in ((False, FAINT), (True, WRONG)):
        mine = outlier if wrong else ~outlier
        label = f"outliers ({int((solution.edge_confidence < _INLIER).sum()):,})" if wrong else None
        if mine.any():
            lines = LineCollection(
                list(ends[mine]),
                colors=colour,
                linewidths=0.6,
                alpha=faint if wrong else max(faint, 0.25),
                rasterized=len(chosen) > MANY_MARKS,
                zorder=2 if wrong else 1,
            )
            axes.add_collection(lines)
            if wrong:
                axes.plot([], [], color=colour, label=label)
    return len(chosen), len(chosen) < graph.num_edges


def _sample(confidence: FloatArray) -> IntArray:
    """Numbers of the edges to draw: all, or a sample with inliers and outliers."""
    m = len(confidence)
    if m <= MOST_EDGES:
        return np.arange(m)
    rng = np.random.default_rng(0)
    wrong = np.flatnonzero(confidence < _INLIER)
    few = rng.choice(wrong, min(len(wrong), int(_MOST_OUTLIERS * MOST_EDGES)), replace=False)
    right = np.flatnonzero(~(confidence < _INLIER))
    many = rng.choice(right, min(len(right), MOST_EDGES - len(few)), replace=False)
    return np.concatenate([many, few])
