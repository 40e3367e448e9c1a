from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from gnnsync.errors import GnnsyncError
from gnnsync.results.listing import (
    FAILED,
    FINISHED,
    INTERRUPTED,
    RUNNING,
    find_run,
    find_runs,
    overrides_of,
    summarise_run,
)
from gnnsync.results.locks import claim


def age(folder: Path, seconds: float) -> None:
    then = time.time() - seconds
    for path in folder.iterdir():
        os.utime(path, (then, then))


def without_result(folder: Path, name: str, failure: str | None = None) -> Path:
    job = folder / name
    job.mkdir(parents=True)
    (job / "config.yaml").write_text("data: {}\n")
    if failure is not None:
        note = {"overrides": ["data.p=0.01"], "kind": "GraphError", "error": failure}
        (job / "failure.json").write_text(json.dumps(note))
    return job


def test_runs_are_listed_with_status_and_the_newest_last(results, tmp_path):
    top = tmp_path / "outputs"
    age(results(method="gpm", mse=[0.1, 0.3]), 300)
    age(without_result(top / "study", "irls-ero-p0.01-eta0.6-00000001", "no\x1b luck"), 200)
    age(without_result(top / "runs", "tas-ero-p0.4-eta0.6-k2-00000002"), 100)
    locked = without_result(top / "runs", "gnnsync-ero-p0.4-eta0.6-00000003")
    with claim(locked):
        runs = find_runs(top)
        assert [run.status for run in runs] == [FINISHED, FAILED, INTERRUPTED, RUNNING]
        about = [summarise_run(run) for run in runs]
    assert about[0].method == "gpm"
    assert about[0].mse == pytest.approx(0.2)
    assert about[0].mse_std == pytest.approx(0.1)
    assert about[1].reason == "no  luck"
    assert (about[2].method, about[2].data) == ("tas", "ero p=0.4 eta=0.6 k=2")
    assert find_runs(top)[-1].status == INTERRUPTED, "the lock has ended with its process"


def test_a_finished_run_that_runs_again_is_running(results):
    job = results()
    age(job, 100)
    with claim(job):
        assert find_runs(job.parent)[0].status == RUNNING
    assert find_runs(job.parent)[0].status == FINISHED


def test_a_run_has_several_names(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    top = Path("outputs")
    age(results(method="gpm", name="gpm-ero-{short}"), 100)
    latest = results(method="irls", name="irls-ero-{short}").relative_to(tmp_path)
    digest = latest.name[-8:]
    names = (str(latest), latest.name, f"study/{latest.name}", digest, digest[:4], "latest")
    for name in names:
        assert find_run(name, top).path == latest, name
    (top / "study" / "latest").symlink_to(latest.name)
    assert find_run("outputs/study/latest", top).path.name == latest.name
    (whole,) = [json.loads((latest / "result.json").read_text())["job_hash"]]
    assert find_run(whole, top).path == latest


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("zzz", "zzz: must be the folder of a run, at least 4 digits of its hash, or latest"),
        ("abc", "abc: must be the folder of a run"),
        ("outputs", "outputs: is not the folder of a run, but has 2 runs: gnnsync list outputs"),
        ("empty", "empty: is not the folder of a run, but has no run"),
        ("job-0000", "job-0000: must be"),
        ("00000000", "00000000: names 2 runs, such as outputs/"),
    ],
)
def test_a_wrong_name_is_one_line(results, tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    for method in ("gpm", "irls"):
        results(method=method, name=f"{method}-00000000")
    with pytest.raises(GnnsyncError, match=message) as error:
        find_run(name, Path("outputs"))
    assert "\n" not in str(error.value)


def test_the_overrides_come_from_result_failure_or_plan(results, tmp_path):
    top = tmp_path / "outputs" / "study"
    assert overrides_of(find_runs(results())[0]) == ["method=spectral", "data.eta=0.4"]
    failed = without_result(top, "a-00000001", "no")
    assert overrides_of(find_run(str(failed), top)) == ["data.p=0.01"]
    started = find_run(str(without_result(top, "b-00000002")), top)
    assert overrides_of(started) is None
    plan = {"jobs": [{"folder": "b-00000002", "overrides": ["seed=2"]}]}
    (top / "jobs.json").write_text(json.dumps(plan))
    assert overrides_of(started) == ["seed=2"]


def test_thousands_of_runs_are_found_fast(tmp_path):
    """Only their names and times are read: at most 2 s of processor time for 3,000."""
    for number in range(3000):
        job = tmp_path / f"gpm-ero-p0.1-{number:08x}"
        job.mkdir()
        (job / "result.json").write_text("{}")
    start = time.process_time()
    assert len(find_runs(tmp_path)) == 3000
    assert time.process_time() - start < 2.0
