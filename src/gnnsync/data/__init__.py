"""Where offsets come from: synthetic models, point clouds, files."""

from gnnsync.data.base import SyncDataModule
from gnnsync.data.synthetic import SyntheticDataModule

__all__ = ["SyncDataModule", "SyntheticDataModule"]
