"""Tracking with Weights & Biases as a person uses it: real processes, no account, no network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.experiments.tracking.wandb_file import read_run

GNNSYNC = [sys.executable, "-m", "gnnsync.cli"]
SMALL = ["data.n=30", "data.eta=0.3", "trials=1", "data.seeds=[10]"]
KEY = "0123456789abcdef0123456789abcdef01234567"
SECRET = "very-secret-word"
NOWHERE = "http://127.0.0.1:9"  # nothing answers at once


def environment(home: Path, **extra: str) -> dict[str, str]:
    """An environment without a login, whose home is a folder of the test."""
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith("WANDB")}
    kept = {k: v for k, v in kept.items() if not k.lower().endswith("_proxy")}
    return (
        kept | {"HOME": str(home), "WANDB_BASE_URL": NOWHERE, "NETRC": str(home / "none")} | extra
    )


def holds(folder: Path, word: str) -> list[Path]:
    """Files that contain a word."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if word.encode() in path.read_bytes()]


def test_a_sweep_without_a_network_is_tracked_offline_and_leaks_nothing(tmp_path):
    command = [*GNNSYNC, "run", "-m", *SMALL, "method=spectral_rn", "logger=wandb"]
    env = environment(tmp_path, WANDB_API_KEY=KEY, MY_PASSWORD=SECRET, WANDB_RUN_ID="one")
    done = subprocess.run(
        [*command, "data.max_draws=2", "data.p=0.01,0.4,0.5"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    sentence = "Weights & Biases: 127.0.0.1 cannot be reached; this job is tracked offline"
    logs = [path.read_text() for path in (tmp_path / "outputs").rglob("job.log")]
    assert [sentence in text for text in logs] == [True] * 3
    runs = {}
    for path in (tmp_path / "outputs").rglob("*.wandb"):
        run = read_run(path)
        runs[run.config["data"]["p"]] = run
    assert {p: run.exit_code for p, run in runs.items()} == {0.01: 1, 0.4: 0, 0.5: 0}
    assert len({run.about.run_id for run in runs.values()}) == 3
    assert runs[0.4].summary["mse"] >= 0
    assert "mse" not in runs[0.01].summary
    report = [*GNNSYNC, "report", "outputs", "--workers", "1"]
    subprocess.run(report, cwd=tmp_path, env=env, check=True, capture_output=True, timeout=120)
    assert holds(tmp_path, "erdos_renyi"), "the search finds nothing at all"
    assert holds(tmp_path, KEY) == []
    assert holds(tmp_path, SECRET) == []
