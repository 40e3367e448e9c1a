"""Per-replica bookkeeping of a training run: best loss, patience, divergence."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

from torch import Tensor

_PER_REPLICA = ("best_loss", "best_step", "stopped_at", "diverged")


class Status(StrEnum):
    """How a replica's training ended."""

    FINISHED = "finished"
    """Still training when the run ended: the budget was spent, or a callback ended the run
    (Lightning's `EarlyStopping`, `Timer`)."""
    STOPPED = "stopped"
    """No lower evaluation loss for `patience` steps."""
    DIVERGED = "diverged"
    """The loss became NaN or infinite; the best state before that is kept."""


class ReplicaProgress:
    """The lowest evaluation loss of R replicas so far, and which of them still train.

    Kept as plain numbers: for a handful of replicas that is many times cheaper than tensors.

    Args:
        replicas: R.
        patience: steps without a lower evaluation loss until a replica stops; None never stops it.
        keep_last: every finite step counts as an improvement, so that the last state is kept.
    """

    def __init__(
        self, replicas: int, patience: int | None = None, *, keep_last: bool = False
    ) -> None:
        self.patience = patience
        self.keep_last = keep_last
        self.step = 0
        self.best_loss = [math.inf] * replicas
        self.best_step = [0] * replicas
        self.stopped_at: list[int | None] = [None] * replicas
        self.diverged = [False] * replicas

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

        A step without an evaluation improves nothing.
        """
        self.step += 1
        trained = train.tolist()
        losses = trained if evaluation is None else evaluation.tolist()
        finite = map(math.isfinite, trained)
        patience = math.inf if self.patience is None else self.patience
        improved = []
        for r, (fine, loss) in enumerate(zip(finite, losses, strict=True)):
            if self.stopped_at[r] is not None:
                continue
            if not (fine and math.isfinite(loss)):
                self.diverged[r] = True
                self.stopped_at[r] = self.step
            elif self.keep_last or (evaluation is not None and loss < self.best_loss[r]):
                self.best_loss[r], self.best_step[r] = loss, self.step
                improved.append(r)
            elif self.step - self.best_step[r] >= patience:
                self.stopped_at[r] = self.step
        return improved

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
        """Everything, as plain numbers."""
        return {"step": self.step, **{name: list(getattr(self, name)) for name in _PER_REPLICA}}

    def load(self, state: dict[str, Any]) -> None:
        """Inverse of `state`."""
        self.step = state["step"]
        for name in _PER_REPLICA:
            setattr(self, name, list(state[name]))
