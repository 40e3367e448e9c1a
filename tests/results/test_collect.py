from __future__ import annotations

import json

import pytest

from gnnsync.results.collect import ReportError, collect


def test_reads_every_job_below_a_folder_a_sweep_or_itself(results, tmp_path):
    job = results(**{"data.eta": 0.1})
    results("other/deep", **{"data.eta": 0.2})
    for folder, rows in [(tmp_path, 6), (job.parent, 3), (job, 3)]:
        found = collect([folder])
        assert len(found.rows) == rows
        assert not found.absent
    assert found.lines == {job.name: "method=spectral data.eta=0.1"}
    assert found.folders == {job.name: job}


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
        {"job_hash": done.name, "overrides": []},
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
    assert found.absent[0].reason == "error: the note cannot be read"


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(ReportError, match="nowhere: no such folder"):
        collect([tmp_path / "nowhere"])
