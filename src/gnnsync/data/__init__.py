"""Where offsets come from: synthetic models, point clouds, files."""

from gnnsync.data.base import SyncDataModule
from gnnsync.data.file_module import FileDataModule
from gnnsync.data.localization import LocalizationDataModule
from gnnsync.data.synthetic import SyntheticDataModule

__all__ = ["FileDataModule", "LocalizationDataModule", "SyncDataModule", "SyntheticDataModule"]
