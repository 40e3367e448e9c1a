import csv
import json

import numpy as np
import pytest

from gnnsync import MeasurementGraph, Solution
from gnnsync.errors import DataFileError
from gnnsync.io import write_edges, write_solution


@pytest.fixture
def solved():
    """Three named nodes with exact angles, k = 1, and a confidence in each node."""
    graph = MeasurementGraph.from_edges("ab", "bc", [0.5, 1.0])
    angles = np.array([1.5, 1.0, 0.0])
    confidence = np.array([1.0, 0.5, 0.25])
    return graph, Solution.from_angles(graph, angles, node_confidence=confidence)


def rows(path):
    with open(path, newline="") as handle:
        return list(csv.reader(handle))


def test_csv(tmp_path, solved):
    write_solution(*solved, tmp_path / "a.csv", unit="degrees")
    head, *lines = rows(tmp_path / "a.csv")
    assert head == ["node", "angle", "component", "confidence"]
    assert [line[0] for line in lines] == ["a", "b", "c"]
    assert float(lines[0][1]) == pytest.approx(np.degrees(1.5))
    assert [float(line[3]) for line in lines] == [1.0, 0.5, 0.25]


def test_columns_of_several_groups_and_no_confidence(tmp_path, solved):
    graph, _ = solved
    solution = Solution.from_angles(graph, np.zeros((3, 2)))
    write_solution(graph, solution, tmp_path / "a.csv")
    assert rows(tmp_path / "a.csv")[0] == ["node", "angle_1", "angle_2", "component"]


def test_json(tmp_path, solved):
    write_solution(*solved, tmp_path / "a.json", summary={"edges": 2})
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["unit"] == "radians"
    assert content["summary"] == {"edges": 2}
    assert content["nodes"] == ["a", "b", "c"]
    assert content["angles"] == [[1.5], [1.0], [0.0]]
    assert content["node_confidence"] == [1.0, 0.5, 0.25]


def test_npz_without_pickles(tmp_path, solved):
    write_solution(*solved, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["node"].tolist() == ["a", "b", "c"]
        assert arrays["residual"] == pytest.approx([0, 0], abs=1e-15)
        assert arrays["edge_group"].tolist() == [0, 0]
        assert arrays["node_confidence"].tolist() == [1.0, 0.5, 0.25]


def test_edges(tmp_path, solved):
    write_edges(*solved, tmp_path / "e.csv", unit="degrees")
    head, first, _ = rows(tmp_path / "e.csv")
    assert head == ["src", "dst", "offset", "residual", "confidence", "group"]
    assert first[:2] == ["a", "b"]
    assert float(first[2]) == pytest.approx(np.degrees(0.5))


def test_other_endings_are_refused(tmp_path, solved):
    with pytest.raises(DataFileError, match=r"a\.xls: ends in '\.xls': must be one of \.csv"):
        write_solution(*solved, tmp_path / "a.xls")


def test_what_is_unknown_is_an_empty_cell_or_null(tmp_path, solved):
    graph, solution = solved
    deviation = np.array([[0.1], [np.nan], [0.2]])
    confidence = np.array([np.nan, 0.5, 0.25])
    solution = solution.replace(node_confidence=confidence, node_deviation=deviation)
    write_solution(graph, solution, tmp_path / "a.csv", unit="degrees")
    head, *lines = rows(tmp_path / "a.csv")
    assert head == ["node", "angle", "component", "confidence", "deviation"]
    assert [line[3] for line in lines] == ["", "0.5", "0.25"]
    assert lines[1][4] == ""
    assert float(lines[0][4]) == pytest.approx(np.degrees(0.1))
    write_solution(graph, solution, tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["node_confidence"] == [None, 0.5, 0.25]
    assert content["node_deviation"] == [[0.1], [None], [0.2]]
    write_edges(graph, solution, tmp_path / "e.csv")
    assert [line[4] for line in rows(tmp_path / "e.csv")[1:]] == ["", ""]
