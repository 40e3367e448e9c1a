"""Training curves for the page: the losses of learned jobs, thinned and averaged over replicas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gnnsync.results.files import SOLUTIONS
from gnnsync.results.reading import read_arrays
from gnnsync.typing import FloatArray

# Points per curve, and jobs whose curves are read: together about a megabyte of a page.
_POINTS, MOST_CURVES = 60, 1000


@dataclass(frozen=True)
class TrainingCurve:
    """Losses at some optimizer steps, averaged over the replicas of a job.

    Args:
        steps: numbers of the optimizer steps, from 1.
        train: training loss, with dropout.
        evaluation: evaluation loss, without.
    """

    steps: list[int]
    train: list[float]
    evaluation: list[float]


def training_curve(folder: Path) -> TrainingCurve | None:
    """The curve of the job in this folder; None if it did not train."""
    losses = read_arrays(folder / SOLUTIONS, ("loss_train", "loss_evaluation"))
    if losses is None:
        return None
    train, evaluation = losses
    if train.ndim != 2 or train.shape != evaluation.shape or not train.size:
        return None
    places = np.unique(np.linspace(0, len(train) - 1, _POINTS).round().astype(int))
    means = _means(train[places]), _means(evaluation[places])
    known = np.isfinite(means[0]) & np.isfinite(means[1])
    if not known.any():
        return None
    steps = (places[known] + 1).tolist()
    return TrainingCurve(steps, *(_rounded(mean[known]) for mean in means))


def _means(losses: FloatArray) -> FloatArray:
    """Mean over the replicas (columns) whose loss is finite; NaN where none is."""
    finite = np.isfinite(losses)
    sums = np.where(finite, losses, 0.0).sum(axis=1)
    count = finite.sum(axis=1)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)


def _rounded(values: Sequence[float] | FloatArray) -> list[float]:
    return [float(f"{value:.5g}") for value in values]
