"""Memory kept between the steps of a large job, and given back after it."""

import ctypes
import resource

import numpy as np
import pytest
import torch

from gnnsync.learn.memory import kept_memory

BLOCK = 64 << 20


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def uses(times):
    """Page faults of each use of a block that is freed each time."""
    found = []
    for _ in range(times):
        before = faults()
        torch.empty(BLOCK // 4).fill_(1.0)
        found.append(faults() - before)
    return found


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs the GNU C library")
def test_a_freed_block_serves_again():
    few = BLOCK // resource.getpagesize() / 600  # even if the system uses huge pages
    assert np.mean(uses(4)) > few
    with kept_memory():
        # The median: now and then another block of the process lies where it was, and it moves.
        assert np.median(uses(9)) < few
    assert np.mean(uses(4)) > few


def test_an_error_passes_through():
    with pytest.raises(ValueError, match="stop"), kept_memory():
        raise ValueError("stop")
    assert np.ones(BLOCK // 8).sum() == BLOCK // 8
