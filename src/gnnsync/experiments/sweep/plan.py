"""The plan of a sweep: all its jobs, those that are done and those that are left to run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnnsync.experiments.job.hashing import SCIENCE, job_name, science_hash
from gnnsync.experiments.paths import sweep_name
from gnnsync.experiments.sweep.grid import Grid
from gnnsync.io.files import write_text
from gnnsync.results.files import (
    FAILURE,
    JOBS,
    RESULT,
    job_files,
    read_failure,
    read_result,
    reproducing,
)
from gnnsync.results.rows import summary


@dataclass(frozen=True)
class Job:
    """One job of a sweep.

    Args:
        digest: its hash.
        folder: where it writes.
        overrides: those that make its config.
        label: those of them that differ between jobs.
    """

    digest: str
    folder: Path
    overrides: tuple[str, ...]
    label: str = ""

    @property
    def done(self) -> bool:
        """Whether the job has succeeded."""
        return read_result(self.folder, self.digest) is not None

    @property
    def mse(self) -> float | None:
        """Mean over the replicas of a job that has succeeded, where the truth is known."""
        result = read_result(self.folder, self.digest)
        mse = None if result is None else summary(result["rows"], "mse")
        return None if mse is None else mse[0]

    @property
    def failure(self) -> dict[str, Any] | None:
        """Content of `failure.json`, which a later success removes."""
        return read_failure(self.folder)

    @property
    def failed_at(self) -> float:
        """When the job last failed, in seconds since the epoch; 0 if it never did."""
        try:
            return (self.folder / FAILURE).stat().st_mtime
        except OSError:
            return 0.0

    def __str__(self) -> str:
        # Overrides of loggers may hold a key of a tracking service.
        return " ".join(reproducing(list(self.overrides)))


@dataclass(frozen=True)
class Plan:
    """The jobs of a sweep, each once, and their state.

    Args:
        jobs: all.
        points: points of the grid; those that make the same job are one job.
        done: those that have succeeded.
        failed: those that have failed, and are run again.
    """

    jobs: list[Job]
    points: int
    done: set[Job]
    failed: set[Job]

    @classmethod
    def of(cls, grids: Iterable[Grid]) -> Plan:
        """Find every job of the grids and look up what is done."""
        jobs: dict[tuple[Path, str], Job] = {}
        points = 0
        for grid in grids:
            for point in grid.points():
                plain = grid.values(point, (*SCIENCE, "output_dir", "sweep"))
                folder = Path(str(plain["output_dir"])) / sweep_name(plain["sweep"])
                digest = science_hash(plain)
                points += 1
                if (folder, digest) not in jobs:
                    overrides = tuple(grid.overrides(point))
                    name = job_name(plain, digest)
                    label = grid.label(point) or name
                    jobs[folder, digest] = Job(digest, folder / name, overrides, label)
        done = {job for job in jobs.values() if job.done}
        failed = {job for job in jobs.values() if job not in done and job.failure is not None}
        return cls(list(jobs.values()), points, done, failed)

    @property
    def left(self) -> list[Job]:
        """Jobs to run."""
        return [job for job in self.jobs if job not in self.done]

    @property
    def folders(self) -> list[Path]:
        """The folders of the sweep, mostly one."""
        return sorted({job.folder.parent for job in self.jobs})

    def __str__(self) -> str:
        new = len(self.jobs) - len(self.done) - len(self.failed)
        text = f"{count(len(self.jobs), 'job')}: {len(self.done)} done, "
        text += f"{len(self.failed)} failed before, {new} new"
        if (more := self.points - len(self.jobs)) > 0:
            text += f"; {count(more, 'further point')} of the grid with the same jobs"
        if others := self.others():
            text += f"; {count(others, 'finished job')} in the folder with other settings"
        return text

    def others(self) -> int:
        """How many finished jobs in the folders are no part of this sweep."""
        known = {job.folder for job in self.jobs}
        found = (path.parent for folder in self.folders for path in job_files(folder, RESULT))
        return sum(folder not in known for folder in found)

    def write(self, folder: Path) -> None:
        """Write `jobs.json` in a folder: the jobs of the sweep as it was last started."""
        listed = [
            {
                "job_hash": job.digest,
                "folder": job.folder.name,
                "overrides": reproducing(list(job.overrides)),
            }
            for job in self.jobs
            if job.folder.parent == folder
        ]
        write_text(folder / JOBS, json.dumps({"jobs": listed}, indent=1))


def count(number: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
