"""Running the study: restore what is kept, let the sweeps run the rest, collect the results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.reproduction.naming import GRAPHS, PRIORS
from benchmarks.reproduction.planning import PlannedPart, same_science, science
from benchmarks.reproduction.store import KEPT, RENAMED, Store
from benchmarks.reproduction.study import ROOT, Part
from gnnsync.io.files import write_text
from gnnsync.results.files import RESULT, read_result

# Of a `result.json` that was made from kept rows.
_RESTORED = "restored"


class Study:
    """The parts of the study that a call is about.

    Args:
        parts: the parts.
        protocols: the protocols.
        store: what is kept; it is brought up to date.
        output: folder below which the sweeps write.
    """

    def __init__(
        self, parts: Sequence[Part], protocols: Sequence[str], store: Store, output: Path
    ) -> None:
        self.store, self.output = store, output
        self.planned = [PlannedPart(p, name, output) for name in protocols for p in parts]
        self.outdated = 0
        self._recognise()
        tables = [planned.table() for planned in self.planned]
        store.replan(pd.concat(tables, ignore_index=True))

    def _recognise(self) -> None:
        """Give kept jobs whose config has only gained options at their default the present hash."""
        store = self.store
        before = {
            (part, protocol, line): digest
            for part, protocol, line, digest in zip(
                *(store.jobs[name] for name in ("part", "protocol", "line", "job_hash")),
                strict=True,
            )
        }
        finished, renamed = store.finished, {}
        for planned in self.planned:
            table = planned.table()
            old = {
                digest: before.get((planned.part.name, planned.protocol, line), "")
                for digest, line in zip(table["job_hash"], table["line"], strict=True)
                if digest not in finished
            }
            candidates = {new: was for new, was in old.items() if was in finished}
            for new, present in planned.science(candidates).items():
                if same_science(store.config(candidates[new]), present):
                    renamed[candidates[new]] = new
                else:
                    self.outdated += 1
        store.rename(renamed)

    def left(self) -> pd.DataFrame:
        """The jobs that are not finished, each once, as lines of `store.jobs`."""
        own = {(p.part.name, p.protocol) for p in self.planned}
        jobs = self.store.jobs
        listed = pd.Series(
            [pair in own for pair in zip(jobs["part"], jobs["protocol"], strict=True)],
            index=jobs.index,
        )
        open_jobs = jobs[listed & ~jobs["job_hash"].isin(self.store.finished)]
        return open_jobs.drop_duplicates("job_hash")

    def collect(self, clock: float) -> int:
        """Keep every result that the sweeps have written; returns how many are new."""
        found = {}
        finished = self.store.finished
        for planned in self.planned:
            for job in planned.jobs:
                if job.digest in finished or job.digest in found:
                    continue
                result = read_result(job.folder, job.digest)
                if result is not None and not result.get(_RESTORED):
                    found[job.digest] = result, science(result["config"])
        self.store.add(found.values(), clock)
        return len(found)

    def restore(self, planned: PlannedPart) -> None:
        """Write a `result.json` for every kept job of a part, so that its sweep passes over it."""
        finished = self.store.finished
        table = planned.table().set_index("job_hash")
        wanted = {
            job.digest: job for job in planned.jobs if job.digest in finished and not job.done
        }
        kept = self.store.rows[self.store.rows["job_hash"].isin(wanted)]
        for digest, rows in kept.groupby("job_hash"):
            about = _about(table.loc[str(digest)], planned)
            lines = [about | _present(row) for row in rows.to_dict("records")]
            content = {
                "job_hash": digest,
                "status": "success",
                _RESTORED: True,
                "rows": lines,
            }
            folder = wanted[str(digest)].folder
            folder.mkdir(parents=True, exist_ok=True)
            write_text(folder / RESULT, json.dumps(content, allow_nan=False))

    def run(self, planned: PlannedPart, jobs: int) -> int:
        """Run the sweep of a part; returns its exit code."""
        self.restore(planned)
        words = [*planned.words, "hydra/launcher=joblib", f"hydra.launcher.n_jobs={jobs}"]
        environment = os.environ | {
            name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        }
        command = [sys.executable, "-m", "gnnsync.cli", "run", "-m", *words, "logger=none"]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _about(job: pd.Series, planned: PlannedPart) -> dict[str, Any]:
    """The columns by which a report tells the rows of a sweep apart."""
    options = [f"{name}={job[name]}" for name in ("loss", "steps", "features") if job[name]]
    about = {
        "sweep": f"{planned.protocol}/{planned.part.name}",
        "method": job["method"],
        "variant": " ".join([job["method"], *options]),
        "data.graph": GRAPHS.get(job["graph"], job["graph"]),
        "data.angles": PRIORS.get(job["angles"], job["angles"]),
        **{
            f"data.{name}": float(job[name]) for name in ("p", "eta", "n") if job[name] == job[name]
        },
        "data.k": int(job["k"]),
    }
    return about


def _present(row: dict[Any, Any]) -> dict[str, Any]:
    """The kept columns that a row has, as plain values."""
    found = {name: row[name] for name in KEPT if row[name] is not None and row[name] == row[name]}
    return {
        RENAMED.get(name, name): v.item() if hasattr(v, "item") else v for name, v in found.items()
    }
