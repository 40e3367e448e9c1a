"""Memory kept between the steps of a large job, and given back after it."""

import ctypes
import json
import subprocess
import sys
import textwrap

import pytest

from gnnsync.learn import GNNSync, Run
from gnnsync.learn.callbacks import KeepFreedMemory
from gnnsync.learn.callbacks.memory import kept_memory

# Page faults of using and freeing a block of 64 MiB, before, while and after the callback acts.
SCRIPT = """
    import json, resource
    import torch
    from gnnsync.learn.callbacks import KeepFreedMemory

    torch.set_num_threads(1)

    def faults(times=5):
        found = []
        for _ in range(times):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            torch.empty(16 << 20).fill_(1.0)
            found.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        return sorted(found)[times // 2]

    callback = KeepFreedMemory()
    found = [faults()]
    callback.on_fit_start(None, None)
    found.append(faults())
    callback.on_fit_end()
    found.append(faults())
    print(json.dumps(found))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs the GNU C library")
def test_a_freed_block_is_used_again_while_training_and_only_then():
    """In a process of its own: what other tests allocate moves the blocks."""
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    before, kept, after = json.loads(done.stdout)
    assert kept < before / 10
    assert after > before / 2


def test_it_is_switched_off_when_the_training_fails(make_graph, quick):
    closed = []

    class Broken(KeepFreedMemory):
        def on_train_batch_end(self, *_):
            raise ValueError("stop")

        def on_exception(self, *_):
            super().on_exception()
            closed.append(True)

    with pytest.raises(ValueError, match="stop"):
        GNNSync(training=quick()).fit([make_graph(0)], run=Run(callbacks=[Broken()]))
    assert closed == [True]


def test_an_error_passes_through():
    with pytest.raises(ValueError, match="stop"), kept_memory():
        raise ValueError("stop")
