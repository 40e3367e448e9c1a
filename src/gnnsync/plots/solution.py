"""Figure of one solution: residuals, offsets, angles and confidences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

from gnnsync.errors import GraphError
from gnnsync.plots.nodes import draw_nodes
from gnnsync.plots.offsets import draw_offsets
from gnnsync.plots.residuals import ResidualView, draw_peak, draw_residuals
from gnnsync.plots.style import UNKNOWN, group_colour, small_legend
from gnnsync.typing import FloatArray
from gnnsync.units import RADIANS, Unit

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph
    from gnnsync.solution import Solution

PANEL = (4.6, 4.0)  # inches
_ANGLE_BINS, _CONFIDENCE_BINS = 36, 40  # 10° and 0.025

Panel = Callable[[FigureBase], None]
"""Draws one panel on a figure or a part of one."""


def solution_figure(
    solution: Solution,
    graph: MeasurementGraph | None = None,
    *,
    title: str = "",
    coordinates: FloatArray | None = None,
    unit: Unit = RADIANS,
) -> Figure:
    """All panels of a solution, three in a row; see `solution_panels`.

    Args:
        solution: n nodes, m edges, k groups.
        graph: the measurements.
        title: above all panels, such as the file and the method.
        coordinates: (n, 2) places of the nodes, NaN where unknown; by default a layout computed
            from the edges.
        unit: of the angles on the axes.
    """
    panels = solution_panels(solution, graph, coordinates=coordinates, unit=unit)
    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows), layout="constrained")
    parts = np.asarray(figure.subfigures(rows, columns, squeeze=False)).ravel()
    for part, draw in zip(parts, panels.values(), strict=True):
        draw(part)
    if title:
        figure.suptitle(title)
    return figure


def solution_panels(
    solution: Solution,
    graph: MeasurementGraph | None = None,
    *,
    coordinates: FloatArray | None = None,
    unit: Unit = RADIANS,
) -> dict[str, Panel]:
    """The panels by name: residuals, peak, offsets, angles, edges, nodes.

    Without a graph angles and edges alone. Arguments as in `solution_figure`.
    """
    panels: dict[str, Panel] = {
        "angles": partial(_angles, solution=solution, unit=unit),
        "edges": partial(_confidence, solution=solution),
    }
    if graph is None:
        return panels
    if coordinates is not None and coordinates.shape != (graph.num_nodes, 2):
        expected = (graph.num_nodes, 2)
        raise GraphError(f"coordinates have shape {coordinates.shape}: must be {expected}")
    view = ResidualView.of(solution, graph)
    return {
        "residuals": lambda part: draw_residuals(part.subplots(), view, unit),
        "peak": lambda part: draw_peak(part.subplots(), view, unit),
        "offsets": lambda part: draw_offsets(part, solution, graph, unit),
        **panels,
        "nodes": lambda part: draw_nodes(part, solution, graph, coordinates),
    }


def _angles(part: FigureBase, solution: Solution, unit: Unit) -> None:
    """Distribution of the angles on the circle, one outline per group."""
    axes: Axes = part.subplots(subplot_kw={"projection": "polar"})
    edges = np.linspace(0, 2 * np.pi, _ANGLE_BINS + 1)
    for group, column in enumerate(solution.angles.T):
        count = np.histogram(column, edges)[0].astype(np.float64)
        label = f"group {group + 1}" if solution.k > 1 else None
        around, height = np.repeat(edges, 2)[1:-1], np.repeat(count, 2)
        colour = group_colour(group)
        opacity = 0.8 if solution.k == 1 else 0.15
        axes.fill(around, height, color=colour, alpha=opacity, linewidth=0)
        axes.plot(
            np.append(around, around[0]), np.append(height, height[0]), color=colour, label=label
        )
    if solution.k > 1:
        small_legend(axes, loc="lower right", bbox_to_anchor=(1.15, -0.1))
    axes.set_yticklabels([])
    quarter = unit.turn / 4
    names = [f"{i * quarter:g}" for i in range(4)]
    if unit.name == "radians":
        names = ["0", "π/2", "π", "3π/2"]
    axes.set_xticks([0, np.pi / 2, np.pi, 3 * np.pi / 2], names)
    parts = int(solution.component.max(initial=0)) + 1
    note = "" if parts == 1 else f", {parts:,} components"
    axes.set_title(f"angles of {len(solution.angles):,} nodes{note} ({unit.symbol})")


def _confidence(part: FigureBase, solution: Solution) -> None:
    """Histogram of the confidences of the edges; unknown ones have a bar of their own."""
    axes: Axes = part.subplots()
    confidence = np.clip(solution.edge_confidence, 0, 1)
    known = np.isfinite(confidence)
    groups = range(solution.k)
    axes.hist(
        [confidence[known & (solution.edge_group == group)] for group in groups],
        bins=_CONFIDENCE_BINS,
        range=(0, 1),
        stacked=True,
        color=[group_colour(group) for group in groups],
        label=[f"group {group + 1}" if solution.k > 1 else "" for group in groups],
    )
    unknown = int((~known).sum())
    right = 1.0
    if unknown:
        right = 1.2
        axes.bar(1.12, unknown, 0.08, color=UNKNOWN, label=f"unknown ({unknown:,})")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, right)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    names = [f"{tick:g}" for tick in ticks]
    axes.set_xticks([*ticks, 1.12] if unknown else ticks, [*names, "?"] if unknown else names)
    axes.set_title("confidence of the edges")
    axes.set_xlabel("0: outlier, 1: inlier")
    axes.set_ylabel("edges")
    small_legend(axes)
