"""Checkpoints of a job: the last one while it trains, the final one at its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import Checkpoint

from gnnsync.errors import check_integer

LAST_CHECKPOINT = "last.ckpt"
FINAL_CHECKPOINT = "final.ckpt"


class JobCheckpoint(Checkpoint):
    """Write `last.ckpt` while training and `final.ckpt` at the end, in `trainer.default_root_dir`.

    `last.ckpt` has all that `resume=true` needs to continue bit for bit. `final.ckpt` has the
    restored best parameters of every replica, which `ckpt=PATH fit=false` evaluates.

    A subclass of Lightning's `Checkpoint` and not of `ModelCheckpoint`: the latter saves at exact
    multiples of a number of steps, which macro-steps may jump over, and ranks by a metric.

    Args:
        every: optimizer steps between checkpoints, rounded up to whole macro-steps; 0 writes only
            the final one.
    """

    def __init__(self, every: int = 200) -> None:
        self.every = check_integer("every", every, 0)
        self._saved_at = 0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Count from where the run starts."""
        self._saved_at = trainer.global_step

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Save when due."""
        if self.every and trainer.global_step - self._saved_at >= self.every:
            trainer.save_checkpoint(_path(trainer, LAST_CHECKPOINT), weights_only=False)
            self._saved_at = trainer.global_step

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Save the final state; Lightning calls checkpoint callbacks after all others."""
        trainer.save_checkpoint(_path(trainer, FINAL_CHECKPOINT), weights_only=False)


def _path(trainer: Any, name: str) -> Path:
    return Path(trainer.default_root_dir) / name
