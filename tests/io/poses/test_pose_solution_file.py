import csv
import json

import numpy as np
import pytest

from gnnsync.errors import DataFileError, ParameterError
from gnnsync.io import read_poses, write_pose_edges, write_pose_solution
from gnnsync.solve import solve_poses
from tests.methods.poses.worlds import manhattan


@pytest.fixture(scope="module")
def solved():
    graph = manhattan(60, 1)[0].add_edges([3], [40], [[9.0, 9.0, 2.0]], 400 * np.eye(3)[None])
    solution = solve_poses(graph)
    assert not solution.accepted[-1]
    return graph, solution


def rows(path):
    with open(path, newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize(("rejected", "missing"), [("keep", 0), ("drop", 1), ("mark", 1)])
def test_g2o_has_the_poses_and_the_edges(tmp_path, solved, rejected, missing):
    graph, solution = solved
    write_pose_solution(graph, solution, tmp_path / "o.g2o", rejected=rejected)
    again = read_poses(tmp_path / "o.g2o")
    assert np.array_equal(again.initial, solution.poses)
    assert again.num_edges == graph.num_edges - missing
    comments = [line for line in (tmp_path / "o.g2o").read_text().splitlines() if "#" in line]
    assert len(comments) == (rejected == "mark")


def test_tables_json_and_arrays(tmp_path, solved):
    graph, solution = solved
    for ending in ("csv", "json", "npz"):
        write_pose_solution(graph, solution, tmp_path / f"o.{ending}", summary={"cost": 1.0})
    table = rows(tmp_path / "o.csv")
    assert list(table[0]) == ["node", "x", "y", "theta", "component"]
    assert float(table[7]["theta"]) == solution.poses[7, 2]
    content = json.loads((tmp_path / "o.json").read_text())
    assert content["poses"] == solution.poses.tolist()
    assert content["accepted"][-1] is False
    with np.load(tmp_path / "o.npz") as arrays:
        assert np.array_equal(arrays["poses"], solution.poses)


def test_edges_have_error_confidence_and_verdict(tmp_path, solved):
    graph, solution = solved
    write_pose_edges(graph, solution, tmp_path / "e.csv")
    table = rows(tmp_path / "e.csv")
    assert len(table) == graph.num_edges
    last = table[-1]
    assert (last["start"], last["end"], last["accepted"], last["trusted"]) == ("3", "40", "0", "0")
    assert float(last["confidence"]) < 0.5
    assert float(last["residual_theta"]) == graph.error(solution.poses)[-1, 2]


def test_unknown_endings_and_choices_are_refused(tmp_path, solved):
    with pytest.raises(DataFileError, match=r"must be one of \.g2o, \.csv"):
        write_pose_solution(*solved, tmp_path / "o.xls")
    with pytest.raises(ParameterError, match="rejected = 'hide'"):
        write_pose_solution(*solved, tmp_path / "o.g2o", rejected="hide")


def test_the_poses_of_another_graph_are_refused_and_nothing_is_written(tmp_path):
    solution, other = solve_poses(manhattan(30, 1)[0]), manhattan(20, 1)[0]
    for name in ("a.g2o", "a.csv", "a.json", "a.npz"):
        with pytest.raises(ParameterError, match=r"graph = .*: must be .* 30 nodes"):
            write_pose_solution(other, solution, tmp_path / name, rejected="drop")
    with pytest.raises(ParameterError, match=r"graph = .*: must be .* 30 nodes"):
        write_pose_edges(other, solution, tmp_path / "edges.csv")
    assert list(tmp_path.iterdir()) == []
