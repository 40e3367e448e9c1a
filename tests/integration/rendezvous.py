"""Jobs that meet: each tells where it runs and waits until enough others run at the same time."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


def where(cfg: Any) -> dict[str, Any]:
    """A task that does nothing but meet `trials` others in `output_dir`."""
    return meet(Path(cfg.output_dir), str(cfg.seed), int(cfg.trials))


def meet(folder: Path, name: str, together: int, seconds: float = 240) -> dict[str, Any]:
    """Leave a note of who and where this is, and wait until `together` notes are there."""
    note = {"pid": os.getpid(), "gpus": os.environ.get("CUDA_VISIBLE_DEVICES")}
    note["threads"] = os.environ.get("OMP_NUM_THREADS")
    (folder / f"{name}.json").write_text(json.dumps(note))
    end = time.monotonic() + seconds
    while len(list(folder.glob("*.json"))) < together:
        if time.monotonic() > end:
            raise TimeoutError(f"{together} jobs were never here at once")
        time.sleep(0.05)
    return note


def notes(folder: Path) -> list[dict[str, Any]]:
    """All notes in a folder."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
