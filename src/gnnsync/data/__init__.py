"""Where offsets come from: synthetic models, point clouds, distances, files.

`SyntheticNetworks`, `PatchNetworks`, `DistanceNetworks` and `FileNetworks` need NumPy and SciPy
only. The LightningDataModules of the same data are loaded at first use.
"""

from typing import TYPE_CHECKING

from gnnsync.data.base import Networks
from gnnsync.data.distances import DistanceNetworks
from gnnsync.data.file_module import FileNetworks
from gnnsync.data.lazy import lightning_names
from gnnsync.data.localization import PatchNetworks
from gnnsync.data.maps import Map, PatchPair, Reconstruction
from gnnsync.data.synthetic import SyntheticNetworks

if TYPE_CHECKING:
    from gnnsync.data.datamodules import (
        DistanceDataModule,
        FileDataModule,
        LocalizationDataModule,
        SyncDataModule,
        SyntheticDataModule,
    )

__all__ = [
    "DistanceDataModule",
    "DistanceNetworks",
    "FileDataModule",
    "FileNetworks",
    "LocalizationDataModule",
    "Map",
    "Networks",
    "PatchNetworks",
    "PatchPair",
    "Reconstruction",
    "SyncDataModule",
    "SyntheticDataModule",
    "SyntheticNetworks",
]

__getattr__ = lightning_names(
    __name__,
    "DistanceDataModule",
    "FileDataModule",
    "LocalizationDataModule",
    "SyncDataModule",
    "SyntheticDataModule",
)
