"""Progress of a training: a bar in a terminal, log lines elsewhere."""

from __future__ import annotations

import logging
import sys
from typing import Any

from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import ProgressBar
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from gnnsync.learn.callbacks.base import find_callback
from gnnsync.learn.callbacks.stopping import ReplicaStopping

log = logging.getLogger(__name__)

# Log lines over the whole budget.
_LINES = 10


class StepProgress(ProgressBar):
    """Show optimizer steps, loss and time left.

    Lightning's own bars count batches, here macro-steps, and know no end when the budget is
    `max_steps`. To use one of them, set `callbacks.progress._target_`, or choose
    `callbacks=rich_progress`.

    Args:
        bar: draw a bar on standard error; by default if that is a terminal. Otherwise a line is
            logged at every tenth of the budget.
    """

    def __init__(self, bar: bool | None = None) -> None:
        super().__init__()
        self.bar = bar
        self._display: Progress | None = None
        self._lines = 0
        self._enabled = True

    def disable(self) -> None:
        """Show nothing."""
        self._enabled = False

    def enable(self) -> None:
        """Show again."""
        self._enabled = True

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the bar where the run starts."""
        if not self._enabled or not (sys.stderr.isatty() if self.bar is None else self.bar):
            return
        module: Any = pl_module
        display = Progress(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps, loss {task.fields[loss]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            auto_refresh=False,  # refreshed once per macro-step, without a thread
        )
        display.start()
        # Not before it has started: Ctrl-C within `start` leaves nothing that could be stopped.
        self._display = display
        display.add_task("training", total=module.budget, completed=trainer.global_step, loss="-")

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        """Show steps and the mean of the best evaluation losses."""
        stopping = find_callback(trainer, ReplicaStopping)
        if self._display is not None:
            best = f"{stopping.progress.mean_best_loss:.4g}"
            task = self._display.task_ids[0]
            self._display.update(task, completed=trainer.global_step, loss=best, refresh=True)
        elif self._enabled:
            self._log(trainer, pl_module, stopping)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the finished bar."""
        self._close()

    def on_exception(self, *_: Any) -> None:
        """Leave the bar as far as it came."""
        self._close()

    def _close(self) -> None:
        if self._display is not None:
            self._display.stop()
            self._display = None

    def _log(self, trainer: Trainer, module: Any, stopping: ReplicaStopping) -> None:
        step, budget, progress = trainer.global_step, module.budget, stopping.progress
        lines = step * _LINES // budget if budget else self._lines + 1
        if lines > self._lines or not progress.num_running:
            self._lines = lines
            log.info(
                "step %d%s: lowest loss %.5g, %d of %d runs still training",
                step,
                f" of {budget}" if budget else "",
                progress.mean_best_loss,
                progress.num_running,
                module.replicas,
            )
