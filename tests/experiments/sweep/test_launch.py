from __future__ import annotations

import importlib.util
import warnings

import pytest
from hydra_plugins.hydra_joblib_launcher.joblib_launcher import JoblibLauncher

from gnnsync.errors import GnnsyncError
from gnnsync.experiments.config.composing import compose_config, hydra_configs
from gnnsync.experiments.sweep import launch
from gnnsync.experiments.sweep.launch import check_launcher, runs_here
from hydra_plugins.hydra_gnnsync.joblib_launcher import ProcessLauncher


@pytest.fixture(autouse=True)
def configs():
    with hydra_configs():
        yield


def launcher(name: str, *overrides: str):
    return compose_config([f"hydra/launcher={name}", *overrides], with_hydra=True)


def test_our_configs_come_before_those_of_the_plugins():
    assert int(launcher("joblib").hydra.launcher.batch_size) == 1
    assert launcher("ray").hydra.launcher.ray.remote.max_calls == 1
    assert launcher("slurm").hydra.launcher.additional_parameters.requeue is True


def test_threads_and_gpu_share_reach_the_launcher():
    gpu = launcher("ray_gpu", "gpus_per_job=0.25", "threads=3")
    assert gpu.hydra.launcher.ray.remote.num_gpus == 0.25
    assert gpu.hydra.launcher.ray.remote.num_cpus == 3
    assert launcher("slurm", "threads=3").hydra.launcher.cpus_per_task == 3


@pytest.mark.parametrize("share", ["0", "-1", "1.5", "2", "half"])
def test_a_share_is_of_one_gpu(share):
    with pytest.raises(GnnsyncError, match=r"gpus_per_job = .*must be a number in \(0, 1\]"):
        check_launcher(launcher("ray_gpu", f"gpus_per_job={share}"))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("joblib", "gnnsync"),
        ("ray", "gnnsync[ray]"),
        ("ray_gpu", "gnnsync[ray]"),
        ("slurm", "gnnsync[slurm]"),
    ],
)
def test_a_missing_package_is_one_sentence_with_the_remedy(name, package, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(GnnsyncError) as error:
        check_launcher(launcher(name))
    assert str(error.value) == (
        f"hydra/launcher = {name}: is not installed: pip install '{package}'"
    )


def test_slurm_needs_sbatch(monkeypatch):
    monkeypatch.setattr(launch.shutil, "which", lambda _: None)
    with pytest.raises(GnnsyncError, match="there is no sbatch here"):
        check_launcher(launcher("slurm"))


def test_an_idle_gpu_gives_a_warning(caplog):
    stated = "hydra.launcher.ray.init.num_gpus=1"
    check_launcher(launcher("ray_gpu", stated))
    assert "add trainer=gpu" in caplog.text
    caplog.clear()
    check_launcher(launcher("ray_gpu", stated, "trainer=gpu"))
    assert not caplog.text


@pytest.mark.parametrize(
    ("overrides", "found", "refused"),
    [
        ([], 0, True),
        ([], 1, False),
        (["hydra.launcher.ray.init.num_gpus=0"], 1, True),
        (["hydra.launcher.ray.init.num_gpus=2"], 0, False),
        (["hydra.launcher.ray.init.address=10.0.0.1:6379"], 0, False),
    ],
)
def test_a_machine_without_a_gpu_is_refused(overrides, found, refused, monkeypatch):
    monkeypatch.setattr(launch, "gpu_count", lambda: found)
    cfg = launcher("ray_gpu", "trainer=gpu", *overrides)
    if not refused:
        check_launcher(cfg)
        return
    with pytest.raises(GnnsyncError, match="this machine has no GPU, so no job could ever start"):
        check_launcher(cfg)


@pytest.mark.parametrize(
    ("name", "here"),
    [("basic", True), ("joblib", True), ("ray", True), ("ray_gpu", False), ("slurm", False)],
)
def test_where_jobs_run(name, here):
    assert runs_here(launcher(name)) == here


def test_a_ray_that_is_joined_runs_jobs_elsewhere():
    assert not runs_here(launcher("ray", "hydra.launcher.ray.init.address=auto"))


def test_a_worker_of_joblib_that_is_replaced_is_no_warning(monkeypatch, recwarn):
    def replaced(self, job_overrides, initial_job_idx):
        warnings.warn("A worker stopped while some jobs were given to the executor.", stacklevel=1)
        warnings.warn("something else", stacklevel=1)
        return ["returned"]

    monkeypatch.setattr(JoblibLauncher, "launch", replaced)
    assert ProcessLauncher(n_jobs=2).launch([["a=1"]], 0) == ["returned"]
    assert [str(found.message) for found in recwarn] == ["something else"]
