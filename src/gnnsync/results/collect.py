"""Collect the results of jobs from folders: rows in one table, and the jobs without a result."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from gnnsync.results.columns import Columns, encodable
from gnnsync.results.files import (
    JOBS,
    RESULT,
    read_failure,
    read_jobs,
    read_result,
    reproducing,
)
from gnnsync.results.folders import OF_JOB, SEARCH, SHORT_HASH, ReportError, job_folders

log = logging.getLogger(__name__)

__all__ = ["Absent", "Collection", "ReportError", "collect"]


@dataclass(frozen=True)
class Absent:
    """A job that has no result.

    Args:
        state: `failed`, `unfinished` (started, and running or killed) or `missing` (not started).
        job_hash: its hash as far as it is known: all 16 digits, or the 8 in the folder's name.
        sweep: name of the sweep's folder.
        line: the overrides that run it; empty if they are not known.
        reason: why there is no result.
    """

    state: str
    job_hash: str
    sweep: str
    line: str
    reason: str


@dataclass
class Collection:
    """The contents of some result folders.

    Args:
        rows: one per replica of each job; columns as in `result.json`.
        lines: the override line of every finished job, by hash.
        folders: the folder of every finished job, by hash.
        finished: when it finished, in seconds since the epoch.
        searches: folders of sweeps that were a search of hyper-parameters.
        absent: jobs without a result.
        duplicates: number of finished jobs left out because their sweep already had them.
    """

    rows: pd.DataFrame
    lines: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    finished: dict[str, float] = field(default_factory=dict)
    searches: list[Path] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    duplicates: int = 0


def collect(directories: Iterable[Path]) -> Collection:
    """Read every job below the folders.

    A job folder holds `result.json`, `failure.json` or at least `config.yaml`. The hash of a
    finished job is in its `result.json`; otherwise it comes from the folder's name, which is
    `WORDS-HASH` with 8 digits, or all 16 digits alone in folders written before version 0.2. A
    sweep folder may hold `jobs.json`,
    `{"jobs": [{"job_hash": ..., "overrides": [...], "folder": ...}, ...]}` (`folder`, the name of
    the job's folder, is optional): its jobs that have no folder are missing. Symbolic links
    inside the folders, such as `latest`, are not followed.
    """
    found = Collection(pd.DataFrame())
    columns = Columns()
    seen: set[tuple[str, str]] = set()
    for directory in directories:
        planned: list[_Planned] = []
        absent: dict[Path, Absent] = {}
        for folder, names in job_folders(directory):
            if SEARCH in names:
                found.searches.append(folder)
            if JOBS in names:
                planned += _planned(folder)
            elif RESULT in names and (result := read_result(folder)) is not None:
                digest = str(result["job_hash"])
                job = (str(result["rows"][0].get("sweep")), digest)
                if job in seen:
                    found.duplicates += 1
                    continue
                seen.add(job)
                found.lines[digest] = _line(result.get("overrides"))
                found.folders[digest] = folder
                found.finished[digest] = (folder / RESULT).stat().st_mtime
                columns.add(result["rows"])
            elif OF_JOB & names:
                absent[folder] = _absent(folder, names)
        found.absent += _without_result(absent, planned, done=set(found.lines))
    found.rows = columns.frame()
    return found


@dataclass(frozen=True)
class _Planned:
    """A job that `jobs.json` lists; `folder` is its folder's name, empty if not stated."""

    job_hash: str
    sweep: str
    line: str
    folder: str


def _without_result(
    absent: dict[Path, Absent], planned: list[_Planned], done: set[str]
) -> list[Absent]:
    """Jobs with a folder and no result, then planned jobs without a folder.

    A folder belongs to the planned job that names it, or else to the one whose hash is, or begins
    with, the hash in the folder's name. A job that is done in another sweep is done.
    """
    by_folder = {(job.sweep, job.folder): job for job in planned if job.folder}
    by_hash = {job.job_hash[:digits]: job for job in planned for digits in (8, None)}
    listed, started = [], set(done)
    for folder, job in absent.items():
        plan = by_folder.get((job.sweep, folder.name)) or by_hash.get(job.job_hash)
        if plan is not None:
            job = replace(job, job_hash=plan.job_hash, line=job.line or plan.line)
        started.add(job.job_hash)
        listed.append(job)
    return listed + [
        Absent("missing", job.job_hash, job.sweep, job.line, "not started")
        for job in planned
        if job.job_hash not in started
    ]


def _absent(folder: Path, names: set[str]) -> Absent:
    """The job of a folder without a readable result."""
    short = SHORT_HASH.fullmatch(folder.name)
    digest, sweep = short.group(1) if short else folder.name, folder.parent.name
    if (note := read_failure(folder)) is not None:
        # Printed in a terminal, where control characters could be commands.
        text = f"{note['kind']}: {note['error']}"
        reason = encodable("".join(c if c.isprintable() else " " for c in text))
        return Absent("failed", digest, sweep, _line(note["overrides"]), reason)
    if RESULT in names:
        return Absent("unfinished", digest, sweep, "", f"{folder / RESULT} cannot be read")
    return Absent("unfinished", digest, sweep, "", "started: still running, or killed")


def _planned(folder: Path) -> list[_Planned]:
    """The jobs that the `jobs.json` of a sweep folder lists."""
    jobs = read_jobs(folder)
    if jobs is None:
        log.warning("%s cannot be read: jobs without a folder are not known", folder / JOBS)
    return [
        _Planned(
            job_hash=job["job_hash"],
            sweep=folder.name,
            line=_line(job["overrides"]),
            folder=Path(job["folder"]).name,
        )
        for job in jobs or []
        if job["job_hash"]
    ]


def _line(overrides: list[str] | None) -> str:
    """Overrides as typed in a shell; empty if they are not known."""
    return encodable(shlex.join(reproducing(overrides))) if overrides else ""
