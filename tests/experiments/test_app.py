"""A single job that runs out of memory ends in one line, whoever finds none."""

from __future__ import annotations

import logging
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from gnnsync.experiments.job import run as job_run
from tests.command import main

JOB = ["run", "data.seeds=[10]", "trials=1", "figures=false", "logger=none", "method=trivial"]
LINE = "gnnsync: out of memory: fewer nodes, data.seeds or trials need less ({})\n"
# Enough to load the libraries.
_ADDRESSES = 2_500_000_000


@pytest.fixture(autouse=True)
def logging_as_before():
    """Hydra configures the root logger; other tests should not notice."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def few_addresses() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))


def test_a_network_that_does_not_fit_is_one_line(tmp_path):
    """In a process that may use 2.5 GB, of a network whose pairs of nodes take 37 GB."""
    command = [sys.executable, "-m", "gnnsync.cli", *JOB, "data.n=100000", "data.p=0.9"]
    done = subprocess.run(
        [*command, f"output_dir={tmp_path}"],
        capture_output=True,
        text=True,
        preexec_fn=few_addresses,
    )
    assert done.returncode == 1
    start, _, end = LINE.partition("{}")
    assert done.stderr.startswith(f"{start}Unable to allocate 37.3 GiB")
    assert done.stderr.endswith(end)
    assert done.stderr.count("\n") == 1
    (note,) = Path(tmp_path).rglob("failure.json")
    assert "Unable to allocate" in note.read_text()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("8 EiB"),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
    ids=str,
)
def test_memory_that_a_library_does_not_find_is_one_line(error, tmp_path, capsys, monkeypatch):
    def without_memory(*_):
        raise error

    monkeypatch.setattr(job_run, "solve_replicas", without_memory)
    assert main([*JOB, "data.n=30", "data.p=0.4", f"output_dir={tmp_path}"]) == 1
    assert capsys.readouterr().err == LINE.format(error)


def test_another_error_of_a_library_is_no_lack_of_memory(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(job_run, "solve_replicas", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        main([*JOB, "data.n=30", "data.p=0.4", f"output_dir={tmp_path}"])
