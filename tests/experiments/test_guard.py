"""Processes that outlive the one that started them are ended by its guard."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from gnnsync.experiments.guard import MARK

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc here")
SLEEP = "import time; time.sleep(60)"
# A child that starts a session of its own, and starts another one.
DAEMON = f"""
import subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True)
print(grandchild.pid, flush=True)
time.sleep(60)
"""
STARTER = f"""
import os, subprocess, sys
from gnnsync.experiments.guard import guard_children
guard_children()
guard_children()
child = subprocess.Popen(
    [sys.executable, '-c', {DAEMON!r}], start_new_session=True, stdout=subprocess.PIPE, text=True
)
print(child.pid, child.stdout.readline().strip(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["kill", "close"])
def test_children_end_with_the_process_that_started_them(end):
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        assert starter.stdin is not None
        children = [psutil.Process(int(pid)) for pid in starter.stdout.readline().split()]
        guards = [
            process
            for process in psutil.Process(starter.pid).children()
            if "gnnsync.experiments.guard" in process.cmdline()
        ]
        assert len(guards) == 1
        time.sleep(0.5)
        assert all(child.is_running() for child in children)
        starter.kill() if end == "kill" else starter.stdin.close()
        assert starter.wait() == (-9 if end == "kill" else 0), "the guard spares the starter"
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    _, alive = psutil.wait_procs(guards, timeout=30)
    assert not alive
    assert MARK not in os.environ
