"""A sweep in a terminal: one panel for all launchers, no output of jobs, Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = [
    *("data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false", "logger=none"),
    *("method=trivial", "method._target_=tests.integration.probe.Probe"),
]
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """`gnnsync run -m` in a terminal of its own."""

    def __init__(self, overrides: list[str], folder: Path) -> None:
        command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *SMALL, *overrides]
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
            "TERM": "xterm",
            "COLUMNS": "120",
        }
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(folder)
            os.execve(sys.executable, command, environment)
        self.seen = ""

    def read_until(self, text: str, seconds: float = 240) -> None:
        end = time.monotonic() + seconds
        while text not in CODES.sub("", self.seen):
            assert time.monotonic() < end, self.seen
            assert self._read(), self.seen

    def finish(self) -> tuple[str, int]:
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        return CODES.sub("", self.seen), os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        if not select.select([self.descriptor], [], [], 240)[0]:
            return False
        try:
            part = os.read(self.descriptor, 65536)
        except OSError:  # the other end has closed
            return False
        self.seen += part.decode(errors="replace")
        return bool(part)


@pytest.mark.parametrize("launcher", [["hydra/launcher=basic"], ["hydra/launcher=joblib"]])
def test_one_panel_shows_jobs_that_run_and_fail(tmp_path, launcher):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "b.hold").touch()
    sweep = [f"+method.folder={notes}", "+method.name=a,b", "data.p=0.01,0.4", "data.max_draws=1"]
    terminal = Terminal([*sweep, *launcher], tmp_path)
    terminal.read_until("1 of 4 jobs done, 1 running, ")
    terminal.read_until("gnnsync: failed: ")
    (notes / "b.hold").unlink()
    text, code = terminal.finish()
    assert code == 1
    assert text.count("gnnsync: failed: ") == 2
    assert "gnnsync: 2 of 4 jobs done, 0 running, 2 failed, 0 left; took " in text
    for word in ("ERROR", "INFO", "done: ", "Launching", "Joblib", "Traceback"):
        assert word not in text
    assert "best MSE " in text


def test_ctrl_c_ends_the_panel_and_keeps_the_results(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "b.hold").touch()
    terminal = Terminal([f"+method.folder={notes}", "+method.name=a,b", "sweep=study"], tmp_path)
    terminal.read_until("1 of 2 jobs done, 1 running, ")
    os.write(terminal.descriptor, b"\x03")
    text, code = terminal.finish()
    assert code == 130
    assert "gnnsync: 1 of 2 jobs done" in text
    assert "gnnsync: interrupted; finished results are kept" in text
    assert "Traceback" not in text
    assert terminal.seen.rstrip().endswith("kept")
    assert "\x1b[?25h" in terminal.seen, "the cursor is shown again"
    assert len(list(tmp_path.rglob("result.json"))) == 1
