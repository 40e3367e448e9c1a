import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnnsync
from gnnsync.errors import DataFileError, GnnsyncError
from gnnsync.io import read_poses, write_poses
from tests.methods.poses.worlds import manhattan

TEXT = """\
VERTEX_SE2 5 1.5 -2 0.25
# a comment
VERTEX_SE2 3 0.1 0.2 3
EDGE_SE2 5 3 1.25 -0.5 -0.012958 44.635358 -7.96222 0.5 376.51638 -1 9745.79165
EDGE_SE2 3 4 0.1 0 7.1 1 0 0 1 0 2
EDGE_SE2 4 3 0.1 0 -7.1 1 0 0 1 0 2
FIX 3
"""


@pytest.fixture
def example(tmp_path):
    path = tmp_path / "in.g2o"
    path.write_text(TEXT)
    return path


def same(one, other):
    assert list(one.rotations.names) == list(other.rotations.names)
    assert np.array_equal(one.rotations.edge_index, other.rotations.edge_index)
    for name in ("translation", "heading", "information"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert (one.initial is None) == (other.initial is None)
    assert one.initial is None or np.array_equal(one.initial, other.initial, equal_nan=True)
    assert one.fixed == other.fixed
    assert np.array_equal(one.rotations.edge_trusted, other.rotations.edge_trusted)


def test_everything_is_read(example):
    graph = read_poses(example)
    assert graph.rotations.node_names == (5, 3, 4)
    assert graph.fixed == (3,)
    assert graph.initial[:2].tolist() == [[1.5, -2, 0.25], [0.1, 0.2, 3]]
    assert np.isnan(graph.initial[2]).all()
    assert graph.information[0].tolist() == [
        [44.635358, -7.96222, 0.5],
        [-7.96222, 376.51638, -1],
        [0.5, -1, 9745.79165],
    ]
    assert graph.measured_heading.tolist() == [-0.012958, 7.1, -7.1]
    # Of two edges between consecutive poses only the first is odometry.
    assert graph.rotations.edge_trusted.tolist() == [False, True, False]


def test_written_and_read_again_is_the_same_graph_and_text(example, tmp_path):
    graph = read_poses(example)
    write_poses(graph, tmp_path / "out.g2o")
    same(read_poses(tmp_path / "out.g2o"), graph)
    kept = [line for line in TEXT.splitlines() if not line.startswith("#")]
    assert (tmp_path / "out.g2o").read_text().splitlines() == kept


@given(seed=st.integers(0, 1000), vertices=st.booleans())
def test_round_trip_of_any_graph(tmp_path_factory, seed, vertices):
    rng = np.random.default_rng(seed)
    graph = manhattan(12, seed, noise=(0.1, 0.1, 2.0), per_visit=1.0, gap=2)[0]
    root = rng.normal(size=(graph.num_edges, 3, 3)) * 10.0 ** rng.uniform(-4, 4)
    graph = graph.replace(
        information=root @ root.transpose(0, 2, 1),
        initial=rng.normal(size=(12, 3)) if vertices else None,
        fixed=(5,) if vertices else (),
    )
    folder = tmp_path_factory.mktemp("round")
    write_poses(graph, folder / "a.g2o")
    read = read_poses(folder / "a.g2o")
    write_poses(read, folder / "b.g2o")
    same(read_poses(folder / "b.g2o"), read)
    assert (folder / "a.g2o").read_bytes() == (folder / "b.g2o").read_bytes()
    full = np.triu(graph.information) + np.triu(graph.information, 1).transpose(0, 2, 1)
    assert np.array_equal(read.information, full)


def test_rotations_of_read_are_those_of_the_poses(example):
    """`read` sorts the nodes, `read_poses` keeps the order of the file."""
    rotations, poses = gnnsync.read(example), read_poses(example)
    assert rotations.node_names == (3, 4, 5)
    named = [
        [(g.names[i], g.names[j]) for i, j in g.edge_index.T] for g in (rotations, poses.rotations)
    ]
    assert named[0] == named[1]
    assert rotations.edge_trusted.tolist() == [False, True, False]
    assert gnnsync.read(example, trust="none").trusted is None
    assert read_poses(example, trust="none").rotations.trusted is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("EDGE_SE2 0 1 1 0 0 1 0 0 -1 0 1\n", "line 1: information 1 0 0 -1 0 1: must be pos"),
        ("EDGE_SE2 0 1 1 0 0 1 5 0 1 0 1\n", "line 1: information"),
        ("EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nFIX x\n", "line 2: node 'x' is not a whole number"),
        (
            "VERTEX_SE2 0 1 2 3\nVERTEX_SE2 1 0 0 0\nVERTEX_SE2 0 1 2 4\n",
            "line 3: VERTEX_SE2 0 is 1 2 4, on an earlier line 1 2 3: remove one",
        ),
        ("VERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\n", "line 1: 'VERTEX_SE3:QUAT' is 3D"),
    ],
)
def test_errors_state_the_line(tmp_path, text, problem):
    (tmp_path / "bad.g2o").write_text(text)
    with pytest.raises(DataFileError, match=problem):
        read_poses(tmp_path / "bad.g2o")


def test_other_formats_and_landmarks(tmp_path, example):
    (tmp_path / "a.csv").write_text("0,1,0.5\n")
    with pytest.raises(DataFileError, match="without positions"):
        read_poses(tmp_path / "a.csv")
    with pytest.raises(DataFileError, match=r"ends in \.g2o"):
        write_poses(read_poses(example), tmp_path / "a.csv")
    landmarks = "VERTEX_XY 9 1 2\nEDGE_SE2_XY 5 9 1 1 1 0 1\nFIX 9\n"
    (tmp_path / "b.g2o").write_text(TEXT + landmarks)
    same(read_poses(tmp_path / "b.g2o"), read_poses(example))


def test_gtsam_reads_what_is_marked_and_kept(tmp_path):
    gtsam = pytest.importorskip("gtsam")
    graph = manhattan(30, 4)[0]
    rejected = graph.closures.copy()
    poses = np.random.default_rng(0).normal(size=(30, 3))
    write_poses(graph, tmp_path / "marked.g2o", poses=poses, rejected=rejected)
    factors, values = gtsam.readG2o(str(tmp_path / "marked.g2o"), False)
    assert factors.size() == 29
    assert values.atPose2(7).x() == pytest.approx(poses[7, 0], abs=1e-9)
    text = (tmp_path / "marked.g2o").read_text()
    assert text.count("# rejected: EDGE_SE2") == rejected.sum() > 0
    assert read_poses(tmp_path / "marked.g2o").num_edges == 29


def test_an_equal_vertex_may_be_repeated(tmp_path, example):
    (tmp_path / "twice.g2o").write_text(TEXT + "VERTEX_SE2 5 1.50 -2.0 0.25\n")
    same(read_poses(tmp_path / "twice.g2o"), read_poses(example))


def test_gtsam_reads_the_edges_of_a_graph_with_fixed_poses(tmp_path):
    gtsam = pytest.importorskip("gtsam", reason="gtsam is not installed")
    graph, truth = manhattan(30, 4)
    graph = graph.replace(initial=truth, fixed=(0, 7))
    write_poses(graph, tmp_path / "fixed.g2o")
    factors, values = gtsam.readG2o(str(tmp_path / "fixed.g2o"), False)
    assert (factors.size(), values.size()) == (graph.num_edges, 30)
    same(read_poses(tmp_path / "fixed.g2o"), graph)
    write_poses(graph, tmp_path / "marked.g2o", rejected=graph.closures)
    assert gtsam.readG2o(str(tmp_path / "marked.g2o"), False)[0].size() == 29


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"poses": np.zeros((5, 3))}, r"poses has shape \(5, 3\): must be \(30, 3\)"),
        ({"poses": np.full((30, 3), np.nan)}, r"poses\[0, 0\] is nan: must be finite"),
        ({"rejected": [1, 2]}, r"rejected has shape \(2,\): must be"),
        ({"rejected": np.zeros(3, bool)}, r"rejected has shape \(3,\): must be"),
    ],
)
def test_fields_that_do_not_fit_are_refused_and_nothing_is_written(tmp_path, changes, problem):
    with pytest.raises(GnnsyncError, match=problem) as caught:
        write_poses(manhattan(30, 4)[0], tmp_path / "out.g2o", **changes)
    assert len(str(caught.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_only_a_pose_graph_is_written(tmp_path):
    with pytest.raises(GnnsyncError, match=r"graph = .*: must be a PoseGraph"):
        write_poses(manhattan(30, 4)[0].rotations, tmp_path / "out.g2o")
