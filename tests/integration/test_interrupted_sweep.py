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
