"""Training in one dataclass: a short way to set trainer and callbacks in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import Callback, Trainer
from pytorch_lightning.callbacks import ProgressBar

from gnnsync.errors import ParameterError, check_choice, check_integer
from gnnsync.learn.callbacks import BestState, JobCheckpoint, ReplicaStopping, StepProgress
from gnnsync.learn.training.checkpoint import CheckpointError
from gnnsync.learn.training.trainer import TrainerFactory, trainer_dtype

__all__ = ["ACCELERATORS", "CheckpointError", "Run", "Training"]

ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")


@dataclass(frozen=True)
class Training:
    """Budget and device of a training run: `GNNSync(training=Training(max_steps=500))`.

    It sets the fields `trainer`, `callbacks`, `inner_steps` and `eval_every` of `GNNSync`; give
    these instead for anything else.

    Args:
        max_steps: budget of optimizer steps.
        patience: steps without a lower evaluation loss until a replica stops.
        eval_every: steps between evaluations. The evaluation loss decides about stopping and the
            best state; it changes little from step to step, and costs a third of one.
        steps_per_epoch: optimizer steps per macro-step (`inner_steps` of `GNNSync`): progress,
            logging and checkpoints happen between them.
        accelerator: Lightning's; `auto`, `cpu`, `gpu`, `cuda` or `mps`. One device per job.
        precision: `32` or `64` bits.
        options: further arguments of `pytorch_lightning.Trainer`.
    """

    max_steps: int = 200
    patience: int = 50
    eval_every: int = 10
    steps_per_epoch: int = 50
    accelerator: str = "auto"
    precision: int = 32
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_integer("max_steps", self.max_steps, 1)
        check_integer("patience", self.patience, 1)
        check_integer("eval_every", self.eval_every, 1)
        check_integer("steps_per_epoch", self.steps_per_epoch, 1)
        check_choice("accelerator", self.accelerator, ACCELERATORS)
        if self.precision not in (32, 64):
            raise ParameterError("precision", self.precision, "32 or 64")

    @property
    def dtype(self) -> torch.dtype:
        """The floating type of this precision."""
        return trainer_dtype(self.trainer())

    def trainer(self) -> TrainerFactory:
        """The factory of the Trainer."""
        return partial(
            Trainer,
            max_steps=self.max_steps,
            accelerator=self.accelerator,
            precision="32-true" if self.precision == 32 else "64-true",
            **{**TRAINER_OPTIONS, **self.options},
        )

    def callbacks(self) -> list[Callback]:
        """Stopping, best state and progress."""
        return [ReplicaStopping(self.patience), BestState(), StepProgress()]


# What conf/trainer/default.yaml sets beside budget, device and precision.
TRAINER_OPTIONS: dict[str, Any] = {
    "devices": 1,
    "limit_val_batches": 0,
    "log_every_n_steps": 1,
    "enable_model_summary": False,
}


@dataclass(frozen=True)
class Run:
    """Where one call of `GNNSync.fit` writes, and further callbacks.

    Args:
        directory: where checkpoints go; none are written if None.
        checkpoint_every: steps between checkpoints; 0 writes only the final one.
        resume: continue from `directory/last.ckpt` if it exists.
        callbacks: further Lightning callbacks.
        progress_bar: true shows our bar, false log lines, in place of any bar of the method or of
            `callbacks`; null keeps that, or else shows our bar if standard error is a terminal.
    """

    directory: Path | None = None
    checkpoint_every: int = 0
    resume: bool = False
    callbacks: Sequence[Callback] = ()
    progress_bar: bool | None = None

    def extended(self, callbacks: Sequence[Callback]) -> list[Callback]:
        """A method's callbacks with those of this run."""
        own = [c for c in callbacks if not isinstance(c, JobCheckpoint)]
        if self.progress_bar is not None or _has_bar(self.callbacks):
            own = [c for c in own if not isinstance(c, ProgressBar)]
        own += self.callbacks
        if self.progress_bar is not None:
            own = [c for c in own if not isinstance(c, ProgressBar)]
        if not _has_bar(own):
            own.append(StepProgress(self.progress_bar))
        return own if self.directory is None else [*own, JobCheckpoint(self.checkpoint_every)]


def _has_bar(callbacks: Sequence[Callback]) -> bool:
    return any(isinstance(c, ProgressBar) for c in callbacks)
