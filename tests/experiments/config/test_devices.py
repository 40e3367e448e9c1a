"""Devices that this machine has; tests/experiments/test_config.py refuses several per job."""

from __future__ import annotations

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
    "command", [["run"], ["run", "-m"], ["run", "-m", "hydra/launcher=joblib"]], ids=" ".join
)
def test_the_command_ends_at_once_and_writes_nothing(command, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(devices, "gpu_count", lambda _: 0)
    assert main([*command, "trainer=gpu"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("gnnsync: trainer.accelerator = gpu: PyTorch finds no GPU")
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())
