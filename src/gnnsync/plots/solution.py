"""Figure of one solution: residuals, angles and confidences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gnnsync.metrics import estimate_outliers

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph
    from gnnsync.solution import Solution

_BLUE, _GREY, _RED = "#33669e", "#9a9a9a", "#c0392b"
_PANEL = (4.2, 3.6)  # inches
_RESIDUAL_BINS, _ANGLE_BINS, _CONFIDENCE_BINS = 72, 36, 40  # 5°, 10° and 0.025


def solution_figure(solution: Solution, graph: MeasurementGraph | None = None) -> Figure:
    """Histograms of residuals (if `graph` is given), angles and edge confidences, side by side."""
    columns = 2 if graph is None else 3
    figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1]), layout="constrained")
    if graph is not None:
        _residuals(figure.add_subplot(1, columns, 1), solution, graph)
    _angles(figure.add_subplot(1, columns, columns - 1, projection="polar"), solution)
    _confidence(figure.add_subplot(1, columns, columns), solution)
    return figure


def _residuals(axes: Axes, solution: Solution, graph: MeasurementGraph) -> None:
    residual = solution.residual(graph)
    axes.hist(residual, bins=_RESIDUAL_BINS, range=(-np.pi, np.pi), color=_BLUE)
    checked = residual[~graph.bridges]
    if len(checked):
        outliers, noise = estimate_outliers(checked)
        level = outliers * len(checked) / _RESIDUAL_BINS
        axes.axhline(level, color=_RED, linewidth=1, label=f"outliers, about {outliers:.0%}")
        axes.plot([], [], " ", label=f"inlier noise {noise:.2g} rad")
        axes.legend(frameon=False, fontsize=8)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xlim(-np.pi, np.pi)
    axes.set_xticks([-np.pi, 0, np.pi], ["-π", "0", "π"])
    axes.set_title(f"residuals of {graph.num_edges} edges")
    axes.set_xlabel("angle[src] - angle[dst] - offset")
    axes.set_ylabel("edges")


def _angles(axes: Axes, solution: Solution) -> None:
    bins = np.linspace(0, 2 * np.pi, _ANGLE_BINS + 1)
    width = bins[1] - bins[0]
    shades = np.linspace(0.9, 0.4, solution.k)
    for group, column in enumerate(solution.angles.T):
        count = np.histogram(column, bins)[0]
        label = f"group {group + 1}" if solution.k > 1 else None
        axes.bar(bins[:-1] + width / 2, count, width, alpha=shades[group], label=label)
    if solution.k > 1:
        axes.legend(fontsize=8, loc="lower right")
    axes.set_yticklabels([])
    axes.set_xticks([0, np.pi / 2, np.pi, 3 * np.pi / 2], ["0", "π/2", "π", "3π/2"])
    parts = int(solution.component.max()) + 1
    note = "" if parts == 1 else f", {parts} components"
    axes.set_title(f"angles of {len(solution.angles)} nodes{note}")


def _confidence(axes: Axes, solution: Solution) -> None:
    known = np.isfinite(solution.edge_confidence)
    confidence, groups = np.clip(solution.edge_confidence[known], 0, 1), solution.edge_group[known]
    if solution.k == 1:
        axes.hist(confidence, bins=_CONFIDENCE_BINS, range=(0, 1), color=_GREY)
    else:
        parts = [confidence[groups == group] for group in range(solution.k)]
        labels = [f"group {group + 1}" for group in range(solution.k)]
        axes.hist(parts, bins=_CONFIDENCE_BINS, range=(0, 1), stacked=True, label=labels)
        axes.legend(frameon=False, fontsize=8)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xlim(0, 1)
    axes.set_title("confidence of the edges")
    axes.set_xlabel("0: outlier, 1: inlier")
    axes.set_ylabel("edges")
