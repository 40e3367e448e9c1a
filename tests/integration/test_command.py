"""The command as a person uses it: real processes, real signals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

GNNSYNC = [sys.executable, "-m", "gnnsync.cli"]
SMALL = ["data.n=40", "data.p=0.3", "data.eta=0.3", "trials=1", "data.seeds=[10]", "figures=false"]


def gnnsync(*arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*GNNSYNC, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, done.stderr
    return done


def results(folder: Path) -> list[Path]:
    return sorted(folder.rglob("result.json"))


def test_help_lists_groups_and_choices(tmp_path):
    text = gnnsync("run", "--help", cwd=tmp_path).stdout
    for word in ("data: ", "rggo", "model/encoder: ", "dimpa", "loss: ", "cycle", "experiment: "):
        assert word in text
    assert "run" in gnnsync("--help", cwd=tmp_path).stdout
    assert "must be one of run, solve" in gnnsync("fly", cwd=tmp_path, code=2).stderr
    assert "slove: did you mean solve? must be" in gnnsync("slove", cwd=tmp_path, code=2).stderr


def test_cfg_job_prints_the_config_and_runs_nothing(tmp_path):
    text = gnnsync("run", "--cfg", "job", "data.eta=0.25", cwd=tmp_path).stdout
    assert "eta: 0.25" in text
    assert not results(tmp_path)


def test_multirun_runs_every_job_once_and_a_failure_does_not_stop_the_others(tmp_path):
    sweep = ["run", "-m", *SMALL, "method=spectral_rn", "data.max_draws=2", "data.p=0.01,0.4,0.5"]
    sweep.append("sweep=study")
    first = gnnsync(*sweep, cwd=tmp_path, code=1)
    assert "3 jobs: 0 done, 0 failed before, 3 new" in first.stderr
    assert "1 of 3 jobs failed" in first.stderr
    assert "data.p=0.01" in first.stderr
    assert "no connected measurement graph in 2 draws" in first.stderr
    done = results(tmp_path)
    assert len(done) == 2
    stamps = [path.stat().st_mtime_ns for path in done]
    second = gnnsync(*sweep, cwd=tmp_path, code=1)
    assert "3 jobs: 2 done, 1 failed before, 0 new" in second.stderr
    assert [path.stat().st_mtime_ns for path in done] == stamps


def test_a_killed_training_resumes_to_the_same_angles(tmp_path):
    job = [
        "run",
        *SMALL,
        "trainer.max_steps=3000",
        "callbacks.stopping.patience=3000",
        "method.inner_steps=10",
        "checkpoint_every=50",
    ]
    whole = tmp_path / "whole"
    gnnsync(*job, f"output_dir={whole}", cwd=tmp_path)
    broken = tmp_path / "broken"
    process = subprocess.Popen(
        [*GNNSYNC, *job, f"output_dir={broken}"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _wait(lambda: list(broken.rglob("last.ckpt")), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not results(broken), "killed too late to test anything"
    again = gnnsync(*job, f"output_dir={broken}", "resume=true", cwd=tmp_path)
    assert "resuming from" in again.stderr
    assert np.array_equal(_angles(whole), _angles(broken))
    rows = [json.loads(results(folder)[0].read_text())["rows"][0] for folder in (whole, broken)]
    assert rows[0]["mse"] == rows[1]["mse"]
    assert rows[0]["steps"] == rows[1]["steps"]


def test_ctrl_c_leaves_earlier_results_whole(tmp_path):
    gnnsync("run", *SMALL, "method=spectral_rn", cwd=tmp_path)
    before = results(tmp_path)[0].read_bytes()
    long = [
        "run",
        *SMALL,
        "trainer.max_steps=1000000",
        "callbacks.stopping.patience=1000000",
        "checkpoint_every=50",
    ]
    process = subprocess.Popen(
        [*GNNSYNC, *long],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A suite that runs in the background has Ctrl-C ignored, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    _wait(lambda: list(tmp_path.rglob("last.ckpt")), process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "gnnsync: interrupted" in errors
    assert "Traceback" not in errors
    assert len(results(tmp_path)) == 1
    assert results(tmp_path)[0].read_bytes() == before


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_ctrl_c_while_libraries_load_is_one_line(tmp_path, share):
    """Interrupted after a share of the time that the command needs to answer a wrong key."""
    start = time.monotonic()
    gnnsync("run", "dta.p=1", cwd=tmp_path, code=2)
    process = subprocess.Popen(
        [*GNNSYNC, "run", "method=gnnsync"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=share * (time.monotonic() - start))
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT), errors
    assert "Traceback" not in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("data.p=2", "gnnsync: data.p = 2: must be a number in [0, 1]"),
        ("data.max_draws=1", "gnnsync: no connected measurement graph in 1 draws"),
    ],
)
def test_bad_input_is_one_line_and_a_code(tmp_path, override, message):
    done = gnnsync("run", *SMALL, "data.p=0.001", override, cwd=tmp_path, code=2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not results(tmp_path)


def _angles(folder: Path) -> np.ndarray:
    (path,) = folder.rglob("solutions.npz")
    with np.load(path) as arrays:
        return arrays["angles"]


def _wait(condition, process: subprocess.Popen, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process ended by itself"
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
