"""The figure of `python -m benchmarks`."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure


def draw(content: dict[str, Any]) -> Figure:
    """Speed-up per cell, growth with size, and what is measured so far."""
    panels = [(name, panel) for name, panel in _PANELS.items() if name in content]
    figure = Figure(figsize=(5.2 * max(len(panels), 1), 4.2), layout="constrained")
    grid = figure.subplots(1, max(len(panels), 1), squeeze=False)[0]
    for axes, (name, panel) in zip(grid, panels, strict=False):
        panel(axes, content[name]["figures"])
    return figure


def _step(axes: Any, figures: dict[str, dict[str, list[float]]]) -> None:
    kinds = list(next(iter(figures.values())))
    place = np.arange(len(figures))
    for i, kind in enumerate(kinds):
        middle = np.array([np.median(ratios[kind]) for ratios in figures.values()])
        low = middle - [np.min(ratios[kind]) for ratios in figures.values()]
        high = [np.max(ratios[kind]) for ratios in figures.values()] - middle
        shift = (i - (len(kinds) - 1) / 2) * 0.27
        axes.barh(place + shift, middle, 0.25, xerr=[low, high], label=kind, capsize=2)
    axes.set_yticks(place, list(figures))
    axes.invert_yaxis()
    axes.set_xlabel("times faster than the textbook step")
    axes.set_title("training step, per run")
    axes.legend(fontsize="small")


def _growth(axes: Any, figures: dict[str, list[dict[str, float]]]) -> None:
    points = figures["points"]
    edges = [point["m"] for point in points]
    axes.loglog(edges, [point["step"] for point in points], "o-", label="training step, s")
    axes.loglog(edges, [point["features"] for point in points], "s-", label="features, s")
    axes.loglog(edges, [point["peak"] / 2**30 for point in points], "^-", label="peak memory, GiB")
    scale = points[-1]["step"] / edges[-1]
    axes.loglog(edges, [scale * m for m in edges], ":", color="0.5", label="linear")
    axes.set_xlabel("measurements m")
    axes.set_title("growth with size, mean degree 20")
    axes.legend(fontsize="small")


def _launchers(axes: Any, figures: dict[str, dict[str, float]]) -> None:
    names = list(figures["per_hour"])
    axes.barh(names, [figures["per_hour"][name] for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("jobs per hour")
    axes.set_title("a quick sweep")


_PANELS = {"step": _step, "growth": _growth, "launchers": _launchers}
