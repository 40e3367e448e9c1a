"""Per-replica bookkeeping of a training run: history, best loss, patience, divergence."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import torch
from torch import Tensor

_PER_REPLICA = ("best_loss", "best_step", "stopped_at", "diverged")


class Status(StrEnum):
    """How a replica's training ended."""

    FINISHED = "finished"
    """The budget of steps was spent."""
    STOPPED = "stopped"
    """No lower evaluation loss for `patience` steps."""
    DIVERGED = "diverged"
    """The loss became NaN or infinite; the best state before that is kept."""


class ReplicaProgress:
    """Evaluation losses so far and what follows from them, for R replicas.

    Kept as plain numbers: for a handful of replicas that is many times cheaper than tensors.
    """

    def __init__(self, replicas: int, patience: int) -> None:
        self.patience = patience
        self.step = 0
        self.best_loss = [math.inf] * replicas
        self.best_step = [0] * replicas
        self.stopped_at: list[int | None] = [None] * replicas
        self.diverged = [False] * replicas
        self._train: list[Tensor] = []
        self._evaluation: list[Tensor] = []

    @property
    def mean_best_loss(self) -> float:
        """Mean over replicas of the lowest evaluation loss."""
        return sum(self.best_loss) / len(self.best_loss)

    @property
    def num_running(self) -> int:
        """How many replicas are still training."""
        return self.stopped_at.count(None)

    def record(self, train: Tensor, evaluation: Tensor | None = None) -> list[int]:
        """Enter one step's losses (R,); returns the replicas that improved.

        A step without an evaluation keeps the last one in the history and improves nothing.
        """
        self.step += 1
        self._train.append(train)
        self._evaluation.append(evaluation if evaluation is not None else self._last_evaluation())
        losses = train.tolist() if evaluation is None else evaluation.tolist()
        finite = map(math.isfinite, train.tolist())
        improved = []
        for r, (fine, loss) in enumerate(zip(finite, losses, strict=True)):
            if self.stopped_at[r] is not None:
                continue
            if not (fine and math.isfinite(loss)):
                self.diverged[r] = True
                self.stopped_at[r] = self.step
            elif evaluation is not None and loss < self.best_loss[r]:
                self.best_loss[r], self.best_step[r] = loss, self.step
                improved.append(r)
            elif self.step - self.best_step[r] >= self.patience:
                self.stopped_at[r] = self.step
        return improved

    def _last_evaluation(self) -> Tensor:
        if self._evaluation:
            return self._evaluation[-1]
        return torch.full((len(self.best_loss),), math.nan)

    def history(self) -> dict[str, Tensor]:
        """Training and evaluation loss, (steps, R) each."""
        empty = torch.empty(0, len(self.best_loss))
        return {
            "train": torch.stack(self._train).cpu() if self._train else empty,
            "evaluation": torch.stack(self._evaluation).cpu() if self._evaluation else empty,
        }

    def recent(self, start: int) -> list[tuple[str, list[Tensor]]]:
        """Losses since step `start`, by name: (R,) per step."""
        return [("train", self._train[start:]), ("evaluation", self._evaluation[start:])]

    def steps_taken(self) -> list[int]:
        """Steps until each replica stopped."""
        return [self.step if at is None else at for at in self.stopped_at]

    def status(self) -> list[Status]:
        """How each replica ended; a replica still running counts as finished."""
        found = []
        for diverged, at in zip(self.diverged, self.stopped_at, strict=True):
            if diverged:
                found.append(Status.DIVERGED)
            else:
                found.append(Status.FINISHED if at is None else Status.STOPPED)
        return found

    def state(self) -> dict[str, Any]:
        """Everything, as plain tensors and numbers."""
        return {
            "step": self.step,
            **{name: list(getattr(self, name)) for name in _PER_REPLICA},
            **self.history(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Inverse of `state`."""
        self.step = state["step"]
        for name in _PER_REPLICA:
            setattr(self, name, list(state[name]))
        self._train = list(state["train"])
        self._evaluation = list(state["evaluation"])
