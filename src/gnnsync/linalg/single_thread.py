"""Linear algebra in one thread, so that results do not depend on the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import numpy as np  # noqa: F401 (its library of linear algebra has to be there to be found)
import scipy.linalg  # noqa: F401 (the same)
from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_limit = ExitStack()
_inside = 0


@contextmanager
def single_thread() -> Iterator[None]:
    """Within it, the BLAS of NumPy and SciPy uses one thread.

    BLAS divides sums among its threads, so that the last digits depend on their number; of the
    small and sparse products here, several threads are slower too. The number of threads belongs to
    the process, not to the caller: the first that enters sets it, and the last that leaves, of all
    threads of Python, restores it.
    """
    global _inside
    with _lock:
        if not _inside:
            _limit.enter_context(_controller().limit(limits=1, user_api="blas"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _limit.close()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
