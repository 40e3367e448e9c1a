"""The files a job leaves, and how they are read; light enough for whoever only looks at them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RESULT = "result.json"
FAILURE = "failure.json"
JOBS = "jobs.json"

# Keys that say where and how a job runs, not what it computes.
_ASIDE = re.compile(
    r"(output_dir|sweep|logger|figures|threads|resume|checkpoint_every|hydra)([./@].*)?"
)


def read_result(directory: Path) -> dict[str, Any] | None:
    """The result in a job's folder; None if it is missing, broken or not a success."""
    try:
        content = json.loads((directory / RESULT).read_text())
        return content if content["status"] == "success" and content["rows"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def reproducing(overrides: list[str]) -> list[str]:
    """The overrides that decide what a job computes, without paths, loggers and launchers."""
    keys = (text.lstrip("+~").partition("=")[0] for text in overrides)
    return [text for text, key in zip(overrides, keys, strict=True) if not _ASIDE.fullmatch(key)]
