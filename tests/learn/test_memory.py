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


def touch(times):
    """Page faults per use of a block that is freed each time."""
    before = faults()
    for _ in range(times):
        torch.empty(BLOCK // 4).fill_(1.0)
    return (faults() - before) / times


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs the GNU C library")
def test_a_freed_block_serves_again():
    pages = BLOCK // resource.getpagesize()
    assert touch(4) > pages / 600  # even if the system uses huge pages
    with kept_memory():
        touch(1)
        assert touch(8) < pages / 600
    assert touch(4) > pages / 600


def test_an_error_passes_through():
    with pytest.raises(ValueError, match="stop"), kept_memory():
        raise ValueError("stop")
    assert np.ones(BLOCK // 8).sum() == BLOCK // 8
