"""Maps: true and recovered points, the error at each, and how two patches are stitched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnnsync.typing import ComplexArray, FloatArray, IntArray

if TYPE_CHECKING:
    from gnnsync.data import Map

TRUE, FOUND = "#c0392b", "#2e6da4"
_FIRST, _SECOND, _BOTH, _FAINT = "#2e6da4", "#d9a400", "#2e8b57", "#d5d5d5"


def reconstruction_figures(found: Map) -> dict[str, Figure]:
    """Figures of a recovered map by name: the map, the error per point, two patches' stages."""
    pair = found.pair
    return {
        "map": map_figure(found.points, found.recovered, found.title),
        "error": error_figure(found.points, found.recovered),
        "pipeline": pipeline_figure(
            found.points, pair.member, pair.noisy, pair.rotated, pair.aligned, found.recovered
        ),
    }


def map_figure(truth: FloatArray, recovered: FloatArray, title: str = "") -> Figure:
    """True points (n, 2) in red and recovered ones (n, 2) in blue."""
    return map_grid(truth, {(title, ""): recovered})


def map_grid(truth: FloatArray, recovered: Mapping[tuple[str, str], FloatArray]) -> Figure:
    """The paper's grid of maps: a row per noise level, a column per method.

    `recovered` maps (row title, column title) to points (n, 2); rows and columns come in the
    order of their first appearance, and a pair that is missing leaves its place empty.
    """
    rows = list(dict.fromkeys(row for row, _ in recovered))
    columns = list(dict.fromkeys(column for _, column in recovered))
    single = len(recovered) == 1
    height, width = _proportions(truth, 6.4 if single else 3.2)
    figure = Figure(
        figsize=(width * len(columns) + 0.4, height * len(rows) + 0.8), layout="constrained"
    )
    grid = figure.subplots(len(rows), len(columns), squeeze=False)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            axes = grid[i, j]
            _map_axes(axes, truth)
            if (row, column) not in recovered:
                axes.set_visible(False)
                continue
            size = 9 if single else 2
            axes.scatter(*truth.T, s=size, color=TRUE, linewidths=0)
            axes.scatter(*recovered[row, column].T, s=size, color=FOUND, linewidths=0)
            if i == 0:
                axes.set_title(column or row)
            if j == 0 and column:
                axes.set_ylabel(row)
    _legend(figure, {"true": TRUE, "recovered": FOUND})
    return figure


def error_figure(truth: FloatArray, recovered: FloatArray, title: str = "") -> Figure:
    """The distance of each recovered point (n, 2) from its true place, as colour on the map."""
    error = np.linalg.norm(recovered - truth, axis=1)
    # In units of the map's size, so that maps compare.
    relative = error / np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
    height, width = _proportions(truth, 6.4)
    figure = Figure(figsize=(width + 1.2, max(height, 3.0) + 0.4), layout="constrained")
    axes = figure.subplots()
    _map_axes(axes, truth)
    dots = axes.scatter(
        truth[:, 0], truth[:, 1], c=relative, s=14, cmap="viridis", linewidths=0, vmin=0
    )
    figure.colorbar(dots, ax=axes, label="error / spread of map", shrink=0.9)
    axes.set_title(title or f"error per point, median {np.median(relative):.3g}")
    return figure


def pipeline_figure(
    points: FloatArray,
    member: IntArray,
    noisy: ComplexArray,
    rotated: ComplexArray,
    aligned: ComplexArray,
    recovered: FloatArray,
) -> Figure:
    """Two patches on their way: chosen, noisy, rotated, turned back, and the stitched map.

    `points` and `recovered` are (n, 2); `member` (2, s) numbers the points of the two patches,
    and `noisy`, `rotated`, `aligned` (2, s) are where the patches see them at each stage.
    """
    shared = np.isin(member[0], member[1]), np.isin(member[1], member[0])
    height, width = _proportions(points, 3.6)
    figure = Figure(figsize=(3 * width, 2 * height + 1.2), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    exact = points[member] @ np.array([1, 1j])
    stages = [
        (panels[0], "(a) a patch", exact[:1]),
        (panels[1], "(b) another, with common points", exact),
        (panels[2], "(c) noise in every patch", noisy),
        (panels[3], "(d) rotated about the origin", rotated),
        (panels[4], "(e) turned back by the estimate", aligned),
    ]
    for axes, title, patches in stages:
        _map_axes(axes, points, square=patches is rotated)
        axes.scatter(*points.T, s=1, color=_FAINT, linewidths=0)
        for which, patch in enumerate(patches):
            own = np.array([_FIRST, _SECOND])[which]
            common = shared[which] if len(patches) == 2 else np.zeros(len(patch), dtype=bool)
            axes.scatter(patch.real, patch.imag, s=7, linewidths=0, c=np.where(common, _BOTH, own))
        axes.set_title(title, fontsize=9)
    axes = panels[5]
    _map_axes(axes, points)
    axes.scatter(*points.T, s=2, color=TRUE, linewidths=0)
    axes.scatter(*recovered.T, s=2, color=FOUND, linewidths=0)
    axes.set_title("(f) stitched: average over patches", fontsize=9)
    colours = {"first patch": _FIRST, "second": _SECOND, "common": _BOTH}
    _legend(figure, colours | {"true": TRUE, "recovered": FOUND})
    return figure


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    """One line of labelled dots below the panels, where it hides no point."""
    dots = [
        Line2D([], [], marker="o", markersize=4, linestyle="", color=colour, label=label)
        for label, colour in colours.items()
    ]
    figure.legend(
        handles=dots, ncols=len(dots), loc="outside lower center", fontsize=8, frameon=False
    )


def _map_axes(axes: Axes, points: FloatArray, square: bool = False) -> None:
    """Equal scales, a margin, no ticks; `square` leaves room for points turned about the origin."""
    low, high = points.min(axis=0), points.max(axis=0)
    if square:
        reach = float(np.linalg.norm(points, axis=1).max())
        low, high = np.full(2, -reach), np.full(2, reach)
    margin = 0.08 * (high - low).max()
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])


def _proportions(points: FloatArray, width: float) -> tuple[float, float]:
    """Height and width in inches of a panel that fits the cloud."""
    extent = np.maximum(np.ptp(points, axis=0), 1e-12)
    return float(np.clip(width * extent[1] / extent[0], 0.35 * width, 1.5 * width)), width
