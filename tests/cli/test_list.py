from __future__ import annotations

import json

import pytest

from tests.command import main


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_table_outside_of_a_terminal_is_aligned_text(results, capsys):
    results(method="gpm", name="gpm-ero-p0.05-eta0.4-{short}", mse=[0.1, 0.3])
    assert main(["list"]) == 0
    header, line = capsys.readouterr().out.splitlines()
    assert header.split() == ["run", "date", "method", "data", "MSE", "status"]
    assert line.startswith("study/gpm-ero-p0.05-eta0.4-")
    assert line[header.index("method") :].startswith("gpm")
    assert line[header.index("data") :].startswith("ero p=0.05 eta=0.4")
    assert line[header.index("MSE") :].startswith("0.2 ± 0.1")
    assert line.endswith("finished")


def test_a_long_method_is_cut_in_the_table_only(results, capsys):
    results(method="gpm" + "x" * 100)
    assert main(["list"]) == 0
    header, line = capsys.readouterr().out.splitlines()
    method = line[header.index("method") : header.index("data")].rstrip()
    assert len(method) == 60
    assert method.endswith("…")
    assert main(["list", "--json"]) == 0
    assert "x" * 100 in json.loads(capsys.readouterr().out)[0]["method"]


def test_a_long_list_is_cut_to_the_newest(results, capsys):
    for eta in range(5):
        results(**{"data.eta": eta})
    assert main(["list", "outputs", "-n", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[-1] == "the last 2 of 5 runs in outputs; -n 0 shows all"
    assert main(["list", "outputs", "-n", "0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_json_has_the_same(results, capsys):
    job = results(method="gpm", mse=[0.1, 0.3])
    assert main(["list", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["mse"] == pytest.approx(0.2)
    assert (entry["method"], entry["status"], entry["hash"]) == ("gpm", "finished", job.name[-8:])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 2, "gnnsync list: nowhere: no such folder"),
        (["outputs", "--status", "failed"], 0, "no failed run in outputs"),
        ([], 0, "study/"),
    ],
)
def test_nothing_to_list_is_one_line(results, capsys, arguments, code, message):
    results()
    assert main(["list", *arguments]) == code
    seen = capsys.readouterr()
    assert message in seen.out + seen.err
