"""Metrics of a training in processes of its own, brought back to the loggers of the job.

A logger belongs to the process that opened it: a copy in another process would write the same file
or the same run a second time. The training processes therefore write what they log into a file,
and the job gives it to its loggers afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger
from pytorch_lightning.utilities import rank_zero_only

METRICS = "metrics.jsonl"


class MetricsFile(Logger):
    """Append every set of metrics to a file, one JSON object per line.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    @property
    def name(self) -> str:
        """Of the logger."""
        return "metrics"

    @property
    def version(self) -> str:
        """There is only one."""
        return ""

    @rank_zero_only
    def log_hyperparams(self, params: Any, *_: Any, **__: Any) -> None:
        """Nothing: the job's own loggers have them."""

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Append a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, "metrics": dict(metrics)}) + "\n")


def replay(path: Path, loggers: Iterable[Any]) -> None:
    """Give the metrics of a file to the loggers, in their order, and remove it."""
    if not path.exists():
        return
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for logger in loggers:
        for line in lines:
            logger.log_metrics(line["metrics"], step=line["step"])
    path.unlink()
