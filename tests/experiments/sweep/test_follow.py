from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gnnsync.experiments.sweep.follow import Follower
from gnnsync.experiments.sweep.plan import Job
from gnnsync.experiments.sweep.standing import Standing
from gnnsync.io.files import write_text
from gnnsync.results.locks import claim


@pytest.fixture
def jobs(tmp_path) -> list[Job]:
    names = ("gpm-ero-1", "irls-ero-2", "tas-ero-3")
    return [Job(name[-1] * 16, tmp_path / name, (), f"method={name}") for name in names]


def succeed(folder: Path, digest: str, mse: float = 0.1) -> None:
    rows = [{"mse": mse}, {"mse": 3 * mse}]
    content = {"status": "success", "job_hash": digest, "rows": rows, "seconds": 2.0}
    (folder / "result.json").write_text(json.dumps(content))


def fail(folder: Path, error: str = "no luck") -> None:
    text = json.dumps({"error": error, "overrides": []})
    write_text(folder / "failure.json", text)  # whole or not at all, as jobs do


def test_jobs_are_followed_from_start_to_end(jobs, tmp_path):
    follower = Follower(jobs, [tmp_path], Standing(3))
    assert follower.look() == []
    assert follower.standing.counts() == "0 of 3 jobs done, 0 running, 0 failed, 3 left"
    first, second, _ = jobs
    with claim(first.folder), claim(second.folder):
        follower.look()
        assert follower.standing.counts() == "0 of 3 jobs done, 2 running, 0 failed, 1 left"
        assert follower.time_left() is None
        succeed(first.folder, first.digest)
        fail(second.folder)
    (told,) = follower.look()
    assert told == f"failed: method=irls-ero-2: no luck ({second.folder / 'job.log'})"
    assert follower.standing.counts() == "1 of 3 jobs done, 0 running, 1 failed, 1 left"
    assert str(follower.standing.best) == "best MSE 0.2: method=gpm-ero-1"
    assert follower.time_left() is not None
    assert follower.look() == [], "a failure is reported once"


def test_files_of_an_earlier_start_do_not_count(jobs, tmp_path):
    first, second, _ = jobs
    for job in jobs:
        with claim(job.folder):
            pass
    fail(first.folder)
    succeed(second.folder, "0" * 16)
    follower = Follower(jobs, [tmp_path], Standing(3))
    assert follower.look() == []
    assert follower.standing.counts() == "0 of 3 jobs done, 0 running, 0 failed, 3 left"
    fail(first.folder, "again")
    os.utime(first.folder / "failure.json", (1, 1))
    assert [line.split(": ")[2] for line in follower.look()] == [f"again ({first.folder}/job.log)"]


def test_a_process_that_died_is_not_running(jobs, tmp_path):
    follower = Follower(jobs, [tmp_path], Standing(3))
    with claim(jobs[0].folder):
        follower.look()
        assert follower.standing.running == 1
    follower.look()
    assert follower.standing.counts() == "0 of 3 jobs done, 0 running, 0 failed, 3 left"


def test_a_search_finds_its_jobs_in_the_folder(jobs, tmp_path):
    jobs[0].folder.mkdir()
    succeed(jobs[0].folder, "0" * 16)
    follower = Follower(None, [tmp_path], Standing(None))
    follower.look()
    assert follower.standing.done == 0, "of an earlier search"
    jobs[1].folder.mkdir()
    succeed(jobs[1].folder, "1" * 16)
    with claim(jobs[2].folder):
        follower.look()
    assert follower.standing.counts() == "1 jobs done, 1 running, 0 failed"
    assert str(follower.standing.best) == "best MSE 0.2: irls-ero-2"
