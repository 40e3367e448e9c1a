"""The bar in a terminal, the lines elsewhere."""

import os
import pty
import re
import select
import subprocess
import sys
import textwrap
import time

import pytest

from gnnsync.learn import GNNSync, Run

SCRIPT = """
    import numpy as np
    from gnnsync import MeasurementGraph
    from gnnsync.learn import GNNSync, Training

    index = np.array([[0, 1, 2, 3, 0, 1], [1, 2, 3, 0, 2, 3]])
    graph = MeasurementGraph(index, np.linspace(0, 1, 6), 4)
    GNNSync(training=Training(max_steps=120, steps_per_epoch=20, accelerator="cpu"))(graph)
"""


def in_terminal(command: list[str], seconds: float = 120) -> str:
    """What a command writes to a terminal that is its standard error."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave) as process:
        os.close(slave)
        shown, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    piece = os.read(master, 65536)
                except OSError:  # the other side is closed
                    break
                if not piece:
                    break
                shown += piece
        process.wait(timeout=30)
    os.close(master)
    assert process.returncode == 0, shown.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_a_terminal_shows_steps_and_time_left():
    shown = in_terminal([sys.executable, "-c", textwrap.dedent(SCRIPT)])
    steps = [int(step) for step in re.findall(r"(\d+)/120", shown)]
    assert steps[0] == 0
    assert steps[-1] == 120
    assert set(range(20, 121, 20)) <= set(steps)
    assert re.search(r"loss \d", shown)
    assert re.search(r"left +\d:\d\d:\d\d", shown)
    assert "of 120" not in shown  # no log lines beside the bar


def test_elsewhere_every_tenth_is_a_line(make_graph, quick, caplog):
    caplog.set_level("INFO")
    training = quick(max_steps=40, steps_per_epoch=2)
    GNNSync(training=training).fit([make_graph(0)], run=Run(progress_bar=False))
    lines = [r.message for r in caplog.records if re.match(r"step \d+ of 40:", r.message)]
    assert [int(line.split()[1]) for line in lines] == list(range(4, 41, 4))
    assert lines[-1].endswith("1 of 1 runs still training")


@pytest.mark.parametrize("enabled", [True, False])
def test_lightnings_switch_is_heeded(enabled, make_graph, quick, caplog):
    caplog.set_level("INFO")
    GNNSync(training=quick(options={"enable_progress_bar": enabled}))(make_graph(0))
    assert ("step 30 of 30" in caplog.text) is enabled
