"""Reuse of memory between the steps on large graphs (off by default)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from pytorch_lightning import Callback, LightningModule, Trainer

# Parameters of glibc's `mallopt` and their defaults.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_DEFAULT_TRIM, _DEFAULT_MMAPS = 128 * 1024, 65536
_INT_MAX = 2**31 - 1


class KeepFreedMemory(Callback):
    """Let the C library keep freed memory while training, instead of returning it to the system.

    glibc takes every block beyond 32 MiB from the system and returns it when it is freed. A step
    on ten million edges frees and takes a gigabyte, in pages that the system clears one by one:
    a quarter to a half of the step. Kept, the blocks of one step serve the next. The setting holds
    for the whole process while it trains, which is why this callback is not a default; add it with
    `+callbacks.memory._target_=gnnsync.learn.callbacks.KeepFreedMemory`. It does nothing with
    another C library.
    """

    def __init__(self) -> None:
        self._kept = ExitStack()

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Keep from now on."""
        self._kept.enter_context(kept_memory())

    def on_fit_end(self, *_: Any) -> None:
        """Back to the defaults."""
        self._kept.close()

    def on_exception(self, *_: Any) -> None:
        """Back to the defaults."""
        self._kept.close()


@contextmanager
def kept_memory() -> Iterator[None]:
    """Let the C library keep what is freed meanwhile; see `KeepFreedMemory`."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        yield
        return
    library.mallopt(_MMAP_MAX, 0)
    library.mallopt(_TRIM_THRESHOLD, _INT_MAX)
    try:
        yield
    finally:
        library.mallopt(_MMAP_MAX, _DEFAULT_MMAPS)
        library.mallopt(_TRIM_THRESHOLD, _DEFAULT_TRIM)
        library.malloc_trim(0)
