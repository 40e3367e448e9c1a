"""Signals to a command: one line, the exit code of a shell, finished results kept, no orphans."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.integration.test_interrupted_sweep import finish, probes, results, rows, start
from tests.job_folders import write_job

# Seconds of work after which the libraries are loaded; planning takes much longer.
_LOADED = 2.5
JOBLIB = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]


def wait_for(condition, process: subprocess.Popen[str] | None = None, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, "the command has ended"
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def hangup_not_ignored():
    """Commands inherit what the tests ignore, which is SIGHUP under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def held(tmp_path):
    """Start a sweep with one job that ends at once, and others that do not end by themselves."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in "bc":
        (notes / f"{name}.hold").touch()

    def begin(*overrides: str) -> subprocess.Popen[str]:
        sweep = probes(notes, "+method.name=a,b,c", *overrides)
        process = start(tmp_path / "results", sweep)
        wait_for(lambda: list(notes.glob("b.run.*")), process)
        wait_for(lambda: results(tmp_path / "results"), process)
        return process

    yield begin
    for name in "bc":
        (notes / f"{name}.hold").unlink(missing_ok=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_sweep_ends_in_one_line_and_keeps_what_is_finished(held, number, tmp_path):
    process = held()
    process.send_signal(number)
    told = finish(process, code=128 + number)
    assert told.endswith("gnnsync: interrupted; finished results are kept\n")
    assert "Traceback" not in told
    assert len(rows(tmp_path / "results")) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_workers_of_a_sweep_end_with_it(held, number, tmp_path):
    process = held(*JOBLIB, "hydra.launcher.n_jobs=4")  # more than there are jobs
    workers = psutil.Process(process.pid).children(recursive=True)
    assert len(workers) >= 4
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == (143 if number == signal.SIGTERM else -number)
    assert "Traceback" not in told
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive, [worker.cmdline() for worker in alive]
    assert len(rows(tmp_path / "results")) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_sweep_and_all_that_its_ray_has_started_end_together(held, number, tmp_path):
    """Workers, and daemons, some of which would otherwise be there a minute later."""
    pytest.importorskip("ray")
    process = held("hydra/launcher=ray", "hydra.launcher.ray.init.num_cpus=3")
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) > 5
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert told.endswith("gnnsync: interrupted; finished results are kept\n")
    assert "Traceback" not in told
    _, alive = psutil.wait_procs(started, timeout=10)
    assert not alive, [one.cmdline() for one in alive]
    assert len(rows(tmp_path / "results")) == 1


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.hold").touch()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start(tmp_path / "results", probes(notes, "+method.name=a"))
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(lambda: list(notes.glob("a.run.*")), process)
    process.send_signal(signal.SIGHUP)
    (notes / "a.hold").unlink()
    finish(process)
    assert len(results(tmp_path / "results")) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_while_configs_are_composed_is_one_line(number, tmp_path):
    # 20,000 points take seconds to plan.
    values = ",".join(str(seed) for seed in range(20_000))
    process = start(tmp_path, [f"seed={values}", "sweep=large", "method=trivial"])
    running = psutil.Process(process.pid)
    wait_for(lambda: sum(running.cpu_times()[:2]) > _LOADED, process)
    process.send_signal(number)
    _, told = process.communicate(timeout=300)
    # Python itself ends by SIGINT, 130 in a shell, if Ctrl-C has met a string that was executed.
    assert process.returncode in (128 + number, *([-2] if number == signal.SIGINT else []))
    assert told == "gnnsync: interrupted; finished results are kept\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_training_ends_with_the_exit_code_of_the_signal(number, tmp_path):
    command = ["data.n=60", "data.p=0.3", "data.seeds=[10]", "trials=1", "sweep=long"]
    command += ["trainer.max_steps=9999999", "callbacks.stopping.patience=null"]
    command += ["checkpoint_every=50"]
    process = start(tmp_path, command)
    wait_for(lambda: list(Path(tmp_path).rglob("last.ckpt")), process)
    process.send_signal(number)
    told = finish(process, code=128 + number)
    assert "Traceback" not in told
    assert told.endswith("gnnsync: interrupted; finished results are kept\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_report_ends_in_one_line_with_the_exit_code_of_the_signal(number, tmp_path):
    for step in range(1500):  # takes many seconds to read and draw
        write_job(tmp_path, seeds=20, **{"data.eta": step / 1500, "data.p": 0.01 + step / 3000})
    command = [sys.executable, "-m", "gnnsync.cli", "report", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    running = psutil.Process(process.pid)
    wait_for(lambda: sum(running.cpu_times()[:2]) > _LOADED, process)
    process.send_signal(number)
    told = finish(process, code=128 + number)
    assert told.splitlines()[-1] == "gnnsync report: interrupted"
    assert "Traceback" not in told


def test_solve_ends_with_the_exit_code_of_the_signal(tmp_path):
    pipe = tmp_path / "offsets.csv"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "gnnsync.cli", "solve", str(pipe)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with pipe.open("w"):  # waits until the command reads
        process.send_signal(signal.SIGTERM)
        told = finish(process, code=143)
    assert told.endswith("gnnsync solve: interrupted\n")
    assert "Traceback" not in told
