"""Figures of one run: the loss curve, and the angles against the truth."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gnnsync.angles import align_columns, wrap
from gnnsync.metrics import angular_mse
from gnnsync.typing import FloatArray


def loss_figure(history: dict[str, FloatArray]) -> Figure:
    """Training and evaluation loss against steps: mean over replicas, band from least to most."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name, losses in history.items():
        steps = np.arange(1, len(losses) + 1)
        with np.errstate(invalid="ignore"):
            finite = np.where(np.isfinite(losses), losses, np.nan)
        axes.plot(steps, np.nanmean(finite, axis=1), label=name, linewidth=1)
        low, high = np.nanmin(finite, axis=1), np.nanmax(finite, axis=1)
        axes.fill_between(steps, low, high, alpha=0.15, linewidth=0)
    axes.set(xlabel="step", ylabel="loss", title="loss, mean and range over replicas")
    axes.legend()
    return figure


def angle_figure(
    estimate: FloatArray,
    truth: FloatArray,
    features: FloatArray | None,
    method: str,
) -> Figure:
    """Estimated against true angles after alignment, one row per set; the features beside."""
    panels = {method: estimate} if features is None else {"features": features, method: estimate}
    k = truth.shape[1]
    size = (4 * len(panels), 3.8 * k)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(k, len(panels), squeeze=False, sharex=True, sharey=True)
    for column, (name, angles) in enumerate(panels.items()):
        aligned = align_columns(angles, truth)
        for group in range(k):
            axes = grid[group, column]
            _scatter(axes, aligned[:, group], truth[:, group])
            if group == 0:
                axes.set_title(f"{name}: MSE {angular_mse(angles, truth):.3f}")
        grid[-1, column].set_xlabel("true angle")
    for group in range(k):
        label = "estimated angle" if k == 1 else f"estimated angle, set {group + 1}"
        grid[group, 0].set_ylabel(label)
    return figure


def _scatter(axes: Axes, estimate: FloatArray, truth: FloatArray) -> None:
    error = wrap(estimate - truth)
    axes.plot([0, 2 * np.pi], [0, 2 * np.pi], color="0.8", linewidth=1, zorder=0)
    # Unwrapped onto the branch nearest the diagonal, so that 0 and 2π do not fly apart.
    axes.scatter(truth, truth + error, c=np.abs(error), cmap="viridis_r", s=8, vmin=0, vmax=np.pi)
    axes.set_xlim(0, 2 * np.pi)
