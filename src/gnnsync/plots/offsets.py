"""Measured offsets against those of the estimated angles, component by component."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import FigureBase

from gnnsync.angles import reduce_angle
from gnnsync.plots.style import MANY_MARKS, group_colour, note
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import Unit

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph
    from gnnsync.solution import Solution

# Components that have a panel of their own; the others share the last.
MOST_PANELS = 4
# Cells of the density that is drawn in place of many points.
_CELLS = 72


def draw_offsets(
    figure: FigureBase, solution: Solution, graph: MeasurementGraph, unit: Unit
) -> None:
    """Measured against estimated offset of each edge, one panel per component of edges.

    Right measurements lie on the diagonal, outliers anywhere.
    """
    angles = solution.angles
    pick = np.take_along_axis
    group = solution.edge_group[:, None]
    estimated = pick(angles[graph.src], group, 1)[:, 0] - pick(angles[graph.dst], group, 1)[:, 0]
    estimated = unit.from_radians(reduce_angle(estimated))
    measured = unit.from_radians(graph.offset)
    component = solution.component[graph.src]
    count = np.bincount(component, minlength=1)
    largest = np.argsort(-count, kind="stable")[: max(int((count > 0).sum()), 1)]
    own = largest if len(largest) <= MOST_PANELS else largest[: MOST_PANELS - 1]
    panels = [(_name(c, len(largest)), component == c) for c in own.tolist()]
    if len(own) < len(largest):
        panels.append((f"{len(largest) - len(own)} other components", ~np.isin(component, own)))
    side = 1 if len(panels) == 1 else 2
    grid = figure.subplots(-(-len(panels) // side), side, squeeze=False)
    for axes, (title, chosen) in zip(grid.ravel(), panels, strict=False):
        _draw(axes, measured, estimated, solution.edge_group, chosen, unit, title)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_visible(False)
    figure.supxlabel(f"offset of the estimated angles ({unit.symbol})", fontsize="medium")
    figure.supylabel(f"measured offset ({unit.symbol})", fontsize="medium")


def _name(component: int, count: int) -> str:
    return "measured and estimated offsets" if count == 1 else f"component {component}"


def _draw(
    axes: Axes,
    measured: FloatArray,
    estimated: FloatArray,
    group: IntArray,
    chosen: BoolArray,
    unit: Unit,
    title: str,
) -> None:
    """One panel: points in the colours of their groups, or their density if they are many."""
    x, y, edges = estimated[chosen], measured[chosen], int(chosen.sum())
    alone = title.startswith("measured")
    if alone:
        axes.set_title(title)
    else:
        axes.set_title(f"{title}: {edges:,} edges", fontsize=8)
    if not edges:
        note(axes, "no edges")
        return
    if edges > MANY_MARKS:
        span = [[0.0, unit.turn]] * 2
        table = np.histogram2d(x, y, _CELLS, span)[0].T
        axes.imshow(
            np.where(table > 0, table, np.nan),
            origin="lower",
            extent=(0.0, unit.turn, 0.0, unit.turn),
            norm=LogNorm(vmin=1, vmax=max(table.max(), 2.0)),
            cmap="Blues",
        )
    else:
        colours = [group_colour(g) for g in range(int(group.max()) + 1)]
        size = 6 if edges > 200 else 14
        for g, colour in enumerate(colours):
            mine = group[chosen] == g
            axes.scatter(x[mine], y[mine], s=size, color=colour, alpha=0.6, linewidths=0)
    end = unit.turn
    axes.set_xlim(0, end)
    axes.set_ylim(0, end)
    axes.set_aspect("equal")
    names = ["0", "π", "2π"] if unit.name == "radians" else [f"{v:g}" for v in (0, end / 2, end)]
    axes.set_xticks([0, end / 2, end], names)
    axes.set_yticks([0, end / 2, end], names)
