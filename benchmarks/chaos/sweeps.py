"""The sweep that is disturbed: its start, its rows, and the processes that it leaves behind."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

# Three methods, one of them a training that goes on from its checkpoint, times three cells.
SWEEP = [
    *("data.n=40", "data.p=0.3", "data.seeds=[10,20]", "trials=2", "figures=false", "logger=none"),
    *("method=gnnsync,gpm,trivial", "data.eta=0.2,0.4,0.6", "sweep=kills"),
    *("trainer.max_steps=600", "checkpoint_every=20", "resume=true"),
]
JOBS = 9
LAUNCHERS = {
    "basic": [],
    "joblib": ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    "ray": ["hydra/launcher=ray", "hydra.launcher.ray.init.num_cpus=2"],
}
# Within so many seconds all processes of a sweep have to end after it.
GRACE = 10.0
# Seconds after which a sweep of these jobs is taken to hang, also on a busy machine.
_LONGEST = 3600.0
_MARK = "CHAOS_MARK"


class Run:
    """One started sweep; what it prints goes to a file.

    Args:
        folder: its `output_dir`.
        launcher: which one.
        log: the file.
        environment: further variables.
    """

    def __init__(
        self, folder: Path, launcher: str, log: Path, environment: dict[str, str] | None = None
    ) -> None:
        self.mark, self.log, self.ended_at = uuid.uuid4().hex, log, 0.0
        command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *SWEEP, *LAUNCHERS[launcher]]
        with log.open("a") as file:
            self.process = subprocess.Popen(
                [*command, f"output_dir={folder}"],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {}), _MARK: self.mark},
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def kill(self, whole_group: bool) -> None:
        """SIGKILL of the driver alone, or of its process group."""
        with suppress(ProcessLookupError):  # it has ended
            (os.killpg if whole_group else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.ended_at = time.monotonic()

    def wait(self, seconds: float) -> int:
        """Wait for its end; the exit code."""
        code = self.process.wait(timeout=seconds)
        self.ended_at = time.monotonic()
        return code


def orphans(runs: list[Run]) -> list[psutil.Process]:
    """Processes of ended runs that are there when all of them should have ended; waits for that."""
    ends = {run.mark: run.ended_at + GRACE for run in runs}
    end = max(ends.values(), default=0.0)
    while (alive := _marked(set(ends))) and time.monotonic() < end:
        time.sleep(0.2)
    return alive


def _marked(marks: set[str]) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) in marks and process.status() != "zombie":
                found.append(process)
        except psutil.Error:
            continue
    return found


def finish(run: Run) -> None:
    """Wait for a sweep that has to succeed."""
    if code := run.wait(_LONGEST):
        raise RuntimeError(f"exit code {code}: {run.log.read_text()[-2000:]}")


def results(folder: Path) -> list[Path]:
    return sorted(folder.rglob("result.json"))


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows without the times that jobs took, in a fixed order."""
    found = [row for path in results(folder) for row in json.loads(path.read_text())["rows"]]
    kept = [{k: v for k, v in row.items() if not k.startswith("seconds")} for row in found]
    return sorted(kept, key=_identity)


def fault(folder: Path, expected: list[dict[str, Any]]) -> str:
    """What is wrong with a finished sweep, compared with the rows of one left alone; "" if none."""
    found = rows(folder)
    wanted, given = [[_identity(row) for row in each] for each in (expected, found)]
    if missing := len(set(wanted) - set(given)):
        return f"{missing} rows lost"
    if len(given) > len(wanted):
        return f"{len(given) - len(wanted)} rows doubled"
    if different := sum(one != other for one, other in zip(expected, found, strict=True)):
        return f"{different} rows different"
    with (folder / "kills" / "rows.csv").open(newline="") as file:
        if (lines := len(list(csv.DictReader(file)))) != len(wanted):
            return f"rows.csv has {lines} rows instead of {len(wanted)}"
    left = [path.name for path in folder.rglob("*") if path.name.endswith((".tmp", ".partial"))]
    return f"unfinished files: {', '.join(left)}" if left else ""


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["job_hash"], row["network_seed"], row["trial"]
