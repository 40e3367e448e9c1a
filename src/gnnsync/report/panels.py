"""Grids of panels: one curve with error bars per variant, and the limit band behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from gnnsync.report.aggregation import LIMITS
from gnnsync.report.naming import DENSITY, GRAPH, PRIOR, fact, values_in_order
from gnnsync.report.styles import Style
from gnnsync.results.names import variant_name

_BAND = "#dfe3e8"
_BAND_LABEL = "limit: oracle to certifiable"
# Errors of exact methods lie below this: the vertical axis is linear there, logarithmic above.
_LINEAR_BELOW = 0.01
_LINEAR_DECADES = 0.5  # height of the linear part, in decades of the logarithmic one
_TICKS = (0.01, 0.1, 1, 10, 100)
# Empty room beside the curves, as a fraction of the axis.
_ROOM_ACROSS, _ROOM_DOWN = 0.04, 0.06
_LOG_ROOM = 1.25  # factor above the highest point of a logarithmic axis
# Of a panel on its own, in inches: the width of a column in most papers. Its margins are fractions.
_SINGLE = (3.3, 2.5)
_SINGLE_MARGINS = (0.17, 0.03, 0.18, 0.03)  # left, right, below, above
_LEGEND_LINES = 4

# Title of a panel and its points.
Panel = tuple[str, pd.DataFrame]


@dataclass(frozen=True)
class Curves:
    """What is drawn in each panel.

    Args:
        x: column on the horizontal axis.
        y: column on the vertical axis; `Y_std` are its error bars.
        line: column with one value per line.
        x_label: label of the horizontal axis.
        y_label: label of the vertical axis.
        symlog: vertical axis linear up to 0.01, where the exact methods are, logarithmic above.
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


@dataclass(frozen=True)
class _Frame:
    """Size of the figure and its margins, in inches.

    Computed from the contents, because Matplotlib's automatic layouts take seconds per figure.

    Args:
        rows: number of rows of panels.
        columns: number of columns of panels.
        names: entries of the legend.
    """

    PANEL: ClassVar = (2.9, 2.35)  # width and height, with the gap to the next
    LEFT: ClassVar = 0.75  # axis labels
    RIGHT: ClassVar = 0.12
    TOP: ClassVar = 0.55  # heading
    BOTTOM: ClassVar = 0.6  # axis labels
    LEAST_WIDTH: ClassVar = 4.8
    ENTRY: ClassVar = (0.75, 0.07, 0.2)  # of the legend: sample, each character, height

    rows: int
    columns: int
    names: list[str]

    @property
    def width(self) -> float:
        return max(self.PANEL[0] * self.columns + self.LEFT + self.RIGHT, self.LEAST_WIDTH)

    @property
    def legend_columns(self) -> int:
        sample, character, _ = self.ENTRY
        entry = sample + character * max(map(len, self.names), default=0)
        return max(1, min(len(self.names), int((self.width - 0.2) / entry)))

    @property
    def below(self) -> float:
        lines = -(-len(self.names) // self.legend_columns)
        return self.BOTTOM + self.ENTRY[2] * lines

    @property
    def height(self) -> float:
        return self.PANEL[1] * self.rows + self.TOP + self.below

    @property
    def margins(self) -> dict[str, float]:
        return {
            "left": self.LEFT / self.width,
            "right": 1 - self.RIGHT / self.width,
            "bottom": self.below / self.height,
            "top": 1 - self.TOP / self.height,
            "wspace": 0.06,
            "hspace": 0.24,
        }


def layout(points: pd.DataFrame) -> tuple[str | None, str | None, list[str]]:
    """The varying data columns: the one down the grid, the one across, and those left over."""
    varying = [c for c in (GRAPH, DENSITY, PRIOR) if c in points and points[c].nunique() > 1]
    if len(varying) == 3:
        return DENSITY, PRIOR, [GRAPH]
    if len(varying) == 2:
        down = DENSITY if DENSITY in varying else GRAPH
        return down, next(c for c in varying if c != down), []
    return None, varying[0] if varying else None, []


def split_panels(points: pd.DataFrame) -> list[list[Panel]]:
    """Rows of panels, one per value of the columns that `layout` names."""
    down, across, _ = layout(points)
    rows = values_in_order(down, points[down]) if down else [None]
    columns = values_in_order(across, points[across]) if across else [None]
    panels: list[list[Panel]] = []
    for row in rows:
        panels.append([])
        for column in columns:
            own = points
            chosen = [(name, v) for name, v in ((down, row), (across, column)) if name is not None]
            for name, value in chosen:
                own = own[own[name] == value]
            panels[-1].append((", ".join(fact(name, v) for name, v in chosen), own))
    return panels


def draw_panels(
    panels: list[list[Panel]],
    curves: Curves,
    styles: Mapping[str, Style],
    heading: str = "",
) -> Figure:
    """Draw rows of panels, each a title and its points; shorter rows are left-aligned."""
    present = _present(panels, curves, styles)
    shown = [variant_name(name) for name in present]
    width = max(map(len, panels))
    frame = _Frame(len(panels), width, [*shown, _BAND_LABEL] if curves.band else shown)
    figure = Figure(figsize=(frame.width, frame.height))
    grid = figure.subplots(len(panels), width, squeeze=False)
    figure.subplots_adjust(**frame.margins)
    extent = _extent(_all_points(panels), curves)
    banded = False
    for i, row in enumerate(panels):
        for j, axes in enumerate(grid[i]):
            if j >= len(row):
                axes.set_visible(False)
                continue
            title, own = row[j]
            below = i + 1 < len(panels) and j < len(panels[i + 1])
            _axes(axes, extent, curves, across=not below, down=j == 0)
            banded |= _panel(axes, own, curves, styles)
            # A given height saves Matplotlib the search for a free one.
            axes.set_title(literal(title), fontsize=9, y=1.0)
    top = 1 - 0.08 / frame.height
    figure.suptitle(literal(heading), fontsize=10, x=0.02, y=top, ha="left", va="top")
    _legend(figure, present, styles, banded, frame.legend_columns)
    return figure


def single_panels(
    panels: list[list[Panel]], curves: Curves, styles: Mapping[str, Style]
) -> Iterator[tuple[str, Figure]]:
    """Every panel as a figure of its own, with its title, and last the legend, called `legend`.

    Sized for a column of a paper, without titles: the text says what a panel shows. The axes are
    those of the whole figure, so that panels can be compared.
    """
    extent = _extent(_all_points(panels), curves)
    banded = False
    for title, own in (panel for row in panels for panel in row if not panel[1].empty):
        figure = Figure(figsize=_SINGLE)
        left, right, below, above = _SINGLE_MARGINS
        axes = figure.add_axes((left, below, 1 - left - right, 1 - below - above))
        _axes(axes, extent, curves, across=True, down=True)
        banded |= _panel(axes, own, curves, styles)
        yield title, figure
    names = _present(panels, curves, styles)
    legend = Figure()
    _legend(legend, names, styles, banded, -(-(len(names) + banded) // _LEGEND_LINES))
    legend.draw_without_rendering()
    box = legend.legends[0].get_window_extent()
    # It keeps its distance to the lower edge; the same above.
    legend.set_size_inches(box.width / legend.dpi, (box.y1 + box.y0) / legend.dpi)
    yield "legend", legend


def literal(text: str) -> str:
    """The text escaped so that Matplotlib does not parse it as mathematics."""
    return text.replace("$", r"\$")


def _all_points(panels: list[list[Panel]]) -> pd.DataFrame:
    return pd.concat([own for row in panels for _, own in row])


def _present(panels: list[list[Panel]], curves: Curves, styles: Mapping[str, Style]) -> list[str]:
    """The lines that some panel has, in the order of the styles."""
    names = {name for row in panels for _, own in row for name in own[curves.line].unique()}
    return [name for name in styles if name in names]


def _extent(points: pd.DataFrame, curves: Curves) -> tuple[list[float], list[float]]:
    """Horizontal and vertical limits that hold the points of every panel."""
    x = points[curves.x].to_numpy(float)
    y, std = points[curves.y].to_numpy(float), points[f"{curves.y}_std"].to_numpy(float)
    low, high = min(np.nanmin(y - std), 0.0), max(np.nanmax(y + std), 0.0)
    if curves.band and LIMITS[1] in points:
        high = np.nanmax([high, *points[LIMITS[1]].to_numpy(float)])
    room = _ROOM_ACROSS * (np.ptp(x) or 1.0)
    across = [x.min() - room, x.max() + room]
    if curves.symlog:
        return across, [0.0, _LOG_ROOM * high or 1.0]
    room = _ROOM_DOWN * (high - low or 1.0)
    return across, [low - room, high + room]


def _axes(
    axes: Axes,
    extent: tuple[list[float], list[float]],
    curves: Curves,
    *,
    across: bool,
    down: bool,
) -> None:
    """Scales shared by all panels; ticks and labels on the outer ones only, as ticks are slow."""
    axes.set_xlim(*extent[0])
    if curves.symlog:
        axes.set_yscale("symlog", linthresh=_LINEAR_BELOW, linscale=_LINEAR_DECADES)
        axes.set_yticks([0, *(t for t in _TICKS if t <= extent[1][1])])
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylim(*extent[1])
    axes.tick_params(labelsize=8)
    rule: dict[str, Any] = {"color": "0.92", "linewidth": 0.6, "zorder": 0.5}
    axes.vlines(axes.get_xticks(), 0, 1, transform=axes.get_xaxis_transform(), **rule)
    axes.hlines(axes.get_yticks(), 0, 1, transform=axes.get_yaxis_transform(), **rule)
    if across:
        axes.set_xlabel(curves.x_label)
    else:
        axes.xaxis.set_major_locator(NullLocator())
    if down:
        axes.set_ylabel(curves.y_label)
    else:
        axes.yaxis.set_major_locator(NullLocator())


def _panel(axes: Axes, points: pd.DataFrame, curves: Curves, styles: Mapping[str, Style]) -> bool:
    """Draw one panel; returns whether it has a limit band."""
    if curves.zero:
        axes.axhline(0, color="0.5", linewidth=0.8)
    banded = curves.band and _band(axes, points, curves.x)
    drawn = points.dropna(subset=[curves.y]).sort_values(curves.x)
    x, y, std = (
        drawn[column].to_numpy(float) for column in (curves.x, curves.y, f"{curves.y}_std")
    )
    lines = drawn[curves.line].to_numpy()
    for name in dict.fromkeys(lines):
        own = lines == name
        axes.add_line(Line2D(x[own], y[own], **_line(styles[name])))
    # One collection of all error bars is many times faster than one artist each.
    bars = np.stack([np.stack([x, y - std], axis=1), np.stack([x, y + std], axis=1)], axis=1)
    colours = [styles[name].colour for name in lines]
    axes.add_collection(
        LineCollection(list(bars), colors=colours, linewidths=0.9, alpha=0.75), autolim=False
    )
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
    handles: list[Any] = [
        Line2D([], [], label=literal(variant_name(name)), **_line(styles[name])) for name in names
    ]
    if banded:
        handles.append(Patch(color=_BAND, label=_BAND_LABEL))
    figure.legend(
        handles=handles,
        ncols=columns,
        loc="lower center",
        fontsize=8,
        frameon=False,
        handlelength=3.2,
    )
