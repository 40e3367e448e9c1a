"""Finding the folders of jobs and sweeps."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gnnsync.errors import GnnsyncError
from gnnsync.results.files import CONFIG, FAILURE, JOBS, RESULT

# Files that only the folder of a job has.
OF_JOB = frozenset((RESULT, FAILURE, CONFIG))
# Written by Optuna's sweeper into the folder of a search when it ends.
SEARCH = "optimization_results.yaml"
# A job folder is called WORDS-HASH, with the first 8 digits of the job hash.
SHORT_HASH = re.compile(r".*-([0-9a-f]{8})")


class ReportError(GnnsyncError):
    """There is nothing to report on."""


def job_folders(top: Path) -> Iterator[tuple[Path, set[str]]]:
    """Folders of jobs and sweeps with the names of their entries; job folders are not entered."""
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
        if names & {*OF_JOB, JOBS, SEARCH}:
            yield folder, names
        if not names & OF_JOB:
            inner = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
            waiting += [folder / name for name in reversed(inner)]
