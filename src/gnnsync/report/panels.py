"""Curves of points in a grid of panels, with error bars, and the limit band behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gnnsync.report.points import (
    DENSITY,
    GRAPH,
    LIMITS,
    PRIOR,
    said,
    values_in_order,
)
from gnnsync.report.styles import Style

_BAND = "#dfe3e8"
_PANEL, _LEGEND, _MARGIN, _HEAD = (2.9, 2.35), 0.23, 0.62, 0.62


@dataclass(frozen=True)
class Curves:
    """What is drawn in each panel.

    Args:
        x: column on the horizontal axis.
        y: column on the vertical axis; `Y_std` are its error bars.
        line: column that tells the lines apart.
        x_label: words on the horizontal axis.
        y_label: words on the vertical axis.
        symlog: linear up to 0.01, where the exact methods are, and logarithmic above.
        band: shade from the oracle to the certifiable limit, if the points have both.
        zero: draw the line y = 0.
    """

    x: str
    y: str
    line: str
    x_label: str
    y_label: str
    symlog: bool = False
    band: bool = False
    zero: bool = False


def layout(points: pd.DataFrame) -> tuple[str | None, str | None, list[str]]:
    """Which data column makes the rows of panels, which the columns, and which split figures."""
    varying = [c for c in (GRAPH, DENSITY, PRIOR) if c in points and points[c].nunique() > 1]
    if len(varying) == 3:
        return DENSITY, PRIOR, [GRAPH]
    if len(varying) == 2:
        down = DENSITY if DENSITY in varying else GRAPH
        return down, next(c for c in varying if c != down), []
    return None, varying[0] if varying else None, []


def panel_grid(
    points: pd.DataFrame,
    curves: Curves,
    styles: Mapping[str, Style],
    heading: str = "",
) -> Figure:
    """One panel per value of the columns that `layout` names; a missing one stays empty."""
    down, across, _ = layout(points)
    rows = values_in_order(down, points[down]) if down else [None]
    columns = values_in_order(across, points[across]) if across else [None]
    present = [name for name in styles if name in set(points[curves.line])]
    legend = -(-(len(present) + 1) // max(1, int(2 * len(columns))))
    width = _PANEL[0] * len(columns) + _MARGIN
    height = _PANEL[1] * len(rows) + _HEAD + _LEGEND * legend + 0.35
    figure = Figure(figsize=(max(width, 4.6), height))
    grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    figure.subplots_adjust(
        left=_MARGIN / max(width, 4.6),
        right=1 - 0.12 / max(width, 4.6),
        bottom=(0.5 + 0.35 + _LEGEND * legend) / height,
        top=1 - _HEAD / height,
        wspace=0.06,
        hspace=0.24,
    )
    banded = False
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            axes, own = grid[i, j], points
            for name, value in ((down, row), (across, column)):
                own = own if name is None else own[own[name] == value]
            banded |= _panel(axes, own, curves, styles)
            told = [(down, row), (across, column)]
            axes.set_title(", ".join(said(name, v) for name, v in told if name), fontsize=9)
            if j == 0:
                axes.set_ylabel(curves.y_label)
            if i == len(rows) - 1:
                axes.set_xlabel(curves.x_label)
    if curves.symlog:
        grid[0, 0].set_ylim(bottom=0)
    figure.suptitle(heading, fontsize=10, x=0.02, y=1 - 0.08 / height, ha="left", va="top")
    _legend(figure, present, styles, banded, max(1, int(2 * len(columns))))
    return figure


def _panel(axes: Axes, points: pd.DataFrame, curves: Curves, styles: Mapping[str, Style]) -> bool:
    """Draw one panel; whether it has a band."""
    if curves.symlog:
        axes.set_yscale("symlog", linthresh=0.01, linscale=0.5)
    axes.grid(True, color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
    if curves.zero:
        axes.axhline(0, color="0.5", linewidth=0.8)
    banded = curves.band and _band(axes, points, curves.x)
    columns = [curves.x, curves.y, f"{curves.y}_std"]
    drawn = points.dropna(subset=[curves.y]).sort_values(curves.x)
    for name, own in drawn.groupby(curves.line, sort=False):
        x, y, spread = own[columns].to_numpy(float).T
        style = styles[str(name)]
        axes.plot(x, y, **_line(style))
        gap = np.full(len(x), np.nan)
        # All bars as one broken line: many times cheaper than one by one.
        bars = (
            np.stack([x, x, gap], axis=1).ravel(),
            np.stack([y - spread, y + spread, gap], axis=1),
        )
        axes.plot(bars[0], bars[1].ravel(), color=style.colour, linewidth=0.9, alpha=0.75)
    return banded


def _band(axes: Axes, points: pd.DataFrame, x: str) -> bool:
    if not set(LIMITS) <= set(points.columns):
        return False
    band = points[[x, *LIMITS]].groupby(x).mean().dropna()
    if band.empty:
        return False
    low, high = band[LIMITS[0]], band[LIMITS[1]]
    axes.fill_between(band.index, low, np.maximum(low, high), color=_BAND, linewidth=0, zorder=0)
    return True


def _line(style: Style) -> dict[str, Any]:
    return {
        "color": style.colour,
        "marker": style.marker,
        "linestyle": "--" if style.dashed else "-",
        "linewidth": 1.3,
        "markersize": 3.5,
    }


def _legend(
    figure: Figure, names: list[str], styles: Mapping[str, Style], banded: bool, columns: int
) -> None:
    handles: list[Any] = [Line2D([], [], label=name, **_line(styles[name])) for name in names]
    if banded:
        handles.append(Patch(color=_BAND, label="limit: oracle to certifiable"))
    figure.legend(
        handles=handles,
        ncols=columns,
        loc="lower center",
        fontsize=8,
        frameon=False,
        handlelength=3.2,
    )
