"""Making the Trainer of a run from the configured factory, and running it."""

from __future__ import annotations

import inspect
import logging
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from pytorch_lightning import Callback, LightningDataModule, Trainer
from pytorch_lightning.accelerators import AcceleratorRegistry
from pytorch_lightning.callbacks import Checkpoint, ProgressBar
from pytorch_lightning.plugins import CheckpointIO
from pytorch_lightning.profilers import PassThroughProfiler
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from torch import Tensor

from gnnsync.errors import ParameterError, check_integer, first_line
from gnnsync.learn.callbacks import History, ProfileReport, ReplicaStopping
from gnnsync.learn.callbacks.base import callbacks_of
from gnnsync.learn.module import SyncModule
from gnnsync.learn.training.checkpoint_io import AtomicCheckpointIO
from gnnsync.methods.base import RunContext

TrainerFactory = Callable[..., Trainer]
CallbackGroup = Sequence[Callback] | Mapping[str, Callback | None]

DTYPES = {"32-true": torch.float32, "64-true": torch.float64}

_ENABLING = ("enable_progress_bar", "enable_checkpointing")
# Arguments of the Trainer that are config groups of their own.
_GROUPS = {
    "callbacks": "callbacks are a group of their own, +callbacks.mine._target_=...",
    "logger": "loggers are a group of their own, logger=csv or logger=none",
}


def check_trainer(factory: TrainerFactory) -> None:
    """Refuse arguments of the Trainer that cannot work, before any work is done.

    The arguments of a factory that is not a `functools.partial` are not known here, and its
    `precision` must be 32-true.
    """
    given = _keywords(factory)
    allowed = inspect.signature(Trainer).parameters
    for name in given:
        if name not in allowed:
            allowed_here = "an argument of Lightning's Trainer"
            raise ParameterError(f"trainer.{name}", given[name], allowed_here)
    for name, groups in _GROUPS.items():
        if given.get(name) is not None:
            raise ParameterError(f"trainer.{name}", given[name], f"left out: {groups}")
    steps = given.get("max_steps", -1)
    known = hasattr(factory, "keywords")
    if known and (steps != -1 or not (given.get("max_epochs") or given.get("max_time"))):
        check_integer("trainer.max_steps", steps, 1)
    accelerator = given.get("accelerator", "auto")
    names = ["auto", "gpu", *sorted(AcceleratorRegistry.available_accelerators())]
    if isinstance(accelerator, str) and accelerator not in names:
        raise ParameterError("trainer.accelerator", accelerator, "one of " + ", ".join(names))
    precision = given.get("precision", "32-true")
    if precision not in DTYPES:
        raise ParameterError("trainer.precision", precision, "32-true or 64-true")
    if given.get("gradient_clip_val") is not None:
        raise ParameterError(
            "trainer.gradient_clip_val",
            given["gradient_clip_val"],
            "null: replicas are clipped one by one, with callbacks=gradient_clipping "
            "callbacks.gradient_clipping.max_norm=...",
        )
    if given.get("accumulate_grad_batches", 1) != 1:
        raise ParameterError(
            "trainer.accumulate_grad_batches",
            given["accumulate_grad_batches"],
            "1: a batch holds whole graphs",
        )


def trainer_dtype(factory: TrainerFactory) -> torch.dtype:
    """The floating type of the training that the Trainer's `precision` asks for."""
    return DTYPES[_keywords(factory).get("precision", "32-true")]


def as_list(callbacks: CallbackGroup) -> list[Callback]:
    """The callbacks of a list, or of a dictionary by name as in the config.

    None is left out, and so is a plain dictionary: a preset's setting for a callback that the
    chosen `callbacks` do not have.
    """
    found = callbacks.values() if isinstance(callbacks, Mapping) else callbacks
    own = [c for c in found if c is not None and not isinstance(c, Mapping)]
    for callback in own:
        if not isinstance(callback, Callback):
            raise ParameterError("callbacks", callback, "Lightning callbacks")
    bars = [type(c).__name__ for c in own if isinstance(c, ProgressBar)]
    if len(bars) > 1:
        only = "one progress bar; remove ours with ~callbacks.progress"
        raise ParameterError("callbacks", ", ".join(bars), only)
    return own


def make_trainer(
    factory: TrainerFactory, callbacks: Sequence[Callback], context: RunContext
) -> Trainer:
    """A Trainer with these callbacks that writes in the folder of `context`.

    Losses and stopping are part of the results: `ReplicaStopping` and `History` are added if they
    are missing, and come first. Without a folder no checkpoint is written. What the factory itself
    sets (`default_root_dir`, `enable_checkpointing`, `enable_progress_bar`) has precedence.
    """
    given = {name: value for name, value in _keywords(factory).items() if value is not None}
    own = list(callbacks)
    folder = given.get("default_root_dir", context.directory)
    if not given.get("enable_progress_bar", True):
        own = [c for c in own if not isinstance(c, ProgressBar)]
    if not given.get("enable_checkpointing", folder is not None):
        own = [c for c in own if not isinstance(c, Checkpoint)]
    stopping = [c for c in own if isinstance(c, ReplicaStopping)] or [ReplicaStopping(None)]
    rest = [c for c in own if not isinstance(c, ReplicaStopping)]
    options: dict[str, Any] = {
        "callbacks": [stopping[0], History(), *rest],
        "logger": list(context.loggers) or False,
        "enable_progress_bar": any(isinstance(c, ProgressBar) for c in own),
        "enable_checkpointing": any(isinstance(c, Checkpoint) for c in own),
        **{name: given[name] for name in _ENABLING if name in given},
        "plugins": _with_atomic_checkpoints(given.get("plugins")),
    }
    if folder is not None:
        options["default_root_dir"] = str(folder)
    try:
        with _without_notices():
            return factory(**options)
    except MisconfigurationException as error:
        accelerator = given.get("accelerator", "auto")
        reason = f"usable here: {first_line(error)}"
        raise ParameterError("trainer.accelerator", accelerator, reason) from None


def fit(
    trainer: Trainer, module: SyncModule, data: LightningDataModule, resume_from: str | None = None
) -> None:
    """`trainer.fit`, from a checkpoint if one is given."""
    with _running(trainer):
        trainer.fit(module, datamodule=data, ckpt_path=resume_from, weights_only=True)


def predict(trainer: Trainer, module: SyncModule, data: LightningDataModule) -> Tensor:
    """Final angles (R, n, k) in float64; loggers first get the loss and MSE of `trainer.test`."""
    with _running(trainer):
        if trainer.loggers:
            trainer.test(module, datamodule=data, verbose=False)
        found: Any = trainer.predict(module, datamodule=data)
    angles: Tensor = found[0]
    return angles


@contextmanager
def _running(trainer: Trainer) -> Iterator[None]:
    """Let Ctrl-C, or another signal that is raised like it, come out as it was raised.

    Lightning turns it into an exit of the whole program and ignores it from then on.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        # A profiler prints its table by Lightning's log, unless a callback of ours reports it.
        unprofiled = isinstance(getattr(trainer, "profiler", None), PassThroughProfiler)
        reported = any(isinstance(c, ProfileReport) for c in callbacks_of(trainer))
        with _without_notices(unprofiled or reported):
            yield
    except SystemExit as ended:
        if not trainer.interrupted:
            raise
        signal.signal(signal.SIGINT, handler)
        raised = ended.__context__
        raise (raised if isinstance(raised, KeyboardInterrupt) else KeyboardInterrupt) from None


@contextmanager
def _without_notices(quiet: bool = True) -> Iterator[None]:
    """Hide what Lightning says of hardware, tips and its own end (`quiet`), and two warnings.

    The warnings are not about the user's code.
    """
    logger = logging.getLogger("pytorch_lightning")
    level = logger.level
    if quiet:
        logger.setLevel(max(level, logging.WARNING))
    with warnings.catch_warnings():
        # It uses a class of torch that torch now deprecates.
        warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
        # A machine that has Slurm is not thereby one on which a job should use it.
        warnings.filterwarnings("ignore", message=".*`srun` command is available.*")
        try:
            yield
        finally:
            logger.setLevel(level)


def _keywords(factory: TrainerFactory) -> dict[str, Any]:
    """The arguments that the config sets: those of a `functools.partial`."""
    return dict(getattr(factory, "keywords", {}))


def _with_atomic_checkpoints(plugins: Any) -> list[Any]:
    own = list(plugins) if isinstance(plugins, list | tuple) else [plugins] if plugins else []
    chosen = any(isinstance(plugin, CheckpointIO) for plugin in own)
    return own if chosen else [*own, AtomicCheckpointIO()]
