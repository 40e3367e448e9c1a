"""When epochs end, and a training that is timed by them."""

from __future__ import annotations

from collections.abc import Callable

from pytorch_lightning import Callback

from gnnsync.learn import GNNSync
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.callbacks import StepProgress
from gnnsync.learn.module import SyncModule
from gnnsync.learn.training.loading import ReplicaDataModule
from gnnsync.learn.training.trainer import as_list, fit, make_trainer
from gnnsync.methods.base import RunContext


class EpochClock(Callback):
    """Reads a clock, such as `time.process_time`, at the end of every epoch."""

    def __init__(self, read: Callable[[], float]) -> None:
        self.read = read
        self.ends: list[float] = []

    def on_train_epoch_end(self, *_: object) -> None:
        self.ends.append(self.read())


def timed_fit(method: GNNSync, module: SyncModule, batch: ReplicaBatch, clock: EpochClock) -> None:
    """Train as `GNNSync.fit` does, with a clock and without a bar."""
    own = [c for c in as_list(method.callbacks) if not isinstance(c, StepProgress)]
    trainer = make_trainer(method.trainer, [*own, StepProgress(False), clock], RunContext())
    fit(trainer, module, ReplicaDataModule(batch))
