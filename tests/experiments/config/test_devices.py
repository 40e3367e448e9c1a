"""Devices that this machine has; tests/experiments/test_config.py refuses several per job."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from gnnsync.errors import ConfigError
from gnnsync.experiments.config import devices
from gnnsync.experiments.config.devices import check_gpu_here
from tests.command import main


@pytest.mark.parametrize("accelerator", ["gpu", "cuda"])
def test_a_gpu_that_is_not_there_is_refused(composed, monkeypatch, accelerator):
    monkeypatch.setattr(devices, "gpu_count", lambda _: 0)
    cfg = composed(f"trainer.accelerator={accelerator}")
    with pytest.raises(ConfigError, match="PyTorch finds no GPU on this machine: use trainer=cpu"):
        check_gpu_here(cfg)
    monkeypatch.setattr(devices, "gpu_count", lambda _: 1)
    check_gpu_here(cfg)


def test_a_method_that_does_not_train_needs_none(composed, monkeypatch):
    monkeypatch.setattr(devices, "gpu_count", lambda _: 0)
    check_gpu_here(composed("trainer=gpu", "method=gpm"))
    check_gpu_here(composed("trainer=cpu"))


@pytest.mark.parametrize(
    "command",
    [["run"], *(["run", "-m", f"hydra/launcher={name}"] for name in ("basic", "joblib", "ray"))],
    ids=" ".join,
)
def test_the_command_ends_at_once_and_writes_nothing(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(devices, "gpu_count", lambda _: 0)
    assert main([*command, "trainer=gpu"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("gnnsync: trainer.accelerator = gpu: PyTorch finds no GPU")
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("launcher", [[], ["-m", "hydra/launcher=ray_gpu"]], ids=" ".join)
def test_the_answer_takes_less_than_five_seconds(launcher, tmp_path):
    """Of processor time, in a process of its own; no Ray is started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "gnnsync.cli", "run", *launcher, "trainer=gpu"],
        cwd=tmp_path,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 2
    assert done.stderr.startswith("gnnsync: ")
    assert done.stderr.count("\n") == 1
    assert "GPU" in done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    assert not list(tmp_path.iterdir())
