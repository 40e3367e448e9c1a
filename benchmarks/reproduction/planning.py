"""The jobs of the study, and whether a kept job computes what the present config says."""

from __future__ import annotations

import importlib
import inspect
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from benchmarks.reproduction.study import Part
from gnnsync.experiments.job.hashing import SCIENCE, computing
from gnnsync.experiments.sweep.command import Command
from gnnsync.experiments.sweep.plan import Job, Plan
from gnnsync.results.files import reproducing

# Choices and values that tell the jobs of the study apart: the column, and the override.
CHOICES = {
    "graph": "data",
    "angles": "data/angles",
    "method": "method",
    "loss": "loss",
    "steps": "model/steps",
    "features": "model/features",
    "encoder": "model/encoder",
}
VALUES = {"p": "data.p", "eta": "data.eta", "k": "data.k", "n": "data.n", "tau": "loss.tau"}
# What only a network has.
_LEARNED = ("loss", "steps", "features", "encoder", "tau")


class PlannedPart:
    """The jobs of one part under one protocol.

    Args:
        part: the part.
        protocol: `paper` or `repaired`.
        output: folder below which the sweep writes.
    """

    def __init__(self, part: Part, protocol: str, output: Path) -> None:
        self.part, self.protocol = part, protocol
        self.words = [
            *part.words(protocol),
            f"output_dir={output}",
            f"sweep={protocol}/{part.name}",
        ]
        command = Command.of(self.words)
        self.jobs: list[Job] = Plan.of(command.grids).jobs
        self._first, self._grids = command.first, command.grids

    def science(self, digests: Collection[str]) -> dict[str, dict[str, Any]]:
        """What each of these jobs computes, by hash: its resolved config, every option stated."""
        wanted = {job.overrides: job.digest for job in self.jobs if job.digest in digests}
        found = {}
        for grid in self._grids:
            for point in grid.points():
                digest = wanted.get(tuple(grid.overrides(point)))
                if digest is not None:
                    found[digest] = science(grid.values(point, SCIENCE))
        return found

    def table(self) -> pd.DataFrame:
        """One line per job: part, protocol, hash, override line, and what tells it apart."""
        lines = []
        for job in self.jobs:
            texts = reproducing(list(job.overrides))
            given = dict(text.lstrip("+").split("=", 1) for text in texts)
            line: dict[str, Any] = {
                "part": self.part.name,
                "protocol": self.protocol,
                "job_hash": job.digest,
                "line": shlex.join(texts),
            }
            chosen = self._first.hydra.runtime.choices
            line |= {name: given.get(key, str(chosen.get(key))) for name, key in CHOICES.items()}
            for name, key in VALUES.items():
                value = given.get(key, OmegaConf.select(self._first, key))
                line[name] = float("nan") if value is None else float(value)
            line["k"] = line["k"] if line["k"] == line["k"] else 1.0  # maps have one set of angles
            learned = line["method"].startswith("gnnsync")
            line |= {name: None for name in _LEARNED if not learned}
            if line["loss"] != "linear":
                line["tau"] = None
            lines.append(line)
        return pd.DataFrame(lines)


def science(config: dict[str, Any]) -> dict[str, Any]:
    """What a job computes: the part of its resolved config that counts, every option stated."""
    # A key that did not exist when a job ran is off, as a missing option is at its default.
    kept = {key: config[key] for key in SCIENCE if config.get(key)}
    found: dict[str, Any] = stated(kept | {"method": computing(kept["method"])})
    return found


def stated(config: Any) -> Any:
    """The config with the default of every option of our classes that it does not state."""
    if isinstance(config, list):
        return [stated(item) for item in config]
    if not isinstance(config, dict):
        return config
    return _defaults(config.get("_target_")) | {key: stated(v) for key, v in config.items()}


def same_science(kept: dict[str, Any], present: dict[str, Any]) -> bool:
    """Whether a kept job computes what the present config does.

    An option that did not exist when the job ran counts as its default, which by convention is the
    behaviour before it existed.
    """
    return _plain(stated({key: v for key, v in kept.items() if v})) == _plain(present)


def _plain(config: Any) -> Any:
    """As it is in JSON, with numbers by value (0 is 0.0)."""
    if isinstance(config, dict):
        return {str(key): _plain(value) for key, value in config.items()}
    if isinstance(config, list | tuple):
        return [_plain(item) for item in config]
    return config


def _defaults(target: Any) -> dict[str, Any]:
    """Plain defaults of the arguments of a class or function of the package."""
    if not isinstance(target, str) or not target.startswith("gnnsync."):
        return {}
    module, _, name = target.rpartition(".")
    try:
        parameters = inspect.signature(getattr(importlib.import_module(module), name)).parameters
    except (ImportError, AttributeError, ValueError):
        return {}
    return {
        key: parameter.default
        for key, parameter in parameters.items()
        if isinstance(parameter.default, bool | int | float | str | None)
    }
