"""Running kept jobs again by their command, and comparing the rows."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.reproduction.store import Store
from benchmarks.reproduction.study import ROOT

# Rows are kept in single precision, and another machine rounds otherwise.
_EQUAL = 1e-4
# A training of 1000 steps amplifies rounding: on another machine a job agrees if its mean is
# within this fraction of the standard deviation over replicas, or within the absolute difference.
_FRACTION, _ABSOLUTE = 0.25, 0.002
_METRICS = ("mse", "mse_features", "ane", "set_agreement")


def rerun(line: str, further: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The result rows of `gnnsync run LINE`, made anew in a temporary folder.

    Args:
        line: arguments of `gnnsync run`, as kept.
        further: more of them, for fewer networks or trials.
    """
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        words = [*shlex.split(line), *further, f"output_dir={folder}", "figures=false"]
        command = [sys.executable, "-m", "gnnsync.cli", "run", *words, "logger=none"]
        run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"gnnsync run {line}: {run.stderr.strip()}")
        (result,) = (p for p in Path(folder).rglob("result.json") if not p.parent.is_symlink())
        rows: list[dict[str, Any]] = json.loads(result.read_text())["rows"]
    return rows


def difference(kept: pd.DataFrame, rows: list[dict[str, Any]]) -> str:
    """What differs between kept rows and new ones of the same job; empty if they agree.

    Only networks and trials that are in both are compared.
    """
    new = pd.DataFrame(rows)
    both = kept.merge(new, on=["network_seed", "trial"], suffixes=("", "_new"))
    if both.empty:
        return "no network and trial in common"
    for name in _METRICS:
        if name not in new or kept[name].isna().all():
            continue
        old = both[name].to_numpy(float)
        fresh = both[f"{name}_new"].to_numpy(float)
        if np.allclose(old, fresh, rtol=_EQUAL, atol=_EQUAL):
            continue
        allowed = max(_FRACTION * float(old.std()), _ABSOLUTE)
        if abs(old.mean() - fresh.mean()) > allowed:
            return f"{name} {old.mean():.4f} → {fresh.mean():.4f}"
    return ""


def check(store: Store, count: int, parts: set[str], protocols: set[str]) -> int:
    """Run kept jobs again and compare; exit code 1 if one differs.

    Args:
        store: what is kept.
        count: how many jobs, evenly spread over the study; 0: all.
        parts: names of the parts to choose from.
        protocols: the protocols to choose from.
    """
    jobs = store.jobs[store.jobs["job_hash"].isin(store.finished)]
    jobs = jobs[jobs["part"].isin(parts) & jobs["protocol"].isin(protocols)]
    jobs = jobs.drop_duplicates("job_hash")
    if count:
        jobs = jobs.iloc[np.linspace(0, len(jobs) - 1, min(count, len(jobs))).astype(int)]
    differing = 0
    for _, job in jobs.iterrows():
        kept = store.rows[store.rows["job_hash"] == job["job_hash"]]
        found = difference(kept, rerun(job["line"]))
        differing += bool(found)
        state = f"DIFFERS: {found}" if found else "agrees"
        print(f"{state}: gnnsync run {job['line']}", flush=True)
    print(f"{len(jobs) - differing} of {len(jobs)} jobs agree with the kept rows")
    return int(differing > 0)
