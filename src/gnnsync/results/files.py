"""The files in a job's folder: their names, reading a result, and the link to the latest job."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path
from typing import Any

from gnnsync.results.reading import read_json
from gnnsync.results.schema import is_result

CONFIG = "config.yaml"
RESULT = "result.json"
FAILURE = "failure.json"
SOLUTIONS = "solutions.npz"
JOBS = "jobs.json"
LATEST = "latest"
# A sweep that starts in the folder removes unfinished files (`results.locks`), a new link among
# them if it has no final name yet; a second sweep in the same microseconds is improbable.
_LINK_ATTEMPTS = 3

# Keys that say where and how a job runs, not what it computes: callbacks are those that only watch.
_ASIDE = re.compile(
    r"(output_dir|sweep|logger|figures|threads|resume|checkpoint_every|print_config|hydra"
    r"|callbacks\.(checkpoint|learning_rate|loss_curve|model_checkpoint|progress))([./@].*)?"
)


def read_result(directory: Path, job_hash: str | None = None) -> dict[str, Any] | None:
    """The result in a job's folder; None if it is missing, broken or not a success.

    Args:
        directory: the job's folder.
        job_hash: if given, a result of another job counts as missing.
    """
    content = read_json(directory / RESULT)
    if not is_result(content) or job_hash not in (None, content["job_hash"]):
        return None
    result: dict[str, Any] = content
    return result


def read_failure(directory: Path) -> dict[str, Any] | None:
    """Why the job in a folder has failed: `overrides`, `kind` and `error`; None if it has not.

    A note that cannot be read has an `error` that says so.
    """
    path = directory / FAILURE
    if not path.is_file():
        return None
    note = read_json(path)
    if not isinstance(note, dict) or not isinstance(note.get("error"), str):
        return {"overrides": [], "kind": "error", "error": f"{path} cannot be read"}
    return {**note, "overrides": _texts(note.get("overrides")), "kind": str(note.get("kind"))}


def read_jobs(folder: Path) -> list[dict[str, Any]] | None:
    """The jobs that a sweep's `jobs.json` lists: `job_hash`, `overrides` and `folder` of each.

    None if the file is missing or broken; what an entry lacks is empty.
    """
    listed = read_json(folder / JOBS)
    jobs = listed.get("jobs") if isinstance(listed, dict) else listed
    if not isinstance(jobs, list):
        return None
    return [
        {
            "job_hash": job["job_hash"] if isinstance(job.get("job_hash"), str) else "",
            "overrides": _texts(job.get("overrides")),
            "folder": job["folder"] if isinstance(job.get("folder"), str) else "",
        }
        for job in jobs
        if isinstance(job, dict)
    ]


def _texts(values: Any) -> list[str]:
    """A list of texts; empty if it is anything else."""
    texts = isinstance(values, list) and all(isinstance(text, str) for text in values)
    return values if texts else []


def job_files(sweep_folder: Path, name: str) -> list[Path]:
    """The files of this name in the folders of a sweep's jobs, each once (`latest` is a link)."""
    return sorted(p for p in sweep_folder.glob(f"*/{name}") if not p.parent.is_symlink())


def mark_latest(directory: Path) -> None:
    """Make `latest` in the sweep's folder a link to this job's folder, replacing an older one.

    The link is a convenience: on a file system without links there is none.
    """
    link, fresh = directory.parent / LATEST, directory.parent / f".{LATEST}.{uuid.uuid4().hex}.tmp"
    for _ in range(_LINK_ATTEMPTS):
        try:
            fresh.symlink_to(directory.name, target_is_directory=True)
            os.replace(fresh, link)
        except FileNotFoundError:
            continue
        except OSError:
            fresh.unlink(missing_ok=True)
        return


def reproducing(overrides: list[str]) -> list[str]:
    """The overrides that decide what a job computes, without paths, loggers and launchers."""
    keys = (text.lstrip("+~").partition("=")[0] for text in overrides)
    return [text for text, key in zip(overrides, keys, strict=True) if not _ASIDE.fullmatch(key)]
