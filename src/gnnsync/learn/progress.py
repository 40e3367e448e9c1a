"""Per-replica bookkeeping of a training run: history, best loss, patience, divergence."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import torch
from torch import Tensor


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

    All tensors stay on the training device; nothing here waits for it.
    """

    def __init__(self, replicas: int, patience: int) -> None:
        self.patience = patience
        self.step = 0
        self.best_loss = torch.full((replicas,), torch.inf)
        self.best_step = torch.zeros(replicas, dtype=torch.int64)
        self.stopped_at = torch.full((replicas,), -1, dtype=torch.int64)
        self.diverged = torch.zeros(replicas, dtype=torch.bool)
        self._train: list[Tensor] = []
        self._evaluation: list[Tensor] = []

    @property
    def running(self) -> Tensor:
        """Which replicas (R,) are still training."""
        return self.stopped_at < 0

    @property
    def any_running(self) -> bool:
        """Whether at least one replica is still training."""
        return bool(self.running.any())

    def record(self, train: Tensor, evaluation: Tensor) -> Tensor:
        """Enter one step's losses (R,); returns which replicas (R,) improved."""
        self.step += 1
        self._train.append(train)
        self._evaluation.append(evaluation)
        running = self.stopped_at < 0
        broken = running & ~(torch.isfinite(train) & torch.isfinite(evaluation))
        improved = running & (evaluation < self.best_loss) & ~broken
        self.best_loss = torch.where(improved, evaluation, self.best_loss)
        self.best_step = torch.where(improved, self.step, self.best_step)
        idle = running & (self.step - self.best_step >= self.patience)
        self.diverged |= broken
        self.stopped_at = torch.where(broken | idle, self.step, self.stopped_at)
        return improved

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
        return torch.where(self.running, self.step, self.stopped_at).tolist()

    def status(self) -> list[Status]:
        """How each replica ended; a replica still running counts as finished."""
        found = []
        for diverged, running in zip(self.diverged.tolist(), self.running.tolist(), strict=True):
            if diverged:
                found.append(Status.DIVERGED)
            else:
                found.append(Status.FINISHED if running else Status.STOPPED)
        return found

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        for name in ("best_loss", "best_step", "stopped_at", "diverged"):
            setattr(self, name, getattr(self, name).to(device))

    def state(self) -> dict[str, Any]:
        """Everything, as plain tensors and numbers."""
        return {
            "step": self.step,
            "best_loss": self.best_loss,
            "best_step": self.best_step,
            "stopped_at": self.stopped_at,
            "diverged": self.diverged,
            **self.history(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Inverse of `state`."""
        self.step = state["step"]
        for name in ("best_loss", "best_step", "stopped_at", "diverged"):
            setattr(self, name, state[name])
        self._train = list(state["train"])
        self._evaluation = list(state["evaluation"])
