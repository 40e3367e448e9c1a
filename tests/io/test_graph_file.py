import io
import os
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.errors import DataFileError, ParameterError
from tests.io.graphs import assert_one_line, assert_same

FORMATS = ["csv", "tsv", "txt", "g2o", "npz", "mtx", "parquet"]
MTX = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
def test_round_trip(tmp_path, make_multigraph, ending, weighted):
    graph = make_multigraph(3, weighted=weighted and ending != "mtx", connected=True)
    path = tmp_path / f"g.{ending}"
    gnnsync.write(graph, path)
    back = gnnsync.read(path)
    # g2o holds angles in [-π, π): the last digit may differ.
    assert_same(graph, back, 1e-14 if ending == "g2o" else 0.0)
    assert back.node_names is None
    assert np.array_equal(back.edge_index, graph.edge_index)


@given(
    edges=st.lists(
        st.tuples(st.integers(0, 6), st.integers(1, 6), st.floats(0, 6.28), st.floats(1e-3, 1e3)),
        min_size=1,
        max_size=20,
    ),
    ending=st.sampled_from(["csv", "tsv", "g2o", "npz", "parquet"]),
    shift=st.sampled_from([0, 5]),
)
def test_round_trip_of_any_graph_by_names(tmp_path_factory, edges, ending, shift):
    src = [a + shift for a, _, _, _ in edges]
    dst = [(a + step) % 7 + shift for a, step, _, _ in edges]
    graph = MeasurementGraph.from_edges(
        src, dst, [o for *_, o, _ in edges], weight=[w for *_, w in edges]
    )
    path = tmp_path_factory.mktemp("round") / f"g.{ending}"
    gnnsync.write(graph, path)
    back = gnnsync.read(path)
    if ending == "g2o" and set(graph.weight) == {1.0}:
        back = back.replace(weight=graph.weight)
    assert_same(graph, back, 1e-14)


@pytest.mark.parametrize("ending", ["csv", "tsv", "npz", "parquet"])
def test_round_trip_of_names_groups_and_degrees(tmp_path, ending):
    names = ["Zürich, West", 'the "old" one', "007", "7", "NA", "a;b", "-1.5", "#8", "9"]
    graph = MeasurementGraph.from_edges(
        names[:-1], names[1:], np.linspace(0, 6, 8), group=[0, 1, -1, 0, 1, 0, 1, 1]
    )
    path = tmp_path / f"g.{ending}"
    gnnsync.write(graph, path, degrees=True)
    back = gnnsync.read(path, degrees=True)
    assert back.node_names == tuple(names)
    assert_same(graph, back, 1e-14)


@pytest.mark.parametrize(
    ("ending", "change", "problem"),
    [
        ("csv", {}, "some nodes have none"),
        ("mtx", {"weight": np.ones(4)}, "cannot hold weight"),
        ("mtx", {"node_names": tuple("abcde")}, "cannot hold node_names"),
        ("g2o", {"node_names": tuple("abcde")}, "whole numbers"),
        ("npz", {"node_names": (1, "b", 3, 4, 5)}, "all text or all whole numbers"),
        ("xyz", {}, "known endings are"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(tmp_path, triangle_and_tail, ending, change, problem):
    with pytest.raises(DataFileError, match=problem):
        gnnsync.write(triangle_and_tail.replace(**change), tmp_path / f"g.{ending}")
    assert os.listdir(tmp_path) == []


def test_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(b"a,b,1\n")

    monkeypatch.setattr(sys, "stdin", Input)
    assert gnnsync.read("-").num_edges == 1
    Input.buffer = io.BytesIO(b"EDGE_SE2 0 1 0 0 1 1 0 0 1 0 1")
    assert gnnsync.read("-", format="g2o").num_edges == 1


def test_an_unknown_ending_lists_the_known_ones(read_text):
    with pytest.raises(DataFileError, match="known endings are") as caught:
        read_text("x", "pdf")
    assert_one_line(str(caught.value), "file.pdf")


def test_g2o_has_no_degrees(read_text, make_multigraph, tmp_path):
    with pytest.raises(DataFileError, match="g2o is in radians"):
        read_text("EDGE_SE2 0 1 0 0 1 1 0 0 1 0 1", "g2o", degrees=True)
    with pytest.raises(DataFileError, match="g2o is in radians"):
        gnnsync.write(make_multigraph(0), tmp_path / "out.g2o", degrees=True)


@given(
    ending=st.sampled_from(FORMATS),
    content=st.binary(max_size=60)
    | st.text("ab01.,;\t\n\"' -+eE_\r\x00%#naif", max_size=80).map(str.encode)
    | st.lists(
        st.sampled_from(["EDGE_SE2", "VERTEX_SE2", "0", "1", "2", "1.5", "nan", "-", "\n", MTX]),
        max_size=30,
    ).map(lambda words: " ".join(words).encode()),
)
def test_any_bytes_give_a_graph_or_a_one_line_error(tmp_path_factory, ending, content):
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(content)
    message, edges = "", 0
    try:
        edges = gnnsync.read(path).num_edges
    except DataFileError as error:
        message = str(error)
    assert edges or (str(path) in message and len(message.splitlines()) == 1)


def test_output_into_nowhere_is_a_clear_error(tmp_path, make_multigraph):
    with pytest.raises(DataFileError, match="cannot be written: No such file"):
        gnnsync.write(make_multigraph(0), tmp_path / "no" / "g.npz")
    with pytest.raises(DataFileError, match="is a directory"):
        gnnsync.write(make_multigraph(0), tmp_path, format="npz")


@pytest.mark.parametrize("ending", ["csv", "tsv", "npz"])
def test_trusted_edges_are_kept(tmp_path, make_multigraph, ending):
    graph = make_multigraph(3, connected=True)
    trusted = np.arange(graph.num_edges) % 3 == 0
    gnnsync.write(graph.replace(trusted=trusted), tmp_path / f"g.{ending}")
    back = gnnsync.read(tmp_path / f"g.{ending}")
    assert np.array_equal(back.trusted, trusted)
    assert gnnsync.read(tmp_path / f"g.{ending}", trust="none").trusted is None
    with pytest.raises(DataFileError, match="cannot hold trusted"):
        gnnsync.write(graph.replace(trusted=trusted), tmp_path / "g.mtx")
    with pytest.raises(DataFileError, match="cannot hold trusted"):
        gnnsync.write(graph.replace(trusted=trusted), tmp_path / "g.g2o")


def test_trust_of_odometry(read_text):
    text = "3,4,1\n4,6,1\n4,3,2\n6,5,1\n"
    assert read_text(text).trusted is None
    assert read_text(text, trust="odometry").trusted.tolist() == [True, False, False, True]
    assert read_text("a,b,1\n", trust="odometry").trusted is None
    with pytest.raises(ParameterError, match="trust = 'all': must be one of odometry, none"):
        read_text(text, trust="all")
