"""MSE against noise, one line per variant, between the limits of what can be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

NOISE = "data.eta"
_PANELS = ["data.graph", "data.n", "data.p", "data.k", "data.angles", "data.inlier_noise"]
_MARKERS = "osD^v<>Pp*hXd"


def varies(rows: pd.DataFrame) -> bool:
    """Whether the rows hold the MSE at more than one noise level."""
    return "mse" in rows and NOISE in rows and rows[NOISE].nunique() > 1


def comparison_figure(rows: pd.DataFrame) -> Figure:
    """One panel per kind of data, one line per variant: mean ± standard deviation over replicas.

    The band between oracle and certifiable limit is shaded. Lines of learned methods are dashed.
    """
    keys = [name for name in _PANELS if name in rows and rows[name].nunique() > 1]
    panels = list(rows.groupby(keys)) if keys else [((), rows)]
    columns = min(len(panels), 3)
    lines = -(-len(panels) // columns)
    size = (5.5 * columns + 2, 4.2 * lines)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, sharey=True)
    styles = _styles(sorted(rows["variant"].unique()))
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (values, part) in zip(grid.flat, panels, strict=False):
        _panel(axes, part, styles)
        axes.set_title(_label(dict(zip(keys, values, strict=True))))
    common = {name: rows[name].iloc[0] for name in _PANELS if name in rows and name not in keys}
    figure.suptitle(_label(common), fontsize="small", x=0.02, horizontalalignment="left")
    grid[0, 0].set_ylabel("MSE")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize="small")
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> None:
    limits = [name for name in ("limit_oracle", "limit_certifiable") if name in rows]
    if len(limits) == 2:
        band = rows.groupby(NOISE)[limits].mean().dropna()
        low, high = band["limit_oracle"], band["limit_certifiable"]
        axes.fill_between(
            band.index,
            low,
            np.maximum(low, high),
            color="0.85",
            label="limit: oracle to certifiable",
        )
    for variant, own in rows.groupby("variant"):
        line = own.groupby(NOISE)["mse"].agg(["mean", "std"]).fillna(0.0)
        axes.errorbar(
            line.index,
            line["mean"],
            yerr=line["std"],
            label=str(variant),
            capsize=2,
            linewidth=1.2,
            markersize=4,
            **styles[str(variant)],
        )
    axes.set_xlabel("outlier fraction η" if "data.p" in rows else "noise level η")
    # Linear near 0, where the exact methods are, and logarithmic up to random guessing.
    axes.set_yscale("symlog", linthresh=0.01, linscale=0.5)
    axes.set_ylim(bottom=0)


def _label(values: dict[str, Any]) -> str:
    return ", ".join(f"{key.removeprefix('data.')} = {value}" for key, value in values.items())


def _styles(variants: list[str]) -> dict[str, dict[str, Any]]:
    colors = colormaps["tab20"](np.arange(20))
    return {
        variant: {
            "color": colors[i % len(colors)],
            "marker": _MARKERS[i % len(_MARKERS)],
            "linestyle": "--" if variant.startswith("gnnsync") else "-",
        }
        for i, variant in enumerate(variants)
    }
