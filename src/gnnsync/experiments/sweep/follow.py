"""Reading from the folders of jobs what has happened to them, wherever they run."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnnsync.experiments.job.output import LOG
from gnnsync.experiments.sweep.plan import Job
from gnnsync.experiments.sweep.standing import Standing
from gnnsync.results.files import RESULT, read_result
from gnnsync.results.locks import claimed, last_claimed
from gnnsync.results.rows import summary


@dataclass
class _Followed:
    """A job, and what its files said when the sweep started and when they were last read."""

    job: Job
    started_before: float
    failed_before: float
    result_time: int = 0
    was_locked: bool = False
    running: bool = False

    @classmethod
    def of(cls, job: Job) -> _Followed:
        return cls(job, last_claimed(job.folder), job.failed_at)

    @property
    def kind(self) -> str:
        """The method: the first word of the folder's name."""
        return self.job.folder.name.partition("-")[0]

    def result(self) -> dict[str, Any] | None:
        """The job's result if it is new since the last look."""
        try:
            changed = (self.job.folder / RESULT).stat().st_mtime_ns
        except OSError:
            return None
        if changed == self.result_time:
            return None
        self.result_time = changed
        return read_result(self.job.folder, self.job.digest or None)

    def failure(self) -> str | None:
        """Why the job has failed since the start; None if it has not."""
        if self.job.failed_at == self.failed_before or (note := self.job.failure) is None:
            return None
        return str(note.get("error", ""))

    def is_running(self) -> bool:
        """Whether the job has started and its process has not died since.

        On a file system without locks a process that has died cannot be seen.
        """
        if last_claimed(self.job.folder) == self.started_before:
            return False
        locked = claimed(self.job.folder)
        self.was_locked |= locked
        return locked or not self.was_locked


class Follower:
    """The standing of a sweep, kept up to date from the files that its jobs write.

    Args:
        jobs: those that are launched; None in a search, whose jobs are found in `folders`.
        folders: where the jobs have their folders.
        standing: counts at the start.
    """

    def __init__(self, jobs: list[Job] | None, folders: list[Path], standing: Standing) -> None:
        self.folders, self.standing, self._start = folders, standing, time.monotonic()
        self._search = jobs is None
        self._left = {job.folder: _Followed.of(job) for job in jobs or []}
        self._ended: set[Path] = set(self._existing()) if self._search else set()

    def look(self) -> list[str]:
        """Read what has changed; one line for each job that has failed since the last look."""
        failures, running = [], 0
        for path in self._existing():
            followed = self._left.get(path)
            if followed is None:
                if not self._search or path in self._ended:
                    continue
                followed = self._left[path] = _Followed(Job("", path, (), path.name), 0.0, 0.0)
            if (result := followed.result()) is not None:
                self._finish(followed, result)
            elif (reason := followed.failure()) is not None:
                self.standing.failed += 1
                self._end(path)
                failures.append(f"failed: {followed.job.label}: {reason} ({path / LOG})")
            else:
                followed.running = followed.is_running()
                running += followed.running
        self.standing.running = running
        return failures

    def time_left(self) -> float | None:
        """Seconds until all jobs are done, as far as they can be estimated."""
        if self._search:
            return None
        kinds: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for followed in self._left.values():
            kinds[followed.running][followed.kind] += 1
        elapsed = time.monotonic() - self._start
        waiting, running = kinds[False].elements(), kinds[True].elements()
        return self.standing.pace.left(waiting, running, elapsed)

    def _finish(self, followed: _Followed, result: dict[str, Any]) -> None:
        mse = summary(result["rows"], "mse")
        seconds = float(result.get("seconds") or 0.0)
        self.standing.finish(
            followed.kind, seconds, None if mse is None else mse[0], followed.job.label
        )
        self._end(followed.job.folder)

    def _end(self, path: Path) -> None:
        del self._left[path]
        self._ended.add(path)

    def _existing(self) -> Iterator[Path]:
        """Folders of jobs that have started at some time."""
        for folder in self.folders:
            try:
                with os.scandir(folder) as entries:
                    names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            yield from (folder / name for name in names if not name.startswith("."))
