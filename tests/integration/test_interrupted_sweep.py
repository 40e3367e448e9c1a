"""Sweeps that are killed, share a folder, or run out of disk: nothing finished is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GNNSYNC = [sys.executable, "-m", "gnnsync.cli", "run", "-m"]
# A small part of the study: the same preset, methods and launcher, smaller networks.
MAIN_K1 = [
    "experiment=paper/main_k1",
    "scale=quick",
    "hydra/launcher=joblib",
    "hydra.launcher.n_jobs=2",
    "data=ero",
    "data.p=0.3",
    "data.eta=0.2,0.6",
    "method=gnnsync,spectral_rn,gpm,trivial",
    "data.n=40",
    "data.seeds=[10,20]",
    "trainer.max_steps=60",
]
# How long a job took is no part of what it found.
TIMES = {"seconds_setup", "seconds_train"}


def start(folder: Path, overrides: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*GNNSYNC, *overrides, f"output_dir={folder}"],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == code, errors
    return errors


def rows(folder: Path) -> list[dict[str, object]]:
    found = [row for path in results(folder) for row in json.loads(path.read_text())["rows"]]
    return sorted(
        ({key: value for key, value in row.items() if key not in TIMES} for row in found),
        key=lambda row: (row["job_hash"], row["network_seed"], row["trial"]),
    )


def results(folder: Path) -> list[Path]:
    return sorted(folder.rglob("result.json"))


def test_a_sweep_killed_three_times_ends_with_the_rows_of_one_that_was_not(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    finish(start(whole, MAIN_K1))
    expected = rows(whole)
    assert len(expected) == 8 * 2 * 2
    chance = random.Random(5)
    counts = []
    for _ in range(3):
        process = start(broken, MAIN_K1)
        target = len(results(broken)) + chance.choice((1, 2))
        while len(results(broken)) < target and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        counts.append(len(results(broken)))
    assert counts[0] < 8, "killed too late to test anything"
    told = finish(start(broken, MAIN_K1))
    assert f"8 jobs: {counts[-1]} done" in told
    assert rows(broken) == expected
    for path in broken.rglob("*"):
        assert not path.name.endswith((".tmp", ".partial")), path
        if path.suffix == ".json":
            json.loads(path.read_text())


def probes(folder: Path, *overrides: str) -> list[str]:
    """Jobs that note in a folder that they ran."""
    return [
        *("data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false"),
        *("logger=none", "method=trivial", "method._target_=tests.integration.probe.Probe"),
        *(f"+method.folder={folder}", "sweep=probes"),
        *overrides,
    ]


def test_two_sweeps_in_one_folder_share_the_work(tmp_path):
    notes, shared = tmp_path / "notes", tmp_path / "shared"
    notes.mkdir()
    sweep = probes(notes, "+method.name=a,b,c,d,e,f")
    (notes / "a.hold").touch()
    first = start(shared, sweep)
    while not list(notes.glob("a.run.*")):
        assert first.poll() is None
        time.sleep(0.05)
    second = start(shared, sweep)
    while len(list(notes.glob("*.run.*"))) < 6:
        assert second.poll() is None
        time.sleep(0.05)
    (notes / "a.hold").unlink()
    finish(first)
    assert "waiting for 1 job that another sweep is running" in finish(second)
    assert len(list(notes.glob("*.run.*"))) == 6, "no job ran twice"
    assert len(rows(shared)) == 6
    assert len((shared / "probes" / "rows.csv").read_text().splitlines()) == 1 + 6


def test_a_worker_that_dies_costs_only_its_own_job(tmp_path):
    notes, folder = tmp_path / "notes", tmp_path / "results"
    notes.mkdir()
    sweep = probes(notes, "+method.name=a,b,c", "+method.fatal=2")
    sweep += ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    for name in "bc":  # only `a` has deaths left
        for death in range(2):
            (notes / f"{name}.died.{death}").touch()
    told = finish(start(folder, sweep), code=1)
    assert "a worker died; going on with the other jobs" in told
    assert "1 of 3 jobs left no result" in told
    assert "Traceback" not in told
    assert len(rows(folder)) == 2
