import numpy as np
import pytest

import gnnsync
from gnnsync.errors import DataFileError
from tests.io.graphs import assert_one_line


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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no EDGE_SE2"),
        ("VERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\n", "line 1: 'VERTEX_SE3:QUAT' is 3D"),
        ("EDGE_SE3:QUAT 0 1\n", "line 1: 'EDGE_SE3:QUAT' is 3D"),
        ("EDGE_SE2 0 1 0 0 0.1\n", "line 1: EDGE_SE2 with 5 fields: must have 11"),
        ("EDGE_SE2 0 1 0 0 x 1 0 0 1 0 1\n", "line 1: dtheta 'x' is not a number"),
        ("EDGE_SE2 0 1 0 0 nan 1 0 0 1 0 1\n", "line 1: dtheta 'nan' is not finite"),
        ("EDGE_SE2 0 0 0 0 1 1 0 0 1 0 1\n", "line 1: an edge from node 0 to itself"),
        ("EDGE_SE2 0 1 0 0 1 1 0 0 1 0 0\n", "line 1: I33 is 0"),
        ("EDGE_SE2 0 a 0 0 1 1 0 0 1 0 1\n", "line 1: node 'a' is not a whole number"),
        ("EDGE_SE2 0 " + "9" * 5000 + " 0 0 1 1 0 0 1 0 1\n", "is not a whole number"),
        ("EDGE2 0 1 0 0 1\n", "line 1: unknown tag 'EDGE2'"),
    ],
)
def test_errors_state_line_and_field(read_text, text, problem):
    with pytest.raises(DataFileError, match=problem) as caught:
        read_text(text, "g2o")
    assert_one_line(str(caught.value), "file.g2o")
