"""Running Lightning: budget, checkpoints, progress in a terminal and in a log."""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from pytorch_lightning import Callback, LightningModule, Trainer
from torch.utils.data import DataLoader
from tqdm import tqdm

from gnnsync.errors import GnnsyncError, ParameterError, check_choice, check_integer
from gnnsync.learn.memory import kept_memory
from gnnsync.learn.module import SyncModule

log = logging.getLogger(__name__)

LAST_CHECKPOINT = "last.ckpt"
FINAL_CHECKPOINT = "final.ckpt"
# Edges from which a step needs blocks of memory that the C library would not keep by itself.
_LARGE = 1_000_000
ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")


class CheckpointError(GnnsyncError):
    """A checkpoint is missing, unreadable or of another model."""


@dataclass(frozen=True)
class Training:
    """Budget and device of a training run.

    Args:
        max_steps: budget of optimizer steps.
        patience: steps without a lower evaluation loss until a replica stops.
        eval_every: steps between evaluations. The evaluation loss decides about stopping and the
            best state; it changes little from step to step, and costs a third of one.
        steps_per_epoch: optimizer steps per Lightning epoch: progress, logging and checkpoints
            happen between epochs.
        accelerator: Lightning's; `auto`, `cpu`, `gpu`, `cuda` or `mps`. One device per job.
        precision: `32` or `64` bits.
        options: further arguments of `lightning.Trainer`.
    """

    max_steps: int = 1000
    patience: int = 200
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
        """Floating type of the training."""
        return torch.float32 if self.precision == 32 else torch.float64


@dataclass(frozen=True)
class Run:
    """What one call of `fit` may use beyond the model: where to write, what to tell.

    Args:
        directory: where checkpoints go; none are written if None.
        checkpoint_every: steps between checkpoints; 0 writes only the final one.
        resume: continue from `directory/last.ckpt` if it exists.
        loggers: Lightning loggers.
        callbacks: further Lightning callbacks.
        progress_bar: show a bar; by default when standard error is a terminal.
    """

    directory: Path | None = None
    checkpoint_every: int = 0
    resume: bool = False
    loggers: Sequence[Any] = ()
    callbacks: Sequence[Callback] = ()
    progress_bar: bool | None = None


def fit(module: SyncModule, training: Training, run: Run) -> None:
    """Train `module` and restore the best state of every replica."""
    bar = sys.stderr.isatty() if run.progress_bar is None else run.progress_bar
    callbacks: list[Callback] = [StepBar() if bar else LogProgress(), *run.callbacks]
    if run.directory is not None and run.checkpoint_every:
        callbacks.append(AtomicCheckpoint(run.directory / LAST_CHECKPOINT, run.checkpoint_every))
    trainer = _quiet_trainer(
        accelerator=training.accelerator,
        devices=1,
        max_epochs=math.ceil(module.max_steps / module.steps_per_epoch),
        logger=list(run.loggers) or False,
        callbacks=callbacks,
        enable_progress_bar=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
        default_root_dir=run.directory,
        **training.options,
    )
    last = run.directory / LAST_CHECKPOINT if run.directory is not None else None
    resume_from = str(last) if run.resume and last is not None and last.exists() else None
    if resume_from:
        _matching_state(module, Path(resume_from))
    if run.resume:
        log.info("resuming from %s" if resume_from else "nothing to resume in %s", last)
    # One empty batch per epoch: the module holds the graphs, and an epoch is a number of steps.
    schedule: DataLoader[Any] = DataLoader([0], batch_size=None)  # type: ignore[arg-type]
    large = module.batch.num_graphs * module.batch.max_edges > _LARGE
    with (
        _interruptible(trainer),
        kept_memory() if large else nullcontext(),
        warnings.catch_warnings(),
    ):
        # Lightning's own use of a part of torch that is about to change.
        warnings.filterwarnings("ignore", message=".*LeafSpec.*")
        trainer.fit(module, train_dataloaders=schedule, ckpt_path=resume_from, weights_only=False)
    module.restore_best()
    if run.directory is not None:
        save_atomically(trainer, run.directory / FINAL_CHECKPOINT)


def load_parameters(module: SyncModule, path: str | Path) -> None:
    """Give `module` the best parameters stored in a checkpoint of the same shape."""
    module.best = _matching_state(module, Path(path))
    module.restore_best()


def _matching_state(module: SyncModule, path: Path) -> dict[str, torch.Tensor]:
    """Best parameters stored at `path`, if they are of the same shape as those of `module`."""
    if not path.is_file():
        raise CheckpointError(f"ckpt = {path}: no such file")
    try:
        best = torch.load(path, map_location="cpu", weights_only=True)["gnnsync"]["best"]
    except Exception as error:
        raise CheckpointError(f"ckpt = {path}: not a gnnsync checkpoint ({error})") from None
    own = {name: tuple(p.shape) for name, p in module.named_parameters()}
    stored = {name: tuple(p.shape) for name, p in best.items()}
    if own != stored:
        differing = sorted(set(own.items()) ^ set(stored.items()))[0][0]
        raise CheckpointError(
            f"ckpt = {path}: of another model: {differing} has shape {stored.get(differing)} "
            f"there and {own.get(differing)} here; use the same k, encoder, width, number of "
            "networks and trials"
        )
    return best


def save_atomically(trainer: Trainer, path: Path) -> None:
    """Save a checkpoint so that `path` is always whole: write beside it, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    trainer.save_checkpoint(partial, weights_only=False)
    os.replace(partial, path)


def _quiet_trainer(**options: Any) -> Trainer:
    """A Trainer that does not announce hardware, tips and its own end at every call."""
    for name in ("pytorch_lightning", "lightning_fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    with warnings.catch_warnings():
        # A machine that has Slurm is not thereby one on which it should be used.
        warnings.filterwarnings("ignore", message=".*`srun` command is available.*")
        return Trainer(**options)


@contextmanager
def _interruptible(trainer: Trainer) -> Iterator[None]:
    """Let Ctrl-C come out as KeyboardInterrupt.

    Lightning turns it into an exit of the whole program, and has Ctrl-C ignored from then on.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit:
        if not trainer.interrupted:
            raise
        signal.signal(signal.SIGINT, handler)
        raise KeyboardInterrupt from None


class AtomicCheckpoint(Callback):
    """Write `path` about every `every` steps, between epochs."""

    def __init__(self, path: Path, every: int) -> None:
        self.path, self.every = path, every
        self._saved_at = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Count from where the run starts."""
        self._saved_at = pl_module.step  # type: ignore[assignment]

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Save when due."""
        step: int = pl_module.step  # type: ignore[assignment]
        if step - self._saved_at >= self.every:
            save_atomically(trainer, self.path)
            self._saved_at = step


class StepBar(Callback):
    """A progress bar over optimizer steps, on standard error."""

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the bar where the run starts."""
        module: Any = pl_module
        self._bar = tqdm(total=module.max_steps, initial=module.step, desc="training", unit="step")

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Show steps and the mean of the best evaluation losses."""
        module: Any = pl_module
        best = module.progress.mean_best_loss
        self._bar.set_postfix_str(f"loss {best:.4g}", refresh=False)
        self._bar.update(module.step - self._bar.n)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the finished bar."""
        self._bar.close()

    def on_exception(
        self, trainer: Trainer, pl_module: LightningModule, exception: BaseException
    ) -> None:
        """Leave the bar as far as it came."""
        self._bar.close()


class LogProgress(Callback):
    """Plain log lines, at every tenth of the budget."""

    def __init__(self) -> None:
        self._told = 0

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Tell step, loss and how many replicas still train."""
        module: Any = pl_module
        tenth = module.step * 10 // module.max_steps
        if tenth > self._told or module.finished:
            self._told = tenth
            log.info(
                "step %d of %d: best loss %.5g, %d of %d replicas training",
                module.step,
                module.max_steps,
                module.progress.mean_best_loss,
                module.progress.num_running,
                module.batch.replicas,
            )
