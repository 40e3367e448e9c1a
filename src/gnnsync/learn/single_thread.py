"""Torch in one thread, so that results do not depend on the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.RLock()


@contextmanager
def single_torch_thread() -> Iterator[None]:
    """Within it, torch computes in one thread on the CPU; the number before it is restored.

    Torch divides sums among its threads, and vectors where the last numbers are computed by other
    instructions than the rest: the last digits depend on the number of threads. Gradients of
    indexed tensors are summed in the order in which the threads arrive, so that they differ from
    run to run.

    Part of the setting belongs to the process: other threads of Python wait until it is restored.
    """
    with _lock:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
