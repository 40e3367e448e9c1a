"""Loaders that yield a whole batch: training is on whole graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytorch_lightning import LightningDataModule

from gnnsync.learn.batch import ReplicaBatch


@dataclass(frozen=True)
class WholeBatch:
    """A loader of one batch, the same in every epoch."""

    batch: ReplicaBatch

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[ReplicaBatch]:
        yield self.batch


class ReplicaDataModule(LightningDataModule):
    """A LightningDataModule whose loaders all yield one `ReplicaBatch`.

    The method is transductive: it is trained, evaluated and tested on the same graphs.
    """

    def __init__(self, batch: ReplicaBatch | None = None) -> None:
        super().__init__()
        self._batch = batch

    @property
    def batch(self) -> ReplicaBatch:
        """The batch that the loaders yield."""
        if self._batch is None:
            self._batch = self.make_batch()
        return self._batch

    def make_batch(self) -> ReplicaBatch:
        """Build the batch at its first use; for subclasses that are not given one."""
        raise NotImplementedError

    def train_dataloader(self) -> WholeBatch:
        """All graphs."""
        return WholeBatch(self.batch)

    def val_dataloader(self) -> WholeBatch:
        """The same graphs; used only if `trainer.limit_val_batches` is not 0."""
        return WholeBatch(self.batch)

    def test_dataloader(self) -> WholeBatch:
        """The same graphs."""
        return WholeBatch(self.batch)

    def predict_dataloader(self) -> WholeBatch:
        """The same graphs."""
        return WholeBatch(self.batch)
