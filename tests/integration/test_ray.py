"""Sweeps on a real Ray cluster with four logical GPUs."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from unittest import mock

import hydra
import pytest
from omegaconf import OmegaConf

from gnnsync.errors import ConfigError
from gnnsync.experiments.paths import conf_dir
from tests.integration.rendezvous import notes, where

# A cluster lets in those who know its token; Ray reads these when it is loaded.
os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
ray = pytest.importorskip("ray")
pytest.importorskip("hydra_plugins.hydra_ray_launcher")
from hydra_plugins.hydra_gnnsync.ray_launcher import check_resources  # noqa: E402

RAY = str(Path(sys.executable).parent / "ray")
SMALL = ["data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false", "logger=none"]
ROOT = Path(__file__).resolve().parents[2]
GNNSYNC = [sys.executable, "-m", "gnnsync.cli", "run", "-m"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A cluster of one node that any number of drivers may connect to."""
    port = 20000 + os.getpid() % 10000
    head = ["start", "--head", f"--port={port}", "--num-gpus=4", "--num-cpus=8"]
    quiet = ["--include-dashboard=false", "--disable-usage-stats", "--block"]
    log = (tmp_path_factory.mktemp("ray") / "head.log").open("w+")
    cluster = subprocess.Popen(
        [RAY, *head, *quiet, "--object-store-memory=100000000"],
        env=ENVIRONMENT,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    _wait_for(cluster, Path(log.name))
    yield f"127.0.0.1:{port}"
    if ray.is_initialized():
        ray.shutdown()
    cluster.terminate()
    cluster.wait(timeout=60)


def _wait_for(process: subprocess.Popen, log: Path, words: str = "Ray runtime started") -> None:
    end = time.monotonic() + 120
    while words not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.2)


def run_together(address: str, folder: Path, jobs: int, share: float) -> list[dict]:
    """Run jobs that end only when all of them run at the same time."""
    folder.mkdir()
    overrides = [
        *("-m", "hydra/sweeper=basic", "hydra/launcher=ray_gpu", f"gpus_per_job={share}"),
        f"hydra.launcher.ray.init.address={address}",
        "hydra.launcher.ray.remote.num_cpus=0.5",
        *(f"output_dir={folder}", f"trials={jobs}", f"seed=range({jobs})"),
    ]
    application = hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
    with mock.patch.object(sys, "argv", ["where", *overrides]):
        application(where)()
    return notes(folder)


def test_every_job_has_a_gpu_of_its_own_and_a_fresh_process(address, tmp_path):
    alone = run_together(address, tmp_path / "alone", jobs=4, share=1)
    assert sorted(job["gpus"] for job in alone) == ["0", "1", "2", "3"]
    shared = run_together(address, tmp_path / "shared", jobs=8, share=0.5)
    assert Counter(job["gpus"] for job in shared) == dict.fromkeys("0123", 2)
    assert len({job["pid"] for job in alone + shared}) == 12
    assert {job["threads"] for job in alone + shared} == {"1"}


def test_a_job_that_dies_costs_only_itself_and_runs_on_the_next_start(address, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    sweep = [
        *SMALL,
        *(f"output_dir={tmp_path}", "sweep=study"),
        "hydra/launcher=ray",
        f"hydra.launcher.ray.init.address={address}",
        "hydra.launcher.ray.remote.max_retries=0",
        "method=trivial",
        "method._target_=tests.integration.probe.Probe",
        f"+method.folder={folder}",
        "+method.fatal=1,0",
        "+method.name=one",
    ]
    first = gnnsync(sweep, code=1)
    assert "2 jobs: 0 done, 0 failed before, 2 new" in first
    assert "1 of 2 jobs left no result" in first
    assert "gnnsync: 1 of 2 jobs done, 0 running, 0 failed, 1 left; took " in first
    assert "+method.fatal=0" in first, "the best job is named"
    assert "Traceback" not in first
    assert len(list(tmp_path.rglob("result.json"))) == 1
    second = gnnsync(sweep, code=0)
    assert "2 jobs: 1 done, 0 failed before, 1 new" in second
    assert len(list(tmp_path.rglob("result.json"))) == 2


def test_a_cluster_that_may_grow_is_waited_for(address, tmp_path):
    """It has eight CPUs; a node with nine joins it once the sweep has said that it waits."""
    sweep = [
        *SMALL,
        *(f"output_dir={tmp_path / 'outputs'}", "sweep=study", "hydra/launcher=ray"),
        f"hydra.launcher.ray.init.address={address}",
        *("hydra.launcher.ray.remote.num_cpus=9", "method=trivial", "seed=1,2"),
    ]
    told = (tmp_path / "told").open("w+")
    waiting = subprocess.Popen(
        [*GNNSYNC, *sweep], env=ENVIRONMENT, stderr=told, stdout=subprocess.DEVNULL
    )
    _wait_for(waiting, Path(told.name), "waiting for")
    node = subprocess.Popen(
        [RAY, "start", f"--address={address}", "--num-cpus=9", "--block"],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert waiting.wait(timeout=300) == 0
    finally:
        node.terminate()
        node.wait(timeout=60)
    line = (
        "gnnsync: a job needs 9 CPU, and no node of the Ray cluster has more than 8: waiting for "
        "one that joins (Ctrl-C ends the sweep)\n"
    )
    text = Path(told.name).read_text()
    assert text.count(line) == 1
    assert "Traceback" not in text
    assert len(list(tmp_path.rglob("result.json"))) == 2


def test_a_ray_of_this_machine_alone_is_not_waited_for(address, caplog):
    ray.init(address=address, ignore_reinit_error=True)
    needed = OmegaConf.create({"num_gpus": 5})
    with pytest.raises(ConfigError, match=r"needs 5 GPU, and no node .* has more than 4"):
        check_resources(needed, here=True)
    check_resources(OmegaConf.create({"num_gpus": 4, "num_cpus": 8}), here=True)
    assert "waiting" not in caplog.text
    check_resources(needed, here=False)
    assert "waiting for one that joins" in caplog.text


def gnnsync(overrides: list[str], code: int) -> str:
    done = subprocess.run(
        [*GNNSYNC, *overrides],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == code, done.stderr
    return done.stderr
