"""Readers of the files that jobs and sweeps write, with right files to damage."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from importlib.resources import as_file
from pathlib import Path

from gnnsync.learn.inductive.weights import load_weights
from gnnsync.methods.robust.unrolled.weights import shipped_file
from gnnsync.results.collect import collect
from gnnsync.results.files import read_failure, read_jobs, read_result
from gnnsync.results.listing import find_runs, overrides_of, summarise_run
from gnnsync.results.reading import read_arrays, read_yaml


def job_file(name: str) -> Callable[[Path], None]:
    """Reads a file as the file `name` of a job and of its sweep, as `list` and `report` do."""

    def use(path: Path) -> None:
        with tempfile.TemporaryDirectory() as top:
            job = Path(top) / "sweep" / "spectral-ero-eta0.4-0123abcd"
            job.mkdir(parents=True)
            for folder in (job, job.parent):
                shutil.copyfile(path, folder / name)
            for run in find_runs(Path(top)):
                text = f"{summarise_run(run)}{overrides_of(run)}"
                json.dumps(text)
            read_failure(job), read_jobs(job)
            json.dumps([read_result(job), read_yaml(job / name)], allow_nan=True)
            found = collect([Path(top)])
            found.rows.to_csv(Path(top) / "rows.csv")
            "".join(f"{one}" for one in found.absent).encode()

    return use


def solutions(path: Path) -> None:
    """Reads the arrays of a job's solutions."""
    read_arrays(path, ("loss_train", "loss_evaluation"))


def weights(path: Path) -> None:
    """Reads weights of the inductive network."""
    load_weights(path)


def result() -> bytes:
    """A `result.json` of two rows."""
    row = {
        "job_hash": "0123abcd0123abcd",
        "sweep": "sweep",
        "method": "spectral",
        "data.eta": 0.4,
        "network_seed": 0,
        "mse": 0.25,
        "converged": True,
        "note": None,
    }
    rows = [row, {**row, "network_seed": 1, "mse": 1e-300, "variant": "é"}]
    content = {
        "status": "success",
        "job_hash": row["job_hash"],
        "overrides": ["method=spectral", "data.eta=0.4"],
        "seconds": 1.5,
        "config": {"data": {"n": 360}},
        "rows": rows,
    }
    return json.dumps(content).encode()


def failure() -> bytes:
    """A `failure.json`."""
    note = {"overrides": ["method=spectral"], "kind": "ValueError", "error": "no such file"}
    return json.dumps(note).encode()


def jobs() -> bytes:
    """A `jobs.json` of two jobs."""
    listed = [
        {"job_hash": f"{n}123abcd0123abcd", "overrides": ["method=gpm"], "folder": f"gpm-{n}"}
        for n in range(2)
    ]
    return json.dumps({"jobs": listed}).encode()


CONFIG = (
    b"data:\n  n: 360\n  eta: 0.4\n  graph: [1, 2.5, null, true]\nmethod: {name: gpm, max: .inf}\n"
    b"text: 'a b'\nother: &a [1]\nsame: *a\n"
)


def shipped_weights() -> bytes:
    """The weights that come with the package."""
    with as_file(shipped_file()) as path:
        content: bytes = path.read_bytes()
    return content
