"""The files in a job's folder: their names, reading a result, and the link to the latest job."""

from __future__ import annotations

import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

CONFIG = "config.yaml"
RESULT = "result.json"
FAILURE = "failure.json"
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
    try:
        content = json.loads((directory / RESULT).read_text())
        success = content["status"] == "success" and content["rows"]
        own = job_hash is None or content["job_hash"] == job_hash
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return content if success and own else None


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
