"""Units of what is read, printed and written."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

import gnnsync
from gnnsync.cli.solve.command import main
from tests.methods.poses.worlds import manhattan

TRIANGLE = "a,b,10\nb,c,20\nc,a,-36\n"  # contradicts itself by 6°


@pytest.fixture
def degrees(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(TRIANGLE)
    return tmp_path


def angles(path):
    with open(path, newline="") as handle:
        return {row["node"]: float(row["angle"]) for row in csv.DictReader(handle)}


@pytest.mark.parametrize(
    ("options", "name", "turn"),
    [
        ([], "degrees", 360.0),
        (["--output-degrees"], "degrees", 360.0),
        (["--output-radians"], "radians", 2 * np.pi),
        (["--output-turns"], "turns", 1.0),
    ],
)
def test_the_output_has_its_own_unit(degrees, capsys, options, name, turn):
    outputs = ["--output", "a.csv", "--edges", "e.csv", "--json"]
    assert main(["d.csv", "--degrees", "--method", "spectral", *options, *outputs]) == 0
    found = angles("a.csv")
    assert (found["a"] - found["b"]) % turn == pytest.approx(12 / 360 * turn)
    with open("e.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert float(rows[0]["offset"]) == pytest.approx(10 / 360 * turn)
    assert float(rows[0]["residual"]) == pytest.approx(2 / 360 * turn)
    summary = json.loads(capsys.readouterr().out)
    assert summary["unit"] == name
    assert summary["residual_quantiles"]["0.5"] == pytest.approx(2 / 360 * turn)


def test_the_summary_has_the_symbol_of_the_unit(degrees, capsys):
    assert main(["d.csv", "--degrees", "--method", "belief"]) == 0
    text = capsys.readouterr().out
    assert "75% 2, 90% 2, 99% 2°" in text
    assert " rad" not in text


def test_the_confidence_is_stated_in_the_unit(degrees, capsys):
    lines = [f"{i},{j},{10 * (i - j) + (i * j) % 3}" for i in range(9) for j in range(i)]
    (degrees / "many.csv").write_text("\n".join(lines))
    assert main(["many.csv", "--degrees", "--method", "belief"]) == 0
    text = capsys.readouterr().out
    assert "within 14.3°" in text
    assert " rad" not in text


def test_turns_in_give_turns_out(degrees):
    (degrees / "t.csv").write_text("a,b,0.25\nb,c,0.5\nc,a,0.25\n")
    assert main(["t.csv", "--turns", "--method", "gpm", "--output", "a.csv"]) == 0
    found = angles("a.csv")
    assert (found["a"] - found["b"]) % 1 == pytest.approx(0.25)


def test_json_and_npz_name_their_unit(degrees):
    for name in ("a.json", "a.npz"):
        arguments = ["d.csv", "--degrees", "--output-turns", "--method", "gpm", "--output", name]
        assert main(arguments) == 0
    content = json.loads((degrees / "a.json").read_text())
    assert content["unit"] == content["summary"]["unit"] == "turns"
    with np.load("a.npz", allow_pickle=False) as stored:
        assert str(stored["unit"]) == "turns"
        assert stored["angles"] == pytest.approx(np.array(content["angles"]))


def test_a_file_that_looks_like_degrees_is_solved_with_a_warning(degrees, capsys):
    assert main(["d.csv", "--method", "gpm"]) == 0
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "DEGREES" in line]
    assert warning.startswith("warning: d.csv: 3 of 3 offsets")
    assert "--degrees" in warning
    for option in ("--degrees", "--radians"):
        assert main(["d.csv", "--method", "gpm", option]) == 0
        assert "DEGREES" not in capsys.readouterr().err


def test_the_explanation_follows(degrees, capsys):
    arguments = ["d.csv", "--degrees", "--method", "gpm", "--explain", "a,b"]
    assert main(arguments) == 0
    assert "offset 10°" in capsys.readouterr().out
    assert main([*arguments, "--output-radians"]) == 0
    assert "offset 0.1745 rad" in capsys.readouterr().out


def test_poses_and_headings_of_g2o_in_degrees(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    graph, truth = manhattan(30, 1, noise=(0, 0, 0))
    gnnsync.write_poses(graph, "r.g2o")
    assert main(["r.g2o", "--output-degrees", "--output", "p.csv", "--edges", "e.csv"]) == 0
    with open("p.csv", newline="") as handle:
        theta = np.array([float(row["theta"]) for row in csv.DictReader(handle)])
    off = np.radians(theta) - truth[:, 2]
    assert np.exp(1j * (off - off[0])) == pytest.approx(np.ones(30), abs=1e-6)
    assert np.abs(theta).max() > 10
    with open("e.csv", newline="") as handle:
        turned = np.array([float(row["dtheta"]) for row in csv.DictReader(handle)])
    assert turned == pytest.approx(np.degrees(graph.measured_heading))
    assert main(["r.g2o", "--output-degrees", "--output", "p.json", "--json"]) == 0
    assert json.loads((tmp_path / "p.json").read_text())["unit"] == "degrees"
    # A g2o file is in radians whatever is printed.
    assert main(["r.g2o", "--output-degrees", "--output", "p.g2o"]) == 0
    assert gnnsync.read_poses("p.g2o").initial[:, 2] == pytest.approx(np.radians(theta), abs=1e-9)
    assert main(["r.g2o", "--headings-only", "--output-degrees", "--output", "h.csv"]) == 0
    assert max(angles("h.csv").values()) > 10
    capsys.readouterr()
    assert main(["r.g2o", "--degrees"]) == 2
    assert "--output-degrees" in capsys.readouterr().err


def test_known_angles_are_held_in_the_unit_of_the_file(degrees, capsys):
    (degrees / "known.csv").write_text("node,angle\nc,100\n")
    arguments = ["d.csv", "--degrees", "--method", "gpm", "--output", "a.csv", "--json"]
    assert main([*arguments, "--fix", "a=30"]) == 0
    found = angles("a.csv")
    assert found["a"] == 30.0
    assert (found["a"] - found["b"]) % 360 == pytest.approx(12)
    assert json.loads(capsys.readouterr().out)["anchors"] == 1
    assert main([*arguments, "--fix", "a=30", "--anchors", "known.csv", "--fix", "b=20"]) == 0
    found = angles("a.csv")
    assert found == {"a": 30.0, "b": 20.0, "c": 100.0}


def test_contradictory_angles_are_named_in_degrees(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(12) for j in range(i)]
    (tmp_path / "m.csv").write_text(
        "".join(f"{i},{j},{10 * (i - j) + rng.normal(0, 0.5)}\n" for i, j in pairs)
    )
    known = ["--fix", "0=0", "--fix", "3=30", "--fix", "5=95"]
    assert main(["m.csv", "--degrees", "--method", "irls", *known]) == 0
    captured = capsys.readouterr()
    (warning,) = [line for line in captured.err.splitlines() if "contradict" in line]
    assert "5 is off by 4" in warning
    assert "°" in warning
    assert "3 known angles held; the measurements contradict 1 of them" in captured.out


def test_known_headings_of_a_pose_graph(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    gnnsync.write_poses(manhattan(20, 1, noise=(0, 0, 0))[0], "r.g2o")
    fixed = ["r.g2o", "--fix", "3=1.25"]
    assert main(fixed) == 2
    assert "--headings-only" in capsys.readouterr().err
    assert main([*fixed, "--headings-only", "--output", "h.csv"]) == 0
    assert angles("h.csv")["3"] == 1.25


def test_parquet_out(degrees):
    arguments = ["d.csv", "--degrees", "--method", "gpm"]
    assert main([*arguments, "--output", "a.parquet", "--edges", "e.parquet"]) == 0
    nodes, edges = pd.read_parquet("a.parquet"), pd.read_parquet("e.parquet")
    assert nodes["node"].tolist() == ["a", "b", "c"]
    assert (nodes["angle"][0] - nodes["angle"][1]) % 360 == pytest.approx(12)
    assert list(edges) == ["src", "dst", "offset", "residual", "confidence", "group"]
    gnnsync.write_poses(manhattan(20, 1, noise=(0, 0, 0))[0], "r.g2o")
    assert main(["r.g2o", "--output", "p.parquet", "--edges", "pe.parquet"]) == 0
    assert list(pd.read_parquet("p.parquet"))[:5] == ["node", "x", "y", "theta", "component"]
    assert pd.read_parquet("pe.parquet")["accepted"].min() in (0, 1)
