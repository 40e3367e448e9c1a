"""The loss curve, for all loggers of the Trainer."""

from __future__ import annotations

from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

from gnnsync.errors import check_integer
from gnnsync.learn.callbacks.base import find_callback
from gnnsync.learn.callbacks.history import History
from gnnsync.learn.replicas import finite_mean


class LossCurve(Callback):
    """Log `loss/train` and `loss/evaluation`, averaged over replicas, at their true step.

    Replicas whose loss is not finite are left out of the mean. Points are sent once per macro-step.
    A curve of some hundred points shows as much as one of a thousand, and costs less to send and
    to store.

    Args:
        every: steps between points; the first step is always logged.
        max_points: the distance grows so that a run has at most this many points.
    """

    def __init__(self, every: int = 10, max_points: int = 500) -> None:
        self.every = check_integer("every", every, 1)
        self.max_points = check_integer("max_points", max_points, 1)
        self._sent = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A resumed run has sent its past already."""
        self._sent = trainer.global_step

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        """Send the points of this macro-step."""
        module: Any = pl_module
        history = find_callback(trainer, History)
        budget = module.budget
        distance = self.every if budget is None else max(self.every, budget // self.max_points)
        recent = history.since(self._sent)
        for step in range(self._sent + 1, trainer.global_step + 1):
            if step % distance == 0 or step == 1:
                at = step - self._sent - 1
                values = {f"loss/{name}": float(finite_mean(v[at])) for name, v in recent.items()}
                for logger in trainer.loggers:
                    logger.log_metrics(values, step=step)
        self._sent = trainer.global_step
