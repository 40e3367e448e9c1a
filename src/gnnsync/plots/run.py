"""Figures of one run: the loss curve, and the angles against the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gnnsync.angles import align_columns, wrap
from gnnsync.metrics import angular_mse
from gnnsync.typing import FloatArray

# A figure of more panels is neither legible nor quick to draw.
_MOST_RUNS, _RUNS_PER_ROW = 20, 5


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


@dataclass(frozen=True)
class RunAngles:
    """Angles (n, k) of one run of a method, and the truth that they are drawn against.

    Args:
        title: what identifies the run, such as the seed of its network.
        truth: the true angles.
        stages: the angles of each stage by its name, such as the features and the answer.
    """

    title: str
    truth: FloatArray
    stages: Mapping[str, FloatArray]


def angle_figure(runs: Sequence[RunAngles]) -> Figure:
    """Estimated against true angles after alignment: a column per run, a row per stage.

    More than five runs take several blocks of rows; runs beyond the first 20 are left out, and
    the heading says so. The k groups have different colours.
    """
    shown = runs[:_MOST_RUNS]
    stages = list(shown[0].stages)
    columns = min(len(shown), _RUNS_PER_ROW)
    blocks = -(-len(shown) // columns)
    size = (max(2.4 * columns, 4.0) + 0.4, 2.5 * blocks * len(stages) + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(blocks * len(stages), columns, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat:
        axes.set_visible(False)
    for i, run in enumerate(shown):
        block, column = divmod(i, columns)
        for row, stage in enumerate(stages, block * len(stages)):
            axes = grid[row, column]
            axes.set_visible(True)
            _scatter(axes, run.stages[stage], run.truth)
            mse = angular_mse(run.stages[stage], run.truth)
            axes.set_title(f"{run.title}\n{stage}: MSE {mse:.3g}", fontsize=8)
            if column == 0:
                axes.set_ylabel("estimated angle")
        axes.set_xlabel("true angle")
        axes.tick_params(labelbottom=True)
    left_out = f", the first {len(shown)} of {len(runs)} runs" if len(shown) < len(runs) else ""
    figure.suptitle(f"angles in radians, after alignment{left_out}", fontsize=10)
    return figure


def _scatter(axes: Axes, angles: FloatArray, truth: FloatArray) -> None:
    aligned = align_columns(angles, truth)
    axes.plot([0, 2 * np.pi], [0, 2 * np.pi], color="0.8", linewidth=1, zorder=0)
    for group in range(truth.shape[1]):
        # Unwrapped onto the branch nearest the diagonal, so that 0 and 2π do not fly apart.
        error = wrap(aligned[:, group] - truth[:, group])
        axes.scatter(truth[:, group], truth[:, group] + error, s=4, linewidths=0)
    axes.set_xlim(0, 2 * np.pi)
