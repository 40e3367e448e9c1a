"""Progress and checkpoints of a training in which every batch is one optimizer step."""

from __future__ import annotations

import logging
from typing import Any

import torch
from pytorch_lightning import LightningModule, Trainer

from gnnsync.learn.callbacks import JobCheckpoint, StepProgress

log = logging.getLogger(__name__)

# Log lines over the whole budget.
_LINES = 20


class TrainingProgress(StepProgress):
    """Optimizer steps, last loss and time left: a bar in a terminal, log lines elsewhere.

    Only the first of several processes shows it.

    Args:
        bar: draw a bar on standard error; by default if that is a terminal. Otherwise a line is
            logged at every twentieth of the budget.
    """

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the bar where the run starts."""
        if not trainer.is_global_zero:
            self.disable()
        super().on_train_start(trainer, pl_module)

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        """Show steps and loss."""
        module: Any = pl_module
        step, budget = trainer.global_step, module.budget
        if self._display is not None:
            task, loss = self._display.task_ids[0], f"{_loss(trainer):.4g}"
            self._display.update(task, completed=step, loss=loss, refresh=True)
        elif self._enabled:
            lines = step * _LINES // budget if budget else self._lines + 1
            if lines > self._lines:
                self._lines = lines
                of_budget = f" of {budget}" if budget else ""
                log.info("step %d%s: loss %.4g", step, of_budget, _loss(trainer))


class TrainingCheckpoint(JobCheckpoint):
    """`last.ckpt` every so many optimizer steps, `final.ckpt` at the end; see `JobCheckpoint`.

    With an average of the weights, both files hold it as the parameters, and `last.ckpt` the
    current ones beside it.
    """

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        """Save when due."""
        super().on_train_epoch_end(trainer, pl_module)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Nothing: the batch before was saved."""


def _loss(trainer: Trainer) -> float:
    """The loss that was logged last."""
    return float(trainer.callback_metrics.get("loss/train", torch.nan))
