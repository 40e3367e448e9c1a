"""Runs in a folder: what each was, and whether it has finished. Loads no numerical library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean, pstdev

from gnnsync.errors import GnnsyncError
from gnnsync.results.files import (
    CONFIG,
    FAILURE,
    LATEST,
    RESULT,
    read_failure,
    read_jobs,
    read_result,
)
from gnnsync.results.folders import OF_JOB, SHORT_HASH, job_folders
from gnnsync.results.locks import LOCK, claimed

FINISHED, FAILED, RUNNING, INTERRUPTED = "finished", "failed", "running", "interrupted"
STATUSES = (FINISHED, FAILED, RUNNING, INTERRUPTED)
# Fewest digits of a hash that name a run.
_FEWEST = 4
# A word of a folder's name that states a parameter: `eta0.8`, `k2`.
_PARAMETER = re.compile(r"(p|eta|k|sigma)(\d[\d.e+-]*)")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a job.

    Args:
        path: the folder.
        status: one of `STATUSES`. A run without a readable result whose process is not there any
            more, or was never locked, is interrupted.
        time: when it ended or started, in seconds since the epoch.
    """

    path: Path
    status: str
    time: float

    @property
    def date(self) -> str:
        """The time as `2026-11-18 14:02`."""
        return datetime.fromtimestamp(self.time).strftime("%Y-%m-%d %H:%M")

    @property
    def short_hash(self) -> str:
        """The digits of the job's hash in the folder's name."""
        found = SHORT_HASH.fullmatch(self.path.name)
        return found.group(1) if found else self.path.name


@dataclass(frozen=True)
class RunSummary:
    """What a list shows of a run.

    Args:
        method: its method and what differs from its default config.
        data: the data and their parameters.
        mse: mean over the replicas, None if it is not known.
        mse_std: standard deviation over the replicas.
        reason: why it has no result, if that is known.
    """

    method: str
    data: str
    mse: float | None
    mse_std: float | None
    reason: str


def find_runs(top: Path) -> list[RunFolder]:
    """The runs below a folder, the newest last; symbolic links are not followed."""
    runs = [_run(path, names) for path, names in job_folders(top) if names & OF_JOB]
    return sorted(runs, key=lambda run: (run.time, str(run.path)))


def find_run(text: str, top: Path) -> RunFolder:
    """The run that `text` names: a folder, the beginning of a hash, or `latest`.

    Args:
        text: as given by the user.
        top: folder in which hashes and `latest` are looked up.
    """
    path = Path(text)
    if path.is_dir():
        path = path.resolve() if path.is_symlink() else path
        names = {entry.name for entry in path.iterdir()}
        if names & OF_JOB:
            return _run(path, names)
        count = len(find_runs(path))
        inside = f"has {count} runs: gnnsync list {text}" if count else "has no run"
        raise GnnsyncError(f"{text}: is not the folder of a run, but {inside}")
    runs = find_runs(top)
    if not runs:
        raise GnnsyncError(f"{top}: there are no runs; --dir DIR looks elsewhere")
    if text == LATEST:
        return runs[-1]
    found = [run for run in runs if text in (run.path.name, str(run.path.relative_to(top)))]
    if re.fullmatch(r"[0-9a-f]+", text) and len(text) >= _FEWEST:
        found += [run for run in runs if run.short_hash.startswith(text[:8])]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(str(run.path) for run in found[:3])
        raise GnnsyncError(f"{text}: names {len(found)} runs, such as {listed}: give the folder")
    raise GnnsyncError(
        f"{text}: must be the folder of a run, at least {_FEWEST} digits of its hash, or latest; "
        f"`gnnsync list {top}` shows the runs"
    )


def summarise_run(run: RunFolder) -> RunSummary:
    """Method, data and error of a run, from its result or else from its folder's name."""
    words = run.path.name.split("-")[:-1] or [run.path.name]
    method, data = words[0], " ".join(_PARAMETER.sub(r"\1=\2", word) for word in words[1:])
    result = read_result(run.path) if run.status == FINISHED else None
    rows = [] if result is None else result["rows"]
    values = [row["mse"] for row in rows if row.get("mse") is not None]
    if rows:
        method = str(rows[0].get("variant") or rows[0].get("method") or method)
        data = data or str(rows[0].get("data.graph") or "")
    failure = read_failure(run.path) if run.status == FAILED else None
    reason = "" if failure is None else failure["error"]
    if run.status == INTERRUPTED and (run.path / RESULT).exists():
        reason = f"{run.path / RESULT} cannot be read"
    return RunSummary(
        method,
        data,
        fmean(values) if values else None,
        pstdev(values) if values else None,
        # Printed in a terminal, where control characters could be commands.
        "".join(c if c.isprintable() else " " for c in reason),
    )


def overrides_of(run: RunFolder) -> list[str] | None:
    """The overrides that run it again; None if they are not known."""
    for content in (read_result(run.path), read_failure(run.path)):
        if content is not None and content.get("overrides"):
            return [str(text) for text in content["overrides"]]
    planned = read_jobs(run.path.parent) or []
    return next((job["overrides"] for job in planned if job["folder"] == run.path.name), None)


def _run(path: Path, names: set[str]) -> RunFolder:
    ended = [(_changed(path / name), name) for name in (RESULT, FAILURE) if name in names]
    time, last = max(ended, default=(0.0, ""))
    started = _changed(path / LOCK) if LOCK in names else 0.0
    if started >= time and claimed(path):
        return RunFolder(path, RUNNING, started)
    if last == FAILURE or (last == RESULT and read_result(path) is not None):
        return RunFolder(path, FINISHED if last == RESULT else FAILED, time)
    return RunFolder(path, INTERRUPTED, _changed(path / CONFIG))


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
