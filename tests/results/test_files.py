from __future__ import annotations

import json
import os

import pytest

from gnnsync.results.files import job_files, mark_latest, read_result, reproducing


def write(folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    content = {"status": "success", "job_hash": "0123456789abcdef", "rows": [{}]} | changes
    (folder / "result.json").write_text(json.dumps(content))
    return folder


def test_a_result_of_another_job_counts_as_missing(tmp_path):
    write(tmp_path)
    assert read_result(tmp_path) is not None
    assert read_result(tmp_path, "0123456789abcdef") is not None
    assert read_result(tmp_path, "0123456700000000") is None


def test_the_link_leads_to_the_job_that_finished_last(tmp_path):
    first, second = write(tmp_path / "a-1"), write(tmp_path / "b-2")
    for job in (first, second, first):
        mark_latest(job)
        assert (tmp_path / "latest").resolve() == job
        assert os.readlink(tmp_path / "latest") == job.name, "the sweep's folder can be moved"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-1", "b-2", "latest"]


def test_no_link_is_no_error(tmp_path):
    job = write(tmp_path / "a-1")
    (tmp_path / "latest").mkdir()  # whatever the user has put there stays
    mark_latest(job)
    assert (tmp_path / "latest").is_dir()
    assert not list(tmp_path.glob(".latest*"))


def test_a_link_that_a_starting_sweep_removes_is_made_again(tmp_path, monkeypatch):
    job, replace = write(tmp_path / "a-1"), os.replace
    removed = []

    def removed_once(source, target):
        if not removed:
            removed.append(source.unlink())
        replace(source, target)

    monkeypatch.setattr(os, "replace", removed_once)
    mark_latest(job)
    assert (tmp_path / "latest").resolve() == job


def test_files_of_jobs_are_found_once(tmp_path):
    mark_latest(write(tmp_path / "a-1"))
    assert job_files(tmp_path, "result.json") == [tmp_path / "a-1" / "result.json"]


@pytest.mark.parametrize(
    ("override", "kept"),
    [
        ("data.eta=0.1", True),
        ("+method.note=a", True),
        ("callbacks.stopping.patience=5", True),
        ("callbacks=early_stopping", True),
        ("callbacks.loss_curve.every=1", False),
        ("~callbacks.progress", False),
        ("print_config=true", False),
        ("hydra/launcher=joblib", False),
        ("logger.name=x", False),
    ],
)
def test_overrides_that_run_a_job_again(override, kept):
    assert reproducing([override]) == ([override] if kept else [])
