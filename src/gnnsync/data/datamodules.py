"""The data sets as LightningDataModules, for training with a Trainer of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gnnsync.data.base import Networks
from gnnsync.data.distances import DistanceNetworks
from gnnsync.data.file_module import FileNetworks
from gnnsync.data.localization import PatchNetworks
from gnnsync.data.synthetic import SyntheticNetworks
from gnnsync.graph import MeasurementGraph
from gnnsync.learn import GNNSync
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.training.loading import ReplicaDataModule


class SyncDataModule(Networks, ReplicaDataModule):
    """Networks whose loaders yield them as one `ReplicaBatch`.

    A subclass implements `make_graph`. The batch holds the input features, which belong to the
    method: set `prepare` to choose them, and the number of trials:

        data = SyntheticDataModule(...)
        method = GNNSync()
        data.prepare = partial(method.prepare, seeds=[1, 2], trials=1)
        module = method.build(data.batch)
        trainer.fit(module, datamodule=data)
    """

    prepare: Callable[[Sequence[MeasurementGraph], int], ReplicaBatch] | None = None

    def make_batch(self) -> ReplicaBatch:
        """All networks; by default prepared by `GNNSync()` with their network seeds."""
        if self.prepare is not None:
            return self.prepare(self.graphs, self.k)
        return GNNSync().prepare(self.graphs, self.k, seeds=self.seeds)


class SyntheticDataModule(SyntheticNetworks, SyncDataModule):
    """`SyntheticNetworks` with loaders."""


class LocalizationDataModule(PatchNetworks, SyncDataModule):
    """`PatchNetworks` with loaders."""


class DistanceDataModule(DistanceNetworks, SyncDataModule):
    """`DistanceNetworks` with loaders."""


class FileDataModule(FileNetworks, SyncDataModule):
    """`FileNetworks` with loaders."""
