"""Lightning, imported in two thirds of its time: no other module imports it.

Lightning loads torchmetrics, which loads `scipy.signal` only to see whether that has the name
`hamming`. A stand-in that has it spares a fifth of the time and is gone when Lightning is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import scipy

from gnnsync.collector import paused_collector

_SIGNAL = "scipy.signal"


@contextmanager
def _without_signal_processing() -> Iterator[None]:
    """Have `import scipy.signal` find a module with nothing but `hamming`, unless it is loaded."""
    if _SIGNAL in sys.modules:
        yield
        return
    stand_in = ModuleType(_SIGNAL)
    stand_in.hamming = None  # type: ignore[attr-defined]
    sys.modules[_SIGNAL] = stand_in
    scipy.signal = stand_in
    try:
        yield
    finally:
        del sys.modules[_SIGNAL], scipy.signal


with paused_collector(), _without_signal_processing():
    from lightning import Callback, LightningDataModule, LightningModule, Trainer
    from lightning.pytorch.loggers import Logger

__all__ = ["Callback", "LightningDataModule", "LightningModule", "Logger", "Trainer"]
