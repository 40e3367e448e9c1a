"""How far a sweep has come: counts, the best job so far, and an estimate of the time left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean


@dataclass(frozen=True)
class Best:
    """The job with the lowest mean MSE."""

    mse: float
    label: str

    def __str__(self) -> str:
        return f"best MSE {self.mse:.3g}: {self.label}"


@dataclass
class Standing:
    """Counts of a sweep's jobs.

    Args:
        total: all jobs of the sweep; None if it is not known, as in a search.
        done: jobs with a result, those of earlier starts included.
        failed: jobs that have failed since the start.
        running: jobs that are running.
        best: the best job so far.
        pace: what is known about the time that jobs take.
    """

    total: int | None
    done: int = 0
    failed: int = 0
    running: int = 0
    best: Best | None = None
    pace: Pace = field(default_factory=lambda: Pace())

    @property
    def left(self) -> int | None:
        """Jobs that have not started."""
        ended = self.done + self.failed + self.running
        return None if self.total is None else max(self.total - ended, 0)

    def finish(self, kind: str, seconds: float, mse: float | None, label: str) -> None:
        """Count a job that has succeeded since the start."""
        self.done += 1
        self.pace.add(kind, seconds)
        self.offer(mse, label)

    def offer(self, mse: float | None, label: str) -> None:
        """Compare a finished job with the best one."""
        if mse is not None and (self.best is None or mse < self.best.mse):
            self.best = Best(mse, label)

    def counts(self) -> str:
        """`12 of 40 jobs done, 2 running, 1 failed, 25 left`."""
        of = "" if self.total is None else f" of {self.total}"
        text = f"{self.done}{of} jobs done, {self.running} running, {self.failed} failed"
        return text if self.left is None else f"{text}, {self.left} left"


@dataclass
class Pace:
    """The time that finished jobs took, by kind: a training takes longer than a spectral method."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, kind: str, seconds: float) -> None:
        """Note a finished job."""
        self.seconds.setdefault(kind, []).append(seconds)

    def left(self, waiting: Iterable[str], running: Iterable[str], elapsed: float) -> float | None:
        """Seconds until all jobs are done; None before one has been.

        The expected times of the jobs that wait, and half of those that run, divided by the
        seconds of jobs that were done per second so far. That speed includes the number of jobs
        at once and what a launcher adds to each.

        Args:
            waiting: kinds of the jobs that have not started.
            running: kinds of the jobs that are running.
            elapsed: seconds since the start.
        """
        known = [value for values in self.seconds.values() for value in values]
        if not known or elapsed <= 0:
            return None
        means = {kind: fmean(values) for kind, values in self.seconds.items()}
        usual = fmean(known)
        work = sum(means.get(kind, usual) for kind in waiting)
        work += sum(means.get(kind, usual) for kind in running) / 2
        return work * elapsed / max(sum(known), 1e-9)


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 10 min`, `3 d 4 h`."""
    whole = max(round(seconds), 0)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} d {hours % 24} h"
