"""Many jobs in one process: its memory and its open files grow by next to nothing.

    python -m benchmarks.chaos memory --jobs 1000

A sweep without a launcher of its own runs all its jobs in one process, figures and loggers
included. The memory that this process has for itself and its open files are read from outside,
after a warm-up in which libraries are loaded, until it ends. The classical sweep and that of
trainings may each grow by 20 MB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

# Jobs until all libraries are loaded and their caches filled.
WARM = 20
_MOST_MEGABYTES = 20.0
_PAUSE = 0.3
_SMALL = ["data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1"]
SWEEPS = {
    "classical": ["method=spectral"],
    "training": ["method=gnnsync", "trainer.max_steps=5", "checkpoint_every=5"],
}


@dataclass(frozen=True)
class Sample:
    """A look at the process.

    Args:
        jobs: finished so far.
        megabytes: memory that the process shares with no other.
        files: open files.
    """

    jobs: int
    megabytes: float
    files: int


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos memory")
    parser.add_argument("--jobs", type=int, default=1000, help="jobs after the warm-up")
    parser.add_argument("--sweeps", nargs="+", default=list(SWEEPS), choices=SWEEPS)
    given = parser.parse_args(arguments)
    print("| sweep | jobs | MB after the warm-up | grown by, MB | open files more |")
    print("|---|---|---|---|---|")
    bad = False
    for name in given.sweeps:
        samples = watch(SWEEPS[name], WARM + given.jobs)
        more, files = growth(samples)
        first = settled(samples)[0].megabytes
        print(f"| {name} | {given.jobs} | {first:.0f} | {more:.1f} | {files} |", flush=True)
        bad |= more > _MOST_MEGABYTES or files > 0
    sys.exit(bad)


def growth(samples: list[Sample]) -> tuple[float, int]:
    """Megabytes and open files by which a process has grown at most since the warm-up.

    Of memory the last tenth of the jobs counts, by its median: a job that is under way needs some
    for itself. Of open files the fewest count, for the same reason.
    """
    after = settled(samples)
    last = [one for one in after if one.jobs >= after[0].jobs + 0.9 * _jobs(after)]
    start = [one for one in after if one.jobs <= after[0].jobs + 0.02 * _jobs(after)]
    more = _median([one.megabytes for one in last]) - _median([one.megabytes for one in start])
    return more, min(one.files for one in last) - min(one.files for one in start)


def settled(samples: list[Sample]) -> list[Sample]:
    """The samples after the warm-up and before the end, when the summary loads its libraries."""
    after = [one for one in samples if WARM <= one.jobs < samples[-1].jobs]
    if not after or not _jobs(after):
        raise RuntimeError("the sweep has ended before its memory was seen")
    return after


def watch(overrides: list[str], jobs: int) -> list[Sample]:
    """Run a sweep of so many jobs in one process, and look at it until it ends."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "outputs"
        command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *_SMALL, *overrides]
        command += [f"seed=range({jobs})", f"output_dir={folder}", "sweep=memory"]
        with (Path(scratch) / "log").open("w+") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            samples = _samples(psutil.Process(process.pid), folder / "memory")
            if code := process.wait():
                raise RuntimeError(f"exit code {code}: {Path(log.name).read_text()[-2000:]}")
    return samples


def _samples(process: psutil.Process, folder: Path) -> list[Sample]:
    found = []
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        jobs = len(list(folder.glob("*-*/result.json")))  # `latest` is a link to one of them
        try:
            uss = process.memory_full_info().uss / 1e6
            found.append(Sample(jobs, uss, process.num_fds()))
        except psutil.Error:  # it has just ended
            break
        time.sleep(_PAUSE)
    return found


def _jobs(samples: list[Sample]) -> int:
    return samples[-1].jobs - samples[0].jobs


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
