from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnnsync.results.collect import ReportError, collect
from tests.job_folders import OLD_NAME

NEW_NAME = "gnnsync-ero-p0.15-eta0.8-{short}"


def hash_of(job: Path) -> str:
    return json.loads((job / "result.json").read_text())["job_hash"]


@pytest.mark.parametrize("name", [OLD_NAME, NEW_NAME])
def test_reads_every_job_below_a_folder_a_sweep_or_itself(results, tmp_path, name):
    job = results(name=name, **{"data.eta": 0.1})
    results("other/deep", name=name, **{"data.eta": 0.2})
    for folder, rows in [(tmp_path, 6), (job.parent, 3), (job, 3)]:
        found = collect([folder])
        assert len(found.rows) == rows
        assert not found.absent
    assert found.lines == {hash_of(job): "method=spectral data.eta=0.1"}
    assert found.folders == {hash_of(job): job}


def test_links_to_the_latest_job_are_not_followed_unless_given(results, tmp_path):
    job = results()
    (job.parent / "latest").symlink_to(job.name)
    (tmp_path / "latest").symlink_to(job.parent)
    found = collect([tmp_path])
    assert (len(found.rows), found.duplicates) == (3, 0)
    assert found.folders == {hash_of(job): job}
    assert len(collect([tmp_path / "latest"]).rows) == 3


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("0123456789abcdef", {}),
        ("gnnsync-ero-p0.15-01234567", {}),
        ("gnnsync-ero-p0.15-01234567", {"folder": "gnnsync-ero-p0.15-01234567"}),
        ("a name without a hash", {"folder": "a name without a hash"}),
    ],
)
def test_a_folder_without_a_result_belongs_to_its_planned_job(tmp_path, name, listed):
    (tmp_path / "study" / name).mkdir(parents=True)
    (tmp_path / "study" / name / "config.yaml").write_text("{}")
    planned = [
        {"job_hash": "0123456789abcdef", "overrides": ["data.p=0.15"], **listed},
        {"job_hash": "fedcba9876543210", "overrides": ["data.p=0.2"]},
    ]
    (tmp_path / "study" / "jobs.json").write_text(json.dumps({"jobs": planned}))
    first, second = collect([tmp_path]).absent
    assert (first.state, first.job_hash) == ("unfinished", "0123456789abcdef")
    assert first.line == "data.p=0.15"
    assert (second.state, second.job_hash) == ("missing", "fedcba9876543210")


def test_without_a_plan_the_hash_is_the_one_in_the_name(tmp_path):
    for name in ("gnnsync-ero-01234567", "0123456789abcdef"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "failure.json").write_text("{}")
    hashes = {job.job_hash for job in collect([tmp_path]).absent}
    assert hashes == {"01234567", "0123456789abcdef"}


def test_columns_have_one_type_and_gaps_where_a_row_has_no_value(results, tmp_path):
    results(method="spectral")
    results(method="gnnsync", loss="cycle", steps=7, seen=True)
    rows = collect([tmp_path]).rows
    assert rows["data.k"].dtype == "int64"
    assert rows["steps"].dropna().tolist() == [7, 7, 7]
    assert rows["loss"].notna().sum() == 3
    assert str(rows["seen"].dtype) == "boolean"


def test_a_job_of_one_sweep_counts_once_and_of_two_sweeps_in_each(results, tmp_path):
    results("a")
    results("b")
    found = collect([tmp_path, tmp_path])
    assert len(found.rows) == 6
    assert found.duplicates == 2
    assert sorted(found.rows["sweep"].unique()) == ["a", "b"]


def test_tells_failed_unfinished_and_missing_jobs(results, tmp_path):
    done = results()
    sweep = done.parent
    for name in ("failed", "killed", "broken"):
        (sweep / name).mkdir()
        (sweep / name / "config.yaml").write_text("{}")
    note = {"overrides": ["data.p=0.01", "logger.api_key=k"], "kind": "GraphError", "error": "no"}
    (sweep / "failed" / "failure.json").write_text(json.dumps(note))
    (sweep / "broken" / "result.json").write_text('{"status": "success", "rows": [')
    listed = [{"job_hash": name, "overrides": [f"seed={i}"]} for i, name in enumerate("xyz")]
    listed += [
        {"job_hash": hash_of(done), "overrides": []},
        {"job_hash": "killed", "overrides": ["a=1"]},
    ]
    (sweep / "jobs.json").write_text(json.dumps({"jobs": listed}))
    absent = {job.job_hash: job for job in collect([tmp_path]).absent}
    assert {name: job.state for name, job in absent.items()} == {
        "failed": "failed",
        "killed": "unfinished",
        "broken": "unfinished",
        "x": "missing",
        "y": "missing",
        "z": "missing",
    }
    assert absent["failed"].reason == "GraphError: no"
    assert absent["failed"].line == "data.p=0.01"
    assert absent["killed"].line == "a=1"
    assert "cannot be read" in absent["broken"].reason
    assert absent["y"].line == "seed=1"


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        '{"status": "success", "job_hash": "a", "rows": {"mse": 1}}',
        '{"status": "success", "job_hash": "a", "rows": [{"mse": [1]}]}',
        '{"status": "success", "job_hash": "a", "rows": [1]}',
        '{"status": "success", "rows": [{"mse": 1}]}',
    ],
)
def test_a_foreign_result_is_not_taken_for_rows(tmp_path, content):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "result.json").write_text(content)
    found = collect([tmp_path])
    assert found.rows.empty
    assert [job.state for job in found.absent] == ["unfinished"]


def test_broken_notes_and_lists_do_no_harm(results, tmp_path):
    sweep = results().parent
    (sweep / "jobs.json").write_text("[3, {}]")
    (sweep / "bad").mkdir()
    (sweep / "bad" / "failure.json").write_text("[")
    found = collect([tmp_path])
    assert len(found.rows) == 3
    assert found.absent[0].reason.endswith("failure.json cannot be read")


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(ReportError, match="nowhere: no such folder"):
        collect([tmp_path / "nowhere"])
