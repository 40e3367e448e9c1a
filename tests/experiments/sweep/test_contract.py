"""The contract of a sweep that is started again; docs/sweeps.md lists it line by line."""

from __future__ import annotations

import csv
import json
import logging
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from gnnsync.experiments import app
from gnnsync.experiments.job import run as job_run
from gnnsync.results.locks import claim
from tests.command import main

SMALL = ["data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=1", "figures=false", "logger=none"]


@pytest.fixture(autouse=True)
def logging_as_before():
    """Hydra configures the root logger; other tests should not notice."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def sweep(tmp_path, capsys):
    def run(*overrides: str, code: int = 0) -> str:
        command = ["run", "-m", *SMALL, "sweep=runs", f"output_dir={tmp_path}", *overrides]
        assert main(command) == code
        return capsys.readouterr().err

    return run


def results(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("result.json"))}


def values(folder: Path, column: str) -> list[str]:
    with (folder / "rows.csv").open(newline="") as file:
        return sorted(row[column] for row in csv.DictReader(file))


def test_a_job_keeps_its_folder_whatever_its_place_in_the_sweep(sweep, tmp_path):
    sweep("method=spectral,trivial", "data.eta=0.1,0.2")
    before = results(tmp_path)
    assert len(before) == 4
    assert "4 jobs: 4 done" in sweep("data.eta=0.2,0.1", "method=trivial,spectral")
    assert results(tmp_path) == before
    told = sweep("data.eta=0.05,0.2,0.1", "method=trivial", "hydra.sweeper.max_batch_size=1")
    assert "3 jobs: 2 done, 0 failed before, 1 new" in told
    after = results(tmp_path)
    assert len(after) == 5
    assert {path: after[path] for path in before} == before


def test_a_job_that_failed_runs_again_and_its_note_goes(sweep, tmp_path, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(job_run, "solve_replicas", lambda *_: 1 / 0)
        assert "1 of 1 job failed" in sweep("method=trivial", code=1)
    (note,) = tmp_path.rglob("failure.json")
    assert json.loads(note.read_text())["kind"] == "ZeroDivisionError"
    assert "1 job: 0 done, 1 failed before, 0 new" in sweep("method=trivial")
    assert not note.exists()
    assert note.with_name("result.json").exists()


def test_every_value_is_checked_before_any_job_starts(sweep, tmp_path):
    told = sweep("method=trivial", "data.eta=0.1,1.5", code=2)
    assert told.startswith("gnnsync: data.eta")
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_table_has_the_rows_of_every_start(sweep, tmp_path):
    for noise in ("0.1,0.2", "0.2,0.3"):
        sweep("method=trivial", f"data.eta={noise}")
    assert values(tmp_path / "runs", "data.eta") == ["0.1", "0.2", "0.3"]
    listed = json.loads((tmp_path / "runs" / "jobs.json").read_text())["jobs"]
    assert len(listed) == 2, "the jobs as the sweep was last started"


@pytest.mark.parametrize("sweeper", ["basic", "search"])
def test_other_sweepers_wait_for_a_job_that_another_process_runs(
    sweep, tmp_path, sweeper, monkeypatch
):
    """They need a value of every job."""
    if sweeper == "search":
        pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
        given = ["data.eta=choice(0.1)", "hydra.sweeper.n_trials=1"]
    else:
        given = ["data.eta=0.1"]
    command = ["method=trivial", f"hydra/sweeper={sweeper}", *given]
    sweep(*command)
    (result,) = results(tmp_path)
    content = result.read_bytes()
    result.unlink()
    with ExitStack() as other:
        assert other.enter_context(claim(result.parent))
        waits = []

        def other_ends(seconds: float) -> None:
            waits.append(seconds)
            result.write_bytes(content)
            other.close()

        monkeypatch.setattr(app, "time", SimpleNamespace(sleep=other_ends))
        sweep(*command)
    assert len(waits) == 1
    assert result.read_bytes() == content


SEARCH = [
    *("hydra/sweeper=search", "method=spectral", "data.eta=interval(0.1,0.5)"),
    *("hydra.sweeper.n_jobs=1", "hydra.sweeper.sampler.seed=3"),
]


def test_a_search_that_was_interrupted_goes_on_to_its_total(sweep, tmp_path):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    sweep(*SEARCH, "hydra.sweeper.n_trials=3")
    whole = results(tmp_path)
    assert len(whole) == 3
    newest = max(whole, key=lambda path: path.stat().st_mtime_ns)
    newest.unlink()
    sweep(*SEARCH, "hydra.sweeper.n_trials=3")
    again = results(tmp_path)
    assert again.keys() == whole.keys(), "the proposals are those of the first start"
    del whole[newest], again[newest]
    assert again == whole
    sweep(*SEARCH, "hydra.sweeper.n_trials=4")
    assert len(results(tmp_path)) == 4


def test_a_search_with_a_storage_goes_on_to_its_total(sweep, tmp_path):
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    import optuna

    storage = f"sqlite:///{tmp_path}/s.db"
    stored = [f"hydra.sweeper.storage='{storage}'", "hydra.sweeper.study_name=one"]
    for total, before in ((2, 0), (2, 2), (3, 2)):
        jobs = results(tmp_path)
        sweep(*SEARCH, *stored, f"hydra.sweeper.n_trials={total}")
        assert len(optuna.load_study(study_name="one", storage=storage).trials) == total
        after = results(tmp_path)
        assert len(jobs) == before
        assert len(after) == total, "what was proposed before is not proposed again"
        assert {path: after[path] for path in jobs} == jobs
        assert "best_value" in (tmp_path / "runs" / "optimization_results.yaml").read_text()
