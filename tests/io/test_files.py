import io
import os
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.angles import circular_distance
from gnnsync.errors import DataFileError
from gnnsync.io.files import atomic_output
from gnnsync.io.source import MAX_LINE

FORMATS = ["csv", "tsv", "txt", "g2o", "npz", "mtx"]


def named_edges(graph):
    names = graph.node_names or tuple(range(graph.num_nodes))
    return [(names[i], names[j]) for i, j in graph.edge_index.T.tolist()]


def assert_same(one, other, tolerance=0.0):
    assert named_edges(one) == named_edges(other)
    assert one.num_nodes == other.num_nodes
    assert circular_distance(one.offset, other.offset).max() <= tolerance
    for name in ("weight", "group"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        assert first is None or np.array_equal(first, second)


@pytest.fixture
def read_text(tmp_path):
    def read(text, ending="csv", **options):
        path = tmp_path / f"file.{ending}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return gnnsync.read(path, **options)

    return read


# --- round trips ------------------------------------------------------------------------------


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
    ending=st.sampled_from(["csv", "tsv", "g2o", "npz"]),
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


@pytest.mark.parametrize("ending", ["csv", "tsv", "npz"])
def test_round_trip_of_names_groups_and_degrees(tmp_path, ending):
    names = ["Zürich, West", 'the "old" one', "007", "7", "NA", "a;b", "-1.5"]
    graph = MeasurementGraph.from_edges(
        names[:-1], names[1:], np.linspace(0, 6, 6), group=[0, 1, -1, 0, 1, 0]
    )
    path = tmp_path / f"g.{ending}"
    gnnsync.write(graph, path, degrees=True)
    back = gnnsync.read(path, degrees=True)
    assert back.node_names == tuple(names)
    assert_same(graph, back, 1e-14)


def test_npz_keeps_everything(tmp_path, triangle_and_tail):
    graph = triangle_and_tail.replace(
        angles=np.ones((5, 2)), group=np.array([0, 1, -1, 0]), node_names=tuple("abcde")
    )
    gnnsync.write(graph, tmp_path / "g.npz")
    back = gnnsync.read(tmp_path / "g.npz")
    assert_same(graph, back)
    assert np.array_equal(back.angles, graph.angles)
    assert back.node_names == graph.node_names
    assert back.num_nodes == 5


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


# --- conventions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a,b,0.5,2\nb,c,1,3\n",
        "a\tb\t0.5\t2\nb\tc\t1\t3",
        "a;b;0.5;2\r\nb;c;1;3\r\n",
        "  a b 0.5 2\n\nb   c 1 3\n",
        "\ufeffweight,dst,offset,src\n2,b,.5,a\n3,c,1e0,b\n",
        "Source, Target, Offset, comment, Weight\na, b, 0.5, hello, 2\n\nb, c, 1, , 3\n",
    ],
)
def test_tables_in_many_dresses(read_text, text):
    graph = read_text(text)
    assert named_edges(graph) == [("a", "b"), ("b", "c")]
    assert graph.offset == pytest.approx([0.5, 1.0])
    assert graph.weight == pytest.approx([2, 3])


def test_whole_numbers_are_sorted_and_text_stays_in_order(read_text):
    assert read_text("30,10,1\n10,20,2\n").node_names == (10, 20, 30)
    assert read_text("2,0,1\n0,1,2\n").node_names is None
    assert read_text("b,a,1\n07,7,2\n").node_names == ("b", "a", "07", "7")


def test_tables_longer_than_a_block(read_text):
    lines = [f"n{i},n{i + 1},{i % 6}.25" for i in range(100_000)]
    graph = read_text("\n".join(lines))
    assert graph.num_edges == 100_000
    assert graph.offset[70_001] == pytest.approx(70_001 % 6 + 0.25)
    lines[90_000] = "n1,n2,six"
    with pytest.raises(DataFileError, match="line 90001: offset 'six' is not a number"):
        read_text("\n".join(lines))


def test_g2o_edge_measures_the_second_pose_from_the_first(read_text):
    """θ_j - θ_i = dθ, and an offset is theta[src] - theta[dst]."""
    graph = read_text(
        "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0.3\nFIX 0\n"
        "EDGE_SE2 0 1 1 0 0.3 9 0 0 9 0 40\nEDGE_SE2 1 2 1 0 -0.5 9 0 0 9 0 10\n",
        "g2o",
    )
    angles = np.array([0.0, 0.3, -0.2])
    assert np.abs(graph.residual(angles)).max() < 1e-12
    assert graph.weight == pytest.approx([40, 10])


def test_g2o_agrees_with_gtsam(tmp_path):
    gtsam = pytest.importorskip("gtsam")
    rng = np.random.default_rng(0)
    poses = [gtsam.Pose2(*rng.normal(size=2), rng.uniform(-3, 3)) for _ in range(5)]
    factors, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    noise = gtsam.noiseModel.Diagonal.Precisions(np.array([1.0, 2.0, 25.0]))
    for i, pose in enumerate(poses):
        values.insert(i, pose)
    for i, j in [(0, 1), (1, 2), (3, 2), (3, 4), (0, 4)]:
        factors.add(gtsam.BetweenFactorPose2(i, j, poses[i].between(poses[j]), noise))
    path = tmp_path / "theirs.g2o"
    gtsam.writeG2o(factors, values, str(path))
    graph = gnnsync.read(path)
    angles = np.array([pose.theta() for pose in poses])
    assert np.abs(graph.residual(angles)).max() < 1e-4
    assert graph.weight == pytest.approx(25.0, rel=1e-3)

    gnnsync.write(graph.replace(angles=angles), tmp_path / "ours.g2o")
    again, guess = gtsam.readG2o(str(tmp_path / "ours.g2o"), False)
    assert again.size() == 5
    assert [guess.atPose2(i).theta() for i in range(5)] == pytest.approx(angles, abs=1e-9)
    first = again.at(0)
    i, j = first.keys()
    assert first.measured().theta() == pytest.approx(poses[i].between(poses[j]).theta(), abs=1e-4)


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_sparse_npz_keeps_stored_zeros(tmp_path, layout):
    matrix = sp.coo_array(([0.0, 90.0, 5.0], ([0, 1, 2], [1, 2, 0])), shape=(4, 4))
    sp.save_npz(tmp_path / "m.npz", matrix.asformat(layout))
    graph = gnnsync.read(tmp_path / "m.npz", degrees=True)
    found = dict(zip(named_edges(graph), graph.offset.tolist(), strict=True))
    assert found == pytest.approx({(0, 1): 0, (1, 2): np.pi / 2, (2, 0): np.radians(5)})
    assert graph.num_nodes == 4


def test_dense_npz_and_degrees_before_reduction(tmp_path):
    np.savez(tmp_path / "m.npz", np.array([[0, 350.0], [0, 0]]))
    assert gnnsync.read(tmp_path / "m.npz", degrees=True).offset == pytest.approx(np.radians(350))
    np.savez(tmp_path / "e.npz", edge_index=[[0], [1]], offset=[350.0])
    assert gnnsync.read(tmp_path / "e.npz", degrees=True).offset == pytest.approx(np.radians(350))


def test_skew_symmetric_mtx_is_one_measurement_per_pair(read_text):
    text = "%%MatrixMarket matrix coordinate real skew-symmetric\n% note\n3 3 2\n2 1 0.5\n3 2 0\n"
    graph = read_text(text, "mtx")
    assert named_edges(graph) == [(1, 0), (2, 1)]
    assert graph.offset == pytest.approx([0.5, 0])


def test_scipy_reads_our_mtx(tmp_path, make_multigraph):
    from scipy.io import mmread

    graph = make_multigraph(1, n=30, m=5)
    gnnsync.write(graph, tmp_path / "g.mtx")
    matrix = mmread(tmp_path / "g.mtx").tocoo()
    assert matrix.shape == (30, 30)
    assert sorted(matrix.data) == pytest.approx(sorted(graph.offset))


def test_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(b"a,b,1\n")

    monkeypatch.setattr(sys, "stdin", Input)
    assert gnnsync.read("-").num_edges == 1
    Input.buffer = io.BytesIO(b"EDGE_SE2 0 1 0 0 1 1 0 0 1 0 1")
    assert gnnsync.read("-", format="g2o").num_edges == 1


# --- bad files --------------------------------------------------------------------------------

MTX = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("ending", "text", "problem"),
    [
        ("csv", "", "holds no measurements"),
        ("csv", "\n\n", "holds no measurements"),
        ("csv", "src,dst,offset\n", "holds no measurements"),
        ("csv", "src,dst\na,b\n", r"line 1: missing column 'offset' \(found: src, dst\)"),
        ("csv", "src,offset,weight\na,1,2\n", "line 1: missing column 'dst'"),
        ("csv", "a,b\nb,c\n", "line 1: 2 fields and no header"),
        ("csv", "a,b,x\n", "line 1: offset 'x' is not a number"),
        ("csv", "a,b,1\n\nb,c,one\n", "line 3: offset 'one' is not a number"),
        ("csv", "a,b,1\nb,c,nan\n", "line 2: offset 'nan' is not finite"),
        ("csv", "a,b,1\nb,c,inf\n", "line 2: offset 'inf' is not finite"),
        ("csv", "a,b,1\nb,c\n", "line 2: 2 fields, the first line has 3"),
        ("csv", "a,b,1\nb,c,1,2\n", "line 2: 4 fields, the first line has 3"),
        ("csv", "a,b,1\nc,c,1\n", "line 2: src and dst are both 'c': remove the self-loop"),
        ("csv", "a,b,1,1\nb,c,1,0\n", "line 2: weight 0 must be greater than 0"),
        ("csv", "a,b,1,1\nb,c,1,\n", "line 2: weight '' is not a number"),
        ("csv", "a,b,1\n,c,1\n", "line 2: src is empty"),
        ("csv", "src,dst,offset,group\na,b,1,0.5\n", "line 2: group 0.5 must be -1"),
        ("csv", 'a,b,1\n"c\nd",e,1\n', "quoted field"),
        ("csv", b"a,b,1\n\xff\xfe,c,1\n", "is not text in UTF-8"),
        ("g2o", "", "holds no EDGE_SE2"),
        ("g2o", "VERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\n", "line 1: 'VERTEX_SE3:QUAT' is 3D"),
        ("g2o", "EDGE_SE3:QUAT 0 1\n", "line 1: 'EDGE_SE3:QUAT' is 3D"),
        ("g2o", "EDGE_SE2 0 1 0 0 0.1\n", "line 1: EDGE_SE2 with 5 fields: must have 11"),
        ("g2o", "EDGE_SE2 0 1 0 0 x 1 0 0 1 0 1\n", "line 1: dtheta 'x' is not a number"),
        ("g2o", "EDGE_SE2 0 1 0 0 nan 1 0 0 1 0 1\n", "line 1: dtheta 'nan' is not finite"),
        ("g2o", "EDGE_SE2 0 0 0 0 1 1 0 0 1 0 1\n", "line 1: an edge from node 0 to itself"),
        ("g2o", "EDGE_SE2 0 1 0 0 1 1 0 0 1 0 0\n", "line 1: I33 is 0"),
        ("g2o", "EDGE_SE2 0 a 0 0 1 1 0 0 1 0 1\n", "line 1: node 'a' is not a whole number"),
        ("g2o", "EDGE_SE2 0 " + "9" * 5000 + " 0 0 1 1 0 0 1 0 1\n", "is not a whole number"),
        ("g2o", "EDGE2 0 1 0 0 1\n", "line 1: unknown tag 'EDGE2'"),
        ("mtx", "", "does not begin with"),
        ("mtx", "1 1 1\n", "does not begin with"),
        ("mtx", MTX, "expected the line of sizes"),
        ("mtx", MTX + "2 3 1\n1 2 1\n", "line 2: a matrix of 2 × 3: must be square"),
        ("mtx", MTX + "2 2 1\n1 2 x\n", "line 3: offset 'x' is not a number"),
        ("mtx", MTX + "2 2 1\n1 2 nan\n", "line 3: offset 'nan' is not finite"),
        ("mtx", MTX + "2 2 1\n1 3 1\n", "line 3: column '3' is not a number from 1 to 2"),
        ("mtx", MTX + "2 2 1\n2 2 1\n", r"line 3: entry \(2, 2\) is a self-loop"),
        ("mtx", MTX + "2 2 2\n1 2 1\n", "1 entries where the line of sizes says 2"),
        ("mtx", MTX + "2 2 0\n", "holds no measurements"),
        ("mtx", MTX.replace("general", "symmetric"), "'symmetric': must be general"),
        ("mtx", MTX.replace("real", "complex"), "'complex': must be real"),
        ("npz", "", "is empty"),
        ("npz", "PK\x03\x04 not really", "is not a valid .npz"),
        ("npz", "hello", "is not a valid .npz"),
        ("pdf", "x", "known endings are"),
    ],
)
def test_bad_files_are_named_with_line_and_field(read_text, ending, text, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read_text(text, ending)
    message = str(caught.value)
    assert f"file.{ending}" in message
    assert len(message.splitlines()) == 1
    assert len(message) < 400


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(DataFileError, match="no such file"):
        gnnsync.read(tmp_path / "none.csv")
    for name in (tmp_path, tmp_path / "d.npz"):
        name.mkdir(exist_ok=True)
        with pytest.raises(DataFileError, match="is a directory"):
            gnnsync.read(name)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_truncated_npz(tmp_path, make_multigraph, kept):
    gnnsync.write(make_multigraph(0), tmp_path / "g.npz")
    whole = (tmp_path / "g.npz").read_bytes()
    (tmp_path / "g.npz").write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(DataFileError, match=r"g\.npz: is not a valid"):
        gnnsync.read(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"edge_index": [[0], [0]], "offset": [1.0]}, "self-loop"),
        ({"edge_index": [[0], [1]], "offset": [np.nan]}, "must be finite"),
        ({"edge_index": [[0], [1]], "offset": [1.0, 2.0]}, "shape"),
        ({"edge_index": [["a"], ["b"]], "offset": [1.0]}, "whole numbers"),
        ({"edge_index": [[0], [1]], "offset": ["x"]}, "file.npz"),
        ({"edge_index": np.empty((2, 0)), "offset": []}, "holds no measurements"),
        ({"a": [1.0], "b": [2.0]}, r"holds a \(1,\), b \(1,\): must hold edge_index"),
        ({"a": np.ones((2, 3))}, "must be square"),
        ({"format": "dia", "shape": [2, 2], "data": [1.0]}, "must be coo, csr or csc"),
        ({"format": "coo", "shape": [2, 2], "data": [1.0]}, "row"),
    ],
)
def test_bad_npz_arrays(tmp_path, arrays, problem):
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(DataFileError, match=problem) as caught:
        gnnsync.read(tmp_path / "file.npz")
    assert "file.npz" in str(caught.value)


def test_no_pickle_is_ever_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    trap = np.array([[Trap()]], dtype=object)
    np.savez(tmp_path / "evil.npz", edge_index=trap, offset=trap)
    with pytest.raises(DataFileError, match="allow_pickle=False"):
        gnnsync.read(tmp_path / "evil.npz")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("ending", ["csv", "g2o", "mtx"])
def test_an_endless_line_is_refused_in_bounded_memory(tmp_path, ending):
    path = tmp_path / f"huge.{ending}"
    with open(path, "wb") as handle:
        handle.write(b"a,b,")
        # Sparse on disk: half a gigabyte of NULs that take no room.
        handle.truncate(1 << 29)
    tracemalloc.start()
    with pytest.raises(DataFileError, match=f"line 1: longer than {MAX_LINE} characters"):
        gnnsync.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


def test_a_long_line_inside_a_block_is_named(read_text):
    with pytest.raises(DataFileError, match="line 2: longer than"):
        read_text("a,b,1\n" + "x" * (MAX_LINE + 1) + ",c,1\nd,e,1\n")


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


# --- output -----------------------------------------------------------------------------------


def test_output_is_whole_or_absent(tmp_path):
    path = tmp_path / "out.csv"

    def fail_halfway():
        with atomic_output(path) as handle:
            handle.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert os.listdir(tmp_path) == []
    path.write_text("before")
    os.chmod(path, 0o640)
    with atomic_output(path) as handle:
        handle.write("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.csv"]


def test_output_into_nowhere_is_a_clear_error(tmp_path, make_multigraph):
    with pytest.raises(DataFileError, match="cannot be written: No such file"):
        gnnsync.write(make_multigraph(0), tmp_path / "no" / "g.npz")
    with pytest.raises(DataFileError, match="is a directory"):
        gnnsync.write(make_multigraph(0), tmp_path, format="npz")
