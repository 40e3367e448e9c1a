import csv

import numpy as np
import pytest

import gnnsync
from gnnsync.io import write_edges, write_solution
from gnnsync.io.tables.cells import guard_cell, plain_cell

RUN = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "\rx", "'=1", "''-x", "--1"]
KEPT = ["a", "7", "-1.5", "+2e3", "-inf", "'quoted'", "a=b", "", "x-y", "'"]


@pytest.mark.parametrize("name", RUN)
def test_what_a_spreadsheet_would_run_is_text_in_it(name):
    assert guard_cell(name) == f"'{name}"
    assert plain_cell(guard_cell(name)) == name


@pytest.mark.parametrize("name", KEPT)
def test_other_cells_stay(name):
    assert guard_cell(name) == name
    assert plain_cell(name) == name


@pytest.mark.parametrize("number", [-1.5, -3, None, np.float64(-2)], ids=str)
def test_numbers_stay(number):
    assert guard_cell(number) is number


@pytest.fixture
def named():
    names = ("=1+1", "'=1+1", "-x", "-1.5", "@a", "b")
    src, dst = names, names[1:] + names[:1]
    return gnnsync.MeasurementGraph.from_edges(src, dst, [-0.5, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_tables_give_back_the_names(tmp_path, named, ending):
    path = tmp_path / f"a.{ending}"
    gnnsync.write(named, path)
    lines = path.read_text().splitlines()[1:]
    assert [line[:2] for line in lines] == ["'=", "''", "'-", "-1", "'@", "b" + lines[-1][1]]
    assert gnnsync.read(path).node_names == named.node_names
    gnnsync.write(named, path, keep_names=True)
    assert "'-x" not in path.read_text()
    assert gnnsync.read(path, keep_names=True).node_names == named.node_names


def column(path, title):
    with open(path, newline="") as handle:
        return [row[title] for row in csv.DictReader(handle)]


def test_solutions_can_be_opened_in_a_spreadsheet(tmp_path, named):
    solution = gnnsync.solve(named, "gpm")
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    write_solution(named, solution, nodes)
    write_edges(named, solution, edges)
    guarded = ["'=1+1", "''=1+1", "'-x", "-1.5", "'@a", "b"]
    assert column(nodes, "node") == guarded
    assert column(edges, "src") == guarded
    assert all(float(text) == pytest.approx(float(text)) for text in column(edges, "residual"))
    write_solution(named, solution, nodes, keep_names=True)
    write_edges(named, solution, edges, keep_names=True)
    assert column(nodes, "node") == column(edges, "src") == list(named.node_names)


def test_angles_that_were_written_are_known_angles_again(tmp_path, named):
    solution = gnnsync.solve(named, "gpm")
    write_solution(named, solution, tmp_path / "nodes.csv")
    text = (tmp_path / "nodes.csv").read_text().splitlines()
    (tmp_path / "anchors.csv").write_text("\n".join(",".join(line.split(",")[:2]) for line in text))
    again = gnnsync.solve(named, "gpm", anchors=tmp_path / "anchors.csv")
    assert again.angles == pytest.approx(solution.angles)
