"""Reading a `.wandb` file back: LevelDB's log format around wandb's own protobuf records."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BLOCK, _HEADER = 32768, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@dataclass
class TrackedRun:
    """What a file says about its run."""

    about: Any = None
    config: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None
    artifacts: list[str] = field(default_factory=list)


def read_finished(path: Path, seconds: float = 20) -> TrackedRun:
    """The run in a file that another process is about to close."""
    end = time.monotonic() + seconds
    while (run := read_run(path)).exit_code is None and time.monotonic() < end:
        time.sleep(0.05)
    return run


def read_run(path: Path) -> TrackedRun:
    """Config, history, summary, state and artifacts of the run in a file."""
    from wandb.proto import wandb_internal_pb2

    run = TrackedRun()
    for data in _records(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run.about = record.run
            run.config.update(_values(record.run.config.update))
        elif kind == "history":
            run.history.append(_values(record.history.item))
        elif kind == "summary":
            run.summary.update(_values(record.summary.update))
        elif kind == "exit":
            run.exit_code = record.exit.exit_code
        elif kind == "artifact":
            run.artifacts.append(record.artifact.type)
    return run


def _values(items: Any) -> dict[str, Any]:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def _records(content: bytes) -> Iterator[bytes]:
    """Whole records: pieces within blocks of 32 KiB, each after checksum, length and kind."""
    assert content[:4] == b":W&B"
    place, pieces = _HEADER, []
    while place + _HEADER <= len(content):
        left = _BLOCK - place % _BLOCK
        if left < _HEADER:
            place += left
            continue
        length = int.from_bytes(content[place + 4 : place + 6], "little")
        kind = content[place + 6]
        if place + _HEADER + length > len(content):
            return  # still being written
        pieces.append(content[place + _HEADER : place + _HEADER + length])
        place += _HEADER + length
        if kind in (FULL, LAST):
            yield b"".join(pieces)
            pieces = []
