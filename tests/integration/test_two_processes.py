"""Two processes that run one job at once: one runs it, the other says who does."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import torch

from tests.integration.test_interrupted_sweep import ROOT
from tests.integration.test_signals import wait_for

SMALL = ["data.n=40", "data.p=0.3", "data.seeds=[10]", "trials=1", "figures=false", "logger=none"]
ENDLESS = ["trainer.max_steps=9999999", "callbacks.stopping.patience=null"]


def start(folder: Path, *overrides: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gnnsync.cli", "run", *overrides, f"output_dir={folder}"],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, told = process.communicate(timeout=300)
    assert "Traceback" not in told
    return process.returncode, told


def refusal(process: subprocess.Popen[str]) -> str:
    holder = rf"process {process.pid} on {re.escape(socket.gethostname())}"
    return rf"gnnsync: \S+: {holder} is running this job: wait for it, or stop it\n"


def only(folder: Path, name: str) -> Path:
    (path,) = [path for path in folder.rglob(name) if not path.parent.is_symlink()]
    return path


def test_a_training_that_another_process_runs_is_refused_in_one_line(tmp_path):
    """The first writes checkpoints all the time; the second touches none of them."""
    endless = [*SMALL, *ENDLESS, "checkpoint_every=1"]
    first = start(tmp_path, *endless)
    wait_for(lambda: list(tmp_path.rglob("last.ckpt")), first)
    code, told = ended(start(tmp_path, *endless, "resume=true"))
    assert code == 2
    assert re.fullmatch(refusal(first), told)
    checkpoint = only(tmp_path, "last.ckpt")
    before = checkpoint.stat().st_mtime_ns
    wait_for(lambda: checkpoint.stat().st_mtime_ns != before, first)
    first.send_signal(signal.SIGTERM)
    assert ended(first)[0] == 143
    assert torch.load(checkpoint, weights_only=False)["global_step"] > 0
    assert not list(tmp_path.rglob("*.tmp"))


def test_two_processes_that_start_at_once_leave_one_whole_result(tmp_path):
    processes = [start(tmp_path, *SMALL, "method=gpm") for _ in range(2)]
    told = [ended(process) for process in processes]
    for (code, text), other in zip(told, reversed(processes), strict=True):
        assert code == 0 or (code == 2 and re.fullmatch(refusal(other), text)), text
    assert 0 in [code for code, _ in told]
    assert json.loads(only(tmp_path, "result.json").read_text())["status"] == "success"
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".tmp", ".partial")]


def test_a_sweep_and_a_single_run_of_one_job_share_its_lock(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.hold").touch()
    job = [*SMALL, "method=trivial", "method._target_=tests.integration.probe.Probe"]
    job += [f"+method.folder={notes}", "+method.name=a", "sweep=shared"]
    sweep = start(tmp_path / "results", "-m", *job)
    wait_for(lambda: list(notes.glob("a.run.*")), sweep)
    code, told = ended(start(tmp_path / "results", *job))
    assert code == 2
    assert re.fullmatch(refusal(sweep), told)
    (notes / "a.hold").unlink()
    assert ended(sweep)[0] == 0
    assert len(list(notes.glob("a.run.*"))) == 1
