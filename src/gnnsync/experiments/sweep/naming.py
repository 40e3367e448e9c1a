"""Names of sweeps that were started without one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import count
from pathlib import Path

# Longest part of a name that lists swept keys.
_LONGEST = 60


def new_name(keys: Iterable[str], output_dir: Path, now: datetime, room: str | None = None) -> str:
    """A name that no folder has yet, such as `2026-11-18_14-02-31_method-data.eta`.

    Args:
        keys: the swept keys.
        output_dir: where the sweep's folder will be.
        now: the time of the start.
        room: folder below `output_dir` for sweeps of a kind, such as `debug`.
    """
    words = [re.sub(r"[^\w.]+", ".", key.lstrip("+~")) for key in keys]
    name = "_".join([f"{now:%Y-%m-%d_%H-%M-%S}", "-".join(words)[:_LONGEST]]).rstrip("_-.")
    stem = f"{room}/{name}" if room else name
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(name for name in candidates if not (output_dir / name).exists())
