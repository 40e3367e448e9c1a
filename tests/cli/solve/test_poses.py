import csv
import json

import numpy as np
import pytest

from gnnsync.cli.solve.command import main
from gnnsync.io import read_poses, write_poses
from tests.methods.poses.worlds import manhattan


@pytest.fixture
def robot(tmp_path, monkeypatch):
    """A folder with robot.g2o: 60 poses and a false closure between poses 3 and 40."""
    graph = manhattan(60, 1)[0].add_edges([3], [40], [[9.0, 9.0, 2.0]], 400 * np.eye(3)[None])
    write_poses(graph, tmp_path / "robot.g2o")
    monkeypatch.chdir(tmp_path)
    return graph


def table(path):
    with open(path, newline="") as handle:
        return list(csv.DictReader(handle))


def test_summary_poses_edges_and_plot(robot, tmp_path, capsys):
    outputs = ["--output", "poses.g2o", "--edges", "edges.csv", "--plot", "map.png"]
    assert main(["robot.g2o", *outputs, "--rejected", "mark"]) == 0
    captured = capsys.readouterr()
    for line in (
        "poses       60",
        "trusted     59 odometry edges (--trust none turns this off)",
        "closures    2 accepted, 1 rejected",
        "cost        4.003",
        "information odometry × ",
    ):
        assert line in captured.out
    stages = [line.split(":")[0] for line in captured.err.splitlines()]
    edges = f"{robot.num_edges} edges"
    assert stages == ["reading robot.g2o", f"solving 60 poses and {edges}", "drawing"]
    solved = read_poses("poses.g2o")
    assert solved.num_edges == robot.num_edges - 1
    assert np.array_equal(solved.translation, robot.translation[:-1])
    assert (
        "# rejected: EDGE_SE2 3 40 9 9 2 400 0 0 400 0 400" in (tmp_path / "poses.g2o").read_text()
    )
    assert [row["accepted"] for row in table("edges.csv")][-1] == "0"
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"


def test_json_table_and_standard_output(robot, capsys):
    assert main(["robot.g2o", "--json", "--output", "poses.csv"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["closures_rejected"] == 1
    assert summary["trusted"] == 59
    assert summary["information_scale"]["trusted"] > 0
    assert list(table("poses.csv")[0]) == ["node", "x", "y", "theta", "component"]
    assert main(["robot.g2o", "--output", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == "node,x,y,theta,component"
    assert "closures    2 accepted" in captured.err


def test_explanation(robot, capsys):
    assert main(["robot.g2o", "--explain", "40,3"]) == 0
    text = capsys.readouterr().out
    assert f"edge {robot.num_edges - 1}, pose 40 seen from 3: rejected" in text
    assert "headings: measurement" in text


def test_headings_only(robot, capsys):
    options = ["--headings-only", "--method", "spectral_rn", "--output", "angles.csv"]
    assert main(["robot.g2o", *options, "--trust", "none"]) == 0
    text = capsys.readouterr().out
    assert "|residual|" in text
    assert "trusted" not in text
    assert list(table("angles.csv")[0])[:2] == ["node", "angle"]
    assert main(["robot.g2o", "--headings-only", "--method", "spectral_rn"]) == 0
    assert "trusted     59 edges (--trust none turns this off)" in capsys.readouterr().out


def test_without_trusted_edges_none_is_called_a_closure(robot, capsys):
    assert main(["robot.g2o", "--trust", "none", "--method", "spectral_rn"]) == 0
    text = capsys.readouterr().out
    assert "closures" not in text
    assert "all edges   " in text
    assert "information all edges × " in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--headings-only"], "--headings-only = True: must be used with a .g2o file"),
        (["--rejected", "drop"], "--rejected = 'drop': must be used with --output FILE.g2o"),
    ],
)
def test_options_for_poses_are_refused_for_a_table(tmp_path, capsys, options, words):
    path = tmp_path / "o.csv"
    path.write_text("0,1,0.5\n")
    assert main([str(path), *options]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert len(captured.err.splitlines()) == 1


def test_a_named_method_solves_the_headings(robot, capsys):
    assert main(["robot.g2o", "--method", "spectral_rn", "--trust", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trusted"] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--degrees"], ["robot.g2o", "radians"]),
        (["--k", "2"], ["--k = 2", "--headings-only"]),
        (["--output", "o.xls"], ["o.xls", ".g2o, .csv"]),
        (["--rejected", "drop"], ["--rejected = 'drop'", "--output FILE.g2o"]),
        (["--rejected", "drop", "--output", "o.csv"], ["--rejected"]),
        (["--headings-only", "--output", "o.g2o"], ["o.g2o", ".csv, .json, .npz"]),
        (["--explain", "3,77"], ["--explain = '3,77'", "number of an edge"]),
        (["--explain", "3,41"], ["two nodes that an edge joins"]),
        (["--explain", "3", "--json"], ["--explain", "--json"]),
    ],
)
def test_bad_options_are_one_line(robot, tmp_path, capsys, options, words):
    before = sorted(tmp_path.iterdir())
    assert main(["robot.g2o", *options]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("gnnsync")]
    assert len(lines) == 1
    assert all(word in lines[0] for word in words)
    assert sorted(tmp_path.iterdir()) == before


def test_a_bad_information_matrix_is_one_line(tmp_path, capsys):
    path = tmp_path / "bad.g2o"
    path.write_text("EDGE_SE2 0 1 1 0 0 1 2 0 1 0 1\n")
    assert main([str(path)]) == 2
    assert "line 1: information 1 2 0 1 0 1: must be positive" in capsys.readouterr().err


def test_page_time_limit_and_headings_on_their_places(robot, tmp_path, capsys):
    assert main(["robot.g2o", "--html", "map.html", "--time-limit", "60"]) == 0
    assert "robot.g2o by auto" in (tmp_path / "map.html").read_text(encoding="utf-8")
    assert main(["robot.g2o", "--time-limit", "1e-9"]) == 0
    assert "NOT converged after" in capsys.readouterr().out
    assert main(["robot.g2o", "--headings-only", "--html", "h.html", "--plot", "h.png"]) == 0
    assert main(["robot.g2o", "--coordinates", "x.csv", "--plot", "p.png"]) == 2
    assert "poses have places of their own" in capsys.readouterr().err
