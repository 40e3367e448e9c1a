"""Reading the results of jobs from folders: rows in one table, and what is not there."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from gnnsync.errors import GnnsyncError
from gnnsync.results.files import FAILURE, JOBS, RESULT, read_result, reproducing

CONFIG = "config.yaml"
_SCALARS = {str, int, float, bool, type(None)}


class ReportError(GnnsyncError):
    """There is nothing to report on."""


@dataclass(frozen=True)
class Absent:
    """A job that has no result.

    Args:
        state: `failed`, `unfinished` (begun, and running or killed) or `missing` (never begun).
        job_hash: its hash, the name of its folder.
        sweep: the folder it belongs to.
        line: the overrides that run it, if they are known.
        reason: why, in words.
    """

    state: str
    job_hash: str
    sweep: str
    line: str
    reason: str


@dataclass
class Collection:
    """All that some folders hold.

    Args:
        rows: one per replica of each sweep, once; columns as in `result.json`.
        lines: the override line of every finished job, by hash.
        folders: where each finished job lies, by hash.
        absent: jobs without a result.
        duplicates: finished jobs of the same sweep that were found again, and left out.
    """

    rows: pd.DataFrame
    lines: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    absent: list[Absent] = field(default_factory=list)
    duplicates: int = 0


def collect(directories: Iterable[Path]) -> Collection:
    """Read every job below the folders.

    A job's folder holds `result.json`, `failure.json` or at least `config.yaml`. A folder of a
    sweep may hold `jobs.json`, `{"jobs": [{"job_hash": ..., "overrides": [...]}, ...]}`: those of
    its jobs that have no folder at all are missing.
    """
    found = Collection(pd.DataFrame())
    columns = _Columns()
    seen: set[tuple[str, str]] = set()
    for directory in directories:
        expected: list[tuple[str, str, str]] = []
        absent: dict[str, Absent] = {}
        for folder, names in _folders(directory):
            if JOBS in names:
                expected += _expected(folder)
            elif RESULT in names and (result := _result(folder)) is not None:
                digest = str(result["job_hash"])
                job = (str(result["rows"][0].get("sweep")), digest)
                if job in seen:
                    found.duplicates += 1
                    continue
                seen.add(job)
                found.lines[digest] = _line(result.get("overrides"))
                found.folders[digest] = folder
                columns.add(result["rows"])
            elif {RESULT, FAILURE, CONFIG} & names:
                absent[folder.name] = _absent(folder, names)
        known = found.lines.keys() | absent.keys()  # a job done in another sweep is done
        lines = {digest: line for digest, _, line in expected}
        found.absent += [_with_line(job, lines.get(job.job_hash, "")) for job in absent.values()]
        found.absent += [
            Absent("missing", digest, sweep, line, "not begun")
            for digest, sweep, line in expected
            if digest not in known
        ]
    found.rows = columns.frame()
    return found


def _folders(top: Path) -> Iterator[tuple[Path, set[str]]]:
    """Folders of jobs and sweeps with the names of their files; nothing below a job's folder."""
    if not top.is_dir():
        raise ReportError(f"{top}: no such folder")
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as listed:
                entries = list(listed)
        except OSError as error:
            raise ReportError(f"{folder}: cannot be read: {error.strerror or error}") from None
        names = {entry.name for entry in entries}
        if names & {RESULT, FAILURE, CONFIG, JOBS}:
            yield folder, names
        if not names & {RESULT, FAILURE, CONFIG}:
            inner = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
            waiting += [folder / name for name in reversed(inner)]


def _result(folder: Path) -> dict[str, Any] | None:
    """A result whose rows are flat, as any that a job has written; None otherwise."""
    result = read_result(folder)
    if result is None or not isinstance(result["rows"], list):
        return None
    for row in result["rows"]:
        if not isinstance(row, dict) or not set(map(type, row.values())) <= _SCALARS:
            return None
    return result if isinstance(result.get("job_hash"), str) else None


def _absent(folder: Path, names: set[str]) -> Absent:
    sweep = folder.parent.name
    if FAILURE in names:
        note = _read_json(folder / FAILURE)
        note = note if isinstance(note, dict) else {}
        told = f"{note.get('kind', 'error')}: {note.get('error', 'the note cannot be read')}"
        # Shown in a terminal, where a character may be a command.
        reason = _writable("".join(c if c.isprintable() else " " for c in told))
        return Absent("failed", folder.name, sweep, _line(note.get("overrides")), reason)
    if RESULT in names:
        return Absent("unfinished", folder.name, sweep, "", f"{RESULT} cannot be read")
    return Absent("unfinished", folder.name, sweep, "", "begun: still running, or killed")


def _expected(folder: Path) -> list[tuple[str, str, str]]:
    """Hash, sweep and line of the jobs that `jobs.json` lists."""
    listed = _read_json(folder / JOBS)
    jobs = listed.get("jobs") if isinstance(listed, dict) else listed
    if not isinstance(jobs, list):
        return []
    return [
        (str(job["job_hash"]), folder.name, _line(job.get("overrides")))
        for job in jobs
        if isinstance(job, dict) and "job_hash" in job
    ]


def _with_line(job: Absent, line: str) -> Absent:
    return job if job.line else Absent(job.state, job.job_hash, job.sweep, line, job.reason)


def _line(overrides: Any) -> str:
    """Overrides as one would type them; empty if they are not known."""
    if not isinstance(overrides, list) or not all(isinstance(text, str) for text in overrides):
        return ""
    return _writable(shlex.join(reproducing(overrides)))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


class _Columns:
    """Rows gathered by column: a hundred thousand dictionaries would take a gigabyte."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}
        self._count = 0

    def add(self, rows: list[dict[str, Any]]) -> None:
        for name in dict.fromkeys(name for row in rows for name in row):
            column = self._values.setdefault(name, [])
            column.extend([None] * (self._count - len(column)))
            column.extend([row.get(name) for row in rows])
        self._count += len(rows)

    def frame(self) -> pd.DataFrame:
        for column in self._values.values():
            column.extend([None] * (self._count - len(column)))
        return pd.DataFrame({name: _series(values) for name, values in self._values.items()})


def _series(values: list[Any]) -> pd.Series:
    """One type per column: numbers if all are, true and false if all are, else text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int, float}:
        return pd.Series(values, dtype="int64" if kinds == {int} and None not in values else float)
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    texts = [None if v is None else str(v) for v in values]
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:
        texts = [t and _writable(t) for t in texts]
    return pd.Series(texts, dtype="str")


def _writable(text: str) -> str:
    """JSON can hold halves of characters, which no file can."""
    return text.encode(errors="replace").decode()
