"""When epochs end."""

from __future__ import annotations

from collections.abc import Callable

from pytorch_lightning import Callback


class EpochClock(Callback):
    """Reads a clock, such as `time.process_time`, at the end of every epoch."""

    def __init__(self, read: Callable[[], float]) -> None:
        self.read = read
        self.ends: list[float] = []

    def on_train_epoch_end(self, *_: object) -> None:
        self.ends.append(self.read())
