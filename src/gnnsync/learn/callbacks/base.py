"""Callbacks that see every optimizer step of a macro-step, replica by replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pytorch_lightning import Callback, Trainer
from torch import Tensor

from gnnsync.errors import GnnsyncError

if TYPE_CHECKING:
    from gnnsync.learn.module import SyncModule

Kind = TypeVar("Kind", bound=Callback)


@dataclass
class InnerStep:
    """One optimizer step.

    Args:
        step: optimizer steps taken so far, this one included.
        train: (R,) training losses before the step.
        evaluation: (R,) losses after the step without dropout; None if the step is not evaluated.
        improved: replicas with a lower evaluation loss than ever before, stopped ones excepted;
            set by `ReplicaStopping`, None without it.
    """

    step: int
    train: Tensor
    evaluation: Tensor | None
    improved: list[int] | None = None


class ReplicaCallback(Callback):
    """A callback that is also called after every optimizer step, within a macro-step.

    Lightning's own hooks are called once per batch, which is one macro-step of several optimizer
    steps. `SyncModule.training_step` calls `on_inner_step_end` of these callbacks in between, in
    the order of `trainer.callbacks`.
    """

    def on_inner_step_end(self, pl_module: SyncModule, result: InnerStep) -> None:
        """An optimizer step was taken."""
        raise NotImplementedError


def callbacks_of(trainer: Any) -> list[Callback]:
    """The callbacks of a Trainer, in the order in which they are called."""
    return list(trainer.callbacks)


def find_callback(trainer: Trainer, kind: type[Kind]) -> Kind:
    """The Trainer's first callback of this class."""
    for callback in callbacks_of(trainer):
        if isinstance(callback, kind):
            return callback
    raise GnnsyncError(f"the Trainer has no callback {kind.__name__}: add it to its callbacks")
