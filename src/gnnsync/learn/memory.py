"""Reusing memory between training steps on large graphs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# Parameters of glibc's `mallopt` and their defaults.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_DEFAULT_TRIM, _DEFAULT_MMAPS = 128 * 1024, 65536
_INT_MAX = 2**31 - 1


@contextmanager
def kept_memory() -> Iterator[None]:
    """Let the C library keep what is freed meanwhile, instead of returning it to the system.

    glibc takes every block beyond 32 MiB from the system and returns it when it is freed. A step
    on ten million edges frees and takes a gigabyte, in pages that the system clears one by one:
    a quarter to a half of the step. Kept, the blocks of one step serve the next. Does nothing with
    another C library.
    """
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
