"""Broken files count as absent: every kind of damage × every file × every command that reads."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from gnnsync.results.files import read_failure, read_jobs, read_result
from gnnsync.results.reading import read_arrays, read_json, read_maps, read_yaml
from tests.command import main
from tests.damage import KINDS
from tests.job_folders import write_job

FILES = ("result.json", "failure.json", "config.yaml", "solutions.npz")
OF_SWEEP = ("jobs.json", "optimization_results.yaml", "rows.csv")


def stitched(folder: Path, number: int, **changes: object) -> Path:
    """A finished job with every file that a job may have."""
    job = write_job(folder, **{"data.eta": 0.01 * number, "ane": 0.1, **changes})
    points = np.arange(6.0).reshape(3, 2)
    np.savez(job / "solutions.npz", points=points, recovered=points + 0.1)
    note = {"overrides": ["method=spectral"], "kind": "ValueError", "error": "no"}
    (job / "failure.json").write_text(json.dumps(note))
    (job / "failure.json").touch()
    (job / "result.json").touch()
    return job


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> Path:
    """Two whole jobs, and for each kind of damage and each file a job with that file damaged."""
    top = tmp_path_factory.mktemp("damaged")
    for number, method in enumerate(("spectral", "gpm")):
        write_job(top, **{"method": method, "data.eta": 0.9 + number / 100})
    number = 0
    for kind, damage in KINDS.items():
        for name in FILES:
            number += 1
            job = stitched(top, number)
            if name != "failure.json":
                (job / "failure.json").unlink()
            path = job / name
            path.write_bytes(damage(path.read_bytes()))
        for name in OF_SWEEP:
            folder = top / f"{kind}-{name}".replace(" ", "_")
            write_job(folder.parent, folder.name, **{"data.eta": 0.5})
            (folder / name).write_bytes(damage(b'{"jobs": [{"job_hash": "12", "folder": "a"}]}'))
    return top


@pytest.mark.parametrize("kind", KINDS)
def test_readers_return_nothing_of_a_damaged_file(kind, tmp_path):
    job = stitched(tmp_path, 1)
    for name in FILES:
        (job / name).write_bytes(KINDS[kind]((job / name).read_bytes()))
    (job / "jobs.json").write_bytes(KINDS[kind](b'{"jobs": [{"job_hash": 12, "folder": [3]}]}'))
    assert read_result(job) is None
    assert "cannot be read" in read_failure(job)["error"]
    assert not any(entry["job_hash"] or entry["folder"] for entry in read_jobs(job) or [])
    assert isinstance(read_yaml(job / "config.yaml"), dict)
    assert read_arrays(job / "solutions.npz", ["points"]) is None
    read_json(job / "result.json")


def test_the_whole_files_are_read(tmp_path):
    job = stitched(tmp_path, 1)
    assert read_result(job)["rows"]
    assert read_failure(job)["error"] == "no"
    assert read_yaml(job / "config.yaml") == {"data": {}}
    assert read_maps(job / "solutions.npz")[0].shape == (3, 2)


def test_points_of_another_shape_are_left_out(tmp_path, caplog):
    np.savez(tmp_path / "solutions.npz", points=np.zeros(3), recovered=np.zeros(3))
    assert read_maps(tmp_path / "solutions.npz") is None
    np.savez(tmp_path / "solutions.npz", points=np.array(["a"]), recovered=np.zeros(3))
    assert read_maps(tmp_path / "solutions.npz") is None
    assert caplog.text.count("solutions.npz cannot be read and is left out") == 2


def test_a_short_file_with_aliases_that_describes_a_billion_values_is_no_config(tmp_path):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    (tmp_path / "config.yaml").write_text("\n".join(lines))
    assert read_yaml(tmp_path / "config.yaml") == {}


def test_a_short_file_of_merged_mappings_is_no_config(tmp_path):
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 10)]
    (tmp_path / "config.yaml").write_text("\n".join(lines))
    assert read_yaml(tmp_path / "config.yaml") == {}


@pytest.mark.parametrize(
    "number", ["1e999", "-1e999", "9" * 309, "-" + "9" * 400, "9" * 5000, "NaN", "-Infinity"]
)
def test_numbers_that_no_float_can_hold_are_no_json(number, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(f'{{"a": [1, 2.5, 1e308, {"9" * 300}]}}')
    assert read_json(path)["a"][:2] == [1, 2.5]
    path.write_text(f'{{"a": [{number}]}}')
    assert read_json(path) is None


@pytest.mark.parametrize("name", ["result.json", "config.yaml"])
def test_a_file_of_many_times_the_usual_size_is_not_read(name, tmp_path):
    path = tmp_path / name
    read = {"result.json": read_json, "config.yaml": read_yaml}[name]
    path.write_bytes(b'{"a": 1}' + b" " * 100)
    assert read(path) == {"a": 1}
    with path.open("r+b") as file:  # no bytes are stored between
        file.truncate(1 << 40)
    assert not read(path)


def test_an_archive_that_expands_to_many_times_its_size_is_left_out(tmp_path, caplog):
    path = tmp_path / "solutions.npz"
    np.savez_compressed(path, points=np.zeros((5 << 20, 2)), recovered=np.zeros((1, 2)))
    assert read_arrays(path, ["points"]) is None
    assert "expands to more than 250 times its size" in caplog.text
    assert caplog.text.count(str(path)) == 1


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "result.json")
    assert read_json(tmp_path / "result.json") is None
    assert read_yaml(tmp_path / "result.json") == {}


def test_texts_of_a_result_cannot_control_the_terminal(tmp_path, capsys):
    job = write_job(tmp_path, method="\x1b[2J\ud800", **{"data.graph": "a\nb"})
    for command in (["list", str(tmp_path)], ["show", str(job)]):
        assert main(command) == 0
        shown = capsys.readouterr().out
        assert r"\x1b[2J\ud800" in shown
        assert "\x1b" not in shown


@pytest.mark.parametrize("options", [["-n", "0"], ["-n", "0", "--json"], ["--status", "finished"]])
def test_list_survives_every_damage(outputs, options, capsys):
    assert main(["list", str(outputs), *options]) == 0
    shown = capsys.readouterr().out
    assert shown
    if "--json" in options:
        entries = json.loads(shown)
        broken = [e for e in entries if e["reason"].endswith("result.json cannot be read")]
        assert len(broken) == len(KINDS)
        assert {entry["status"] for entry in broken} == {"interrupted"}


def test_show_survives_every_damage(outputs, capsys):
    for job in sorted(outputs.glob("*/*/result.json"))[::9]:
        assert main(["show", str(job.parent), "--json"]) == 0
        json.loads(capsys.readouterr().out)


def test_the_report_names_broken_files_and_goes_on(outputs, capsys, caplog, tmp_path):
    caplog.set_level(logging.WARNING)
    arguments = ["report", str(outputs), "--output", str(tmp_path), "--no-panels", "--workers", "1"]
    assert main([*arguments, "--together"]) == 0
    printed = capsys.readouterr().out
    assert "result.json cannot be read" in printed
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("result.json cannot be read") >= len(KINDS)
    assert "solutions.npz cannot be read and is left out" in caplog.text
    assert "jobs.json cannot be read" in caplog.text
