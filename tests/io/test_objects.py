import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import gnnsync
from gnnsync import as_graph
from gnnsync.errors import GnnsyncError, GraphError, ParameterError
from tests.io.graphs import assert_same, named_edges

COLUMNS = {"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "offset": [0.5, 1.0, -1.5]}
EDGES = [("a", "b"), ("b", "c"), ("c", "a")]


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_tables(make):
    graph = as_graph(make(COLUMNS))
    assert named_edges(graph) == EDGES
    assert graph.offset == pytest.approx([0.5, 1.0, 2 * np.pi - 1.5])
    other = {"A": COLUMNS["src"], "to": COLUMNS["dst"], "x": [90, 180, -90], "weight": [1, 2, 3]}
    graph = as_graph(make(other), columns={"src": "A", "offset": "x"}, unit="degrees")
    assert named_edges(graph) == EDGES
    assert graph.offset == pytest.approx(np.radians([90, 180, 270]))
    assert graph.weight.tolist() == [1, 2, 3]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_numbers_as_names(make):
    frame = make({"src": [3, 1], "dst": [1, 2], "offset": [0.1, 0.2], "trusted": [True, False]})
    graph = as_graph(frame)
    assert graph.node_names == (1, 2, 3)
    assert graph.trusted.tolist() == [True, False]


def test_networkx_graphs():
    directed = nx.MultiDiGraph()
    directed.add_edge("b", "a", offset=0.5, weight=2.0)
    directed.add_edge("b", "a", offset=0.6, weight=1.0)
    directed.add_node("alone")
    graph = as_graph(directed)
    assert named_edges(graph) == [("b", "a"), ("b", "a")]
    assert graph.num_nodes == 3
    assert graph.weight.tolist() == [2.0, 1.0]
    undirected = nx.Graph()
    undirected.add_edge(2, 1, turn=90)  # theta[1] - theta[2]
    graph = as_graph(undirected, columns={"offset": "turn"}, unit="degrees")
    assert named_edges(graph) == [(1, 2)]
    assert graph.offset == pytest.approx([np.pi / 2])


def test_networkx_round_trip(make_multigraph):
    graph = make_multigraph(0, connected=True)
    back = as_graph(graph.to_networkx())
    assert back.num_nodes == graph.num_nodes
    assert sorted(zip(*back.edge_index, back.offset, strict=True)) == sorted(
        zip(*graph.edge_index, graph.offset, strict=True)
    )


def test_sparse_matrices():
    matrix = sp.coo_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(4, 4))
    for kind in ("coo", "csr", "csc"):
        graph = as_graph(matrix.asformat(kind))
        assert named_edges(graph) == [(0, 1), (1, 2)]
        assert graph.offset.tolist() == [0.0, 1.0]
        assert graph.num_nodes == 4


@pytest.mark.parametrize("dense", [False, True])
def test_hermitian_phases(make_multigraph, dense):
    graph = make_multigraph(1, n=6, m=5, connected=True)
    matrix = graph.hermitian
    back = as_graph(matrix.toarray() if dense else matrix)
    assert back.num_edges == graph.num_edges - graph.num_parallel
    assert abs(back.hermitian - matrix).max() < 1e-12


def test_plain_arrays_rows_and_columns():
    rows = np.array([[0, 1, 0.5], [1, 2, 1.0]])
    for data in (rows, rows.tolist(), tuple(rows.T), [(0, 1, 0.5), (1, 2, 1.0)]):
        graph = as_graph(data)
        assert named_edges(graph) == [(0, 1), (1, 2)]
        assert graph.offset.tolist() == [0.5, 1.0]
        assert graph.node_names is None
    assert as_graph(np.column_stack([rows, [1.0, 2.0]])).weight.tolist() == [1.0, 2.0]
    assert named_edges(as_graph([("x", 1, 0.5), (("t", 2), "x", 1)])) == [("x", 1), (("t", 2), "x")]
    square = np.zeros((5, 5))
    square[0, 1] = 0.5
    assert named_edges(as_graph(square)) == [(0, 1)]


def test_files_and_graphs(tmp_path, make_multigraph):
    graph = make_multigraph(0, connected=True)
    gnnsync.write(graph, tmp_path / "g.csv", unit="turns")
    assert as_graph(graph) is graph
    assert_same(graph, as_graph(tmp_path / "g.csv", unit="turns"), 1e-12)


def test_solve_takes_them_too():
    angle = {"a": 0.3, "b": 1.3, "c": 2.0}
    src, dst = ["a", "b", "c"], ["b", "c", "a"]
    offset = [np.degrees(angle[i] - angle[j]) for i, j in zip(src, dst, strict=True)]
    frame = pd.DataFrame({"i": src, "j": dst, "delta": offset})
    solution = gnnsync.solve(frame, "gpm", unit="degrees")
    found = dict(zip(solution.graph.names, solution.angles[:, 0], strict=True))
    assert found["a"] - found["b"] == pytest.approx(-1.0, abs=1e-6)
    columns = {"offset": "turn"}
    renamed = frame.rename(columns={"delta": "turn"})
    again = gnnsync.solve(renamed, "gpm", unit="degrees", columns=columns)
    assert np.array_equal(again.angles, solution.angles)


@pytest.mark.parametrize(
    ("data", "options", "problem"),
    [
        (np.zeros((3, 3)), {}, "may hold rows src, dst, offset, or a matrix"),
        (np.zeros((2, 5)), {}, r"shape \(2, 5\): must be"),
        (
            np.array([[0, 1.5, 0.5], [1, 2, 1]]),
            {},
            "dst of row 0 is 1.5: a node is a",
        ),
        ((1, 2), {}, "a tuple of 2"),
        (([0], [1, 2], [0.5]), {}, r"different lengths \(src 1, dst 2, offset 1\)"),
        ([1, 2, 3], {}, "rows"),
        (42, {}, "must be a MeasurementGraph, a file name, a DataFrame"),
        (pd.DataFrame({"a": [1]}), {}, "missing column 'src'"),
        (pd.DataFrame(COLUMNS), {"columns": {"src": "x"}}, "no column 'x'"),
        (pd.DataFrame(COLUMNS), {"unit": "grad"}, "unit = 'grad'"),
        (pd.DataFrame(COLUMNS | {"offset": [1, 2, np.nan]}), {}, "offset of row 2 is nan"),
        (pd.DataFrame(COLUMNS | {"src": ["a", None, "b"]}), {}, "src of row 1 is missing"),
        (nx.Graph([("a", "b")]), {}, "no attribute 'offset'"),
        (sp.eye_array(3), {}, "self-loop"),
        (sp.csr_array((2, 3)), {}, "must be square"),
        (np.eye(5) * 1j, {"unit": "degrees"}, "complex"),
    ],
)
def test_what_cannot_be_measurements_is_refused(data, options, problem):
    with pytest.raises(GnnsyncError, match=problem) as caught:
        as_graph(data, **options)
    assert len(str(caught.value).splitlines()) == 1


def test_undirected_nodes_without_an_order():
    graph = nx.Graph()
    graph.add_edge("a", 1, offset=0.5)
    with pytest.raises(GraphError, match=r"use networkx\.DiGraph"):
        as_graph(graph)


def test_a_graph_has_its_unit_already(make_multigraph):
    with pytest.raises(ParameterError, match="left out with a MeasurementGraph"):
        as_graph(make_multigraph(0), unit="degrees")
