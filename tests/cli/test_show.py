from __future__ import annotations

import json
import logging
import shlex

import pytest

from tests.command import main

JOB = ["data.n=30", "data.p=0.4", "data.seeds=[10]", "trials=2", "method=gpm", "figures=false"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_run_is_shown_with_command_means_differences_and_files(capsys, tmp_path):
    assert main(["run", *JOB, "model/encoder=magnet"]) == 0
    capsys.readouterr()
    assert main(["show", "latest"]) == 0
    text = capsys.readouterr().out
    sections = ("command:", "means, replicas: 2", "differs from", "files:", "config:")
    places = [text.index(f"\n{title}") for title in sections]
    assert places == sorted(places)
    differences = text[places[2] : places[3]]
    for line in (
        "data.n                  30  (default 360)",
        "data.seeds",
        "model.encoder._target_",
    ):
        assert line in differences
    assert "data.eta" not in differences
    assert "output_dir" not in differences
    assert "result.json" in text[places[3] : places[4]]
    assert main(["show", "latest", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    (result,) = tmp_path.rglob("result.json")
    before = json.loads(result.read_text())
    assert shown["means"]["mse"] == pytest.approx(
        sum(row["mse"] for row in before["rows"]) / len(before["rows"])
    )
    command = shlex.split(shown["command"])
    assert command[:2] == ["gnnsync", "run"]
    assert main([*command[1:], "output_dir=again"]) == 0
    again = json.loads(next((tmp_path / "again").rglob("result.json")).read_text())
    assert again["job_hash"] == before["job_hash"]
    assert [row["mse"] for row in again["rows"]] == [row["mse"] for row in before["rows"]]


def test_a_failed_run_tells_its_reason(capsys):
    failing = ["data.p=0.01,0.4", "data.max_draws=1", "sweep=study"]
    assert main(["run", "-m", *JOB, *failing]) == 1
    capsys.readouterr()
    assert main(["list", "--status", "failed", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert main(["show", entry["hash"]]) == 0
    text = capsys.readouterr().out
    assert "failed, " in text.splitlines()[0]
    assert "reason: no connected measurement graph in 1 draws" in text
    assert "data.p=0.01" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["latest"], "outputs: no such folder"),
        (["x", "--dir", "."], ".: there are no runs; --dir DIR looks elsewhere"),
    ],
)
def test_a_wrong_name_is_one_line(capsys, arguments, message):
    assert main(["show", *arguments]) == 2
    told = capsys.readouterr().err
    assert told == f"gnnsync show: {message}\n"
