"""The kept results: three Parquet files in `docs/reproduction/`.

`jobs.parquet` has every job of the study, finished or not: part, protocol, job hash, the arguments
of `gnnsync run` that run it, and its data and method. `runs.parquet` has every finished job once:
seconds of the processor, versions, and the config that decides what it computes. `rows.parquet` has
its replicas.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.reproduction.study import BY_NAME, PARTS, PROTOCOLS
from gnnsync.io.files import write_bytes

JOBS, RUNS, ROWS = "jobs.parquet", "runs.parquet", "rows.parquet"
# Columns of result rows that are kept, those of real numbers in single precision.
REAL = (
    "mse",
    "mse_features",
    "mse_untrained",
    "mse_trivial",
    "ane",
    "ane_paper",
    "upset",
    "cycle_inconsistency",
    "set_agreement",
    "set_agreement_true",
    "limit_oracle",
    "limit_certifiable",
    "seconds_train",
)
KEPT = ("job_hash", "network_seed", "trial", "status", "iterations", *REAL)
# In result rows; here `steps` are those of the network.
RENAMED = {"iterations": "steps"}


_CHOICES = ("graph", "angles", "method", "loss", "steps", "features", "encoder")
_VALUES = ("p", "eta", "k", "n", "tau")


def _empty(*columns: str) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in columns})


@dataclass
class Store:
    """The kept tables; see the module.

    Args:
        jobs: one line per part, protocol and job.
        runs: one line per finished job, by its hash.
        rows: one line per replica of a finished job.
    """

    jobs: pd.DataFrame = field(
        default_factory=lambda: _empty("part", "protocol", "job_hash", "line", *_CHOICES, *_VALUES)
    )
    runs: pd.DataFrame = field(
        default_factory=lambda: _empty("job_hash", "seconds", "clock", "versions", "config")
    )
    rows: pd.DataFrame = field(default_factory=lambda: _empty(*KEPT))

    @classmethod
    def read(cls, folder: Path) -> Store:
        """The tables of a folder; empty ones if it has none."""
        if not (folder / JOBS).is_file():
            return cls()
        jobs, runs, rows = (pd.read_parquet(folder / name) for name in (JOBS, RUNS, ROWS))
        return cls(typed_jobs(jobs), runs, rows)

    def write(self, folder: Path) -> None:
        """Write the tables in a fixed order, so that equal content gives equal files."""
        folder.mkdir(parents=True, exist_ok=True)
        order = {name: i for i, name in enumerate(BY_NAME)}
        jobs = self.jobs.assign(
            _part=self.jobs["part"].map(order), _protocol=self.jobs["protocol"].map(PROTOCOLS.index)
        ).sort_values(["_part", "_protocol"], kind="stable")
        # Runs that no job of the study refers to are of an outdated config.
        known = set(jobs["job_hash"])
        runs = self.runs[self.runs["job_hash"].isin(known)].sort_values("job_hash")
        rows = self.rows[self.rows["job_hash"].isin(known)].sort_values(
            ["job_hash", "network_seed", "trial"]
        )
        _write(jobs.drop(columns=["_part", "_protocol"]), folder / JOBS)
        _write(runs, folder / RUNS)
        _write(rows, folder / ROWS)

    @property
    def finished(self) -> set[str]:
        """Hashes of the finished jobs."""
        return set(self.runs["job_hash"])

    def config(self, digest: str) -> dict[str, Any]:
        """What a finished job computes."""
        (text,) = self.runs.loc[self.runs["job_hash"] == digest, "config"]
        found: dict[str, Any] = json.loads(text)
        return found

    def replan(self, table: pd.DataFrame) -> None:
        """Replace the jobs of the parts and protocols in this table."""
        if table.empty:
            return
        planned = set(zip(table["part"], table["protocol"], strict=True))
        listed = zip(self.jobs["part"], self.jobs["protocol"], strict=True)
        others = self.jobs[[pair not in planned and pair[0] in BY_NAME for pair in listed]]
        jobs = pd.concat([others, table], ignore_index=True) if len(others) else table
        self.jobs = typed_jobs(jobs)

    def rename(self, hashes: Mapping[str, str]) -> None:
        """Give finished jobs their present hashes."""
        for table in (self.runs, self.rows):
            table["job_hash"] = table["job_hash"].map(lambda old: hashes.get(old, old))

    def add(self, results: Iterable[tuple[dict[str, Any], dict[str, Any]]], clock: float) -> None:
        """Keep the content of `result.json` files, replacing what was kept of the same jobs.

        Args:
            results: the content and what the job computes.
            clock: seconds of the fixed piece of work of `timing.clock` on the machine that ran it.
        """
        runs, rows = [], []
        for result, config in results:
            runs.append(
                {
                    "job_hash": result["job_hash"],
                    # What else the machine did meanwhile does not count.
                    "seconds": float(result.get("processor_seconds", result["seconds"])),
                    "clock": clock,
                    "versions": json.dumps(result.get("versions", {}), sort_keys=True),
                    "config": json.dumps(config, sort_keys=True, default=str),
                }
            )
            for row in result["rows"]:
                line = {name: row.get(RENAMED.get(name, name)) for name in KEPT}
                rows.append(line | {"job_hash": result["job_hash"]})
        new = {run["job_hash"] for run in runs}
        self.runs = _joined(self.runs[~self.runs["job_hash"].isin(new)], runs)
        self.rows = _joined(self.rows[~self.rows["job_hash"].isin(new)], rows)

    def replicas(self) -> pd.DataFrame:
        """Every replica beside its job: the columns of `jobs` and of `rows`."""
        return self.jobs.merge(typed(self.rows), on="job_hash", how="inner")

    def progress(self) -> pd.DataFrame:
        """Per part and protocol, in the order of the study: number of jobs, and finished ones."""
        finished = self.finished
        lines = []
        for part in PARTS:
            for protocol in PROTOCOLS:
                own = self.jobs[
                    (self.jobs["part"] == part.name) & (self.jobs["protocol"] == protocol)
                ]
                done = int(own["job_hash"].isin(finished).sum())
                lines.append(
                    {"part": part.name, "protocol": protocol, "jobs": len(own), "done": done}
                )
        return pd.DataFrame(lines)


def typed_jobs(jobs: pd.DataFrame) -> pd.DataFrame:
    """The jobs with choices as text or None, and values as real numbers."""
    choices = {name: jobs[name].astype(object).where(jobs[name].notna(), None) for name in _CHOICES}
    return jobs.assign(**choices, **{name: jobs[name].astype(float) for name in _VALUES})


def typed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with real columns as single precision, the others as integers and text."""
    kinds = dict.fromkeys(REAL, "float32") | {"network_seed": "int32", "trial": "int16"}
    kinds |= {"iterations": "float32", "job_hash": "str", "status": "str"}
    return rows.astype({name: kind for name, kind in kinds.items() if name in rows})


def _joined(table: pd.DataFrame, lines: list[dict[str, Any]]) -> pd.DataFrame:
    if not lines:
        return table
    fresh = pd.DataFrame(lines)
    return pd.concat([table, fresh], ignore_index=True) if len(table) else fresh


def _write(table: pd.DataFrame, path: Path) -> None:
    buffer = io.BytesIO()
    table = typed(table) if path.name == ROWS else table
    table.to_parquet(buffer, index=False, compression="zstd", compression_level=19)
    write_bytes(path, buffer.getvalue())
