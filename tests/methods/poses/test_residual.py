import numpy as np
import pytest

from gnnsync.methods.poses.residual import RelativePoses
from tests.methods.poses.worlds import manhattan


@pytest.fixture
def example():
    graph, truth = manhattan(40, 5, noise=(0.3, 0.3, 0.5), per_visit=1.0)
    rng = np.random.default_rng(0)
    root = rng.normal(size=(graph.num_edges, 3, 3))
    graph = graph.replace(information=root @ root.transpose(0, 2, 1))
    return graph, RelativePoses.of(graph), truth + rng.normal(size=truth.shape)


def test_jacobians_are_the_derivatives(example):
    _, edges, poses = example
    step = 1e-6 * np.random.default_rng(1).normal(size=poses.shape)
    change = (edges.residual(poses + step) - edges.residual(poses - step)) / 2
    start, end = edges.jacobians(poses)
    linear = (start @ step[edges.start, :, None] + end @ step[edges.end, :, None])[:, :, 0]
    assert change == pytest.approx(linear, abs=1e-11)


def test_cost_is_that_of_gtsam(example):
    gtsam = pytest.importorskip("gtsam")
    graph, edges, poses = example
    factors, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    for i, pose in enumerate(poses):
        values.insert(i, gtsam.Pose2(*pose))
    for e, (j, i) in enumerate(graph.rotations.edge_index.T.tolist()):
        noise = gtsam.noiseModel.Gaussian.Information(graph.information[e])
        measured = gtsam.Pose2(*graph.translation[e], graph.measured_heading[e])
        factors.add(gtsam.BetweenFactorPose2(i, j, measured, noise))
    assert edges.cost(poses) == pytest.approx(factors.error(values), rel=1e-9)


def test_small_angles_are_continuous(example):
    _, edges, poses = example
    poses = poses.copy()
    for delta in (0.0, 1e-9, 1.99e-4, 2.01e-4):
        poses[edges.end[0], 2] = poses[edges.start[0], 2] + edges.heading[0] + delta
        start, end = edges.jacobians(poses)
        assert np.isfinite(start).all()
        assert np.isfinite(end).all()
        assert edges.residual(poses)[0, 2] == pytest.approx(delta, abs=1e-12)


def test_singular_information_becomes_definite(example):
    graph, _, _ = example
    flat = graph.replace(information=np.tile(np.diag([1.0, 0.0, 4.0]), (graph.num_edges, 1, 1)))
    information = RelativePoses.of(flat).definite().information
    assert np.linalg.eigvalsh(information).min() > 0
    assert len(RelativePoses.of(flat).part(np.arange(3))) == 3


def test_negative_rounding_of_the_information_is_lifted(example):
    graph, _, _ = example
    rounded = np.array([[1.0, 1.0000005, 0.0], [1.0000005, 1.0, 0.0], [0.0, 0.0, 1.0]])
    information = graph.information.copy()
    information[0], information[1] = rounded, np.zeros((3, 3))
    lifted = RelativePoses.of(graph.replace(information=information)).definite().information
    assert np.linalg.eigvalsh(lifted).min() > 0
    assert np.isfinite(np.linalg.cholesky(lifted)).all()
    assert lifted[0] == pytest.approx(rounded, abs=1e-6)
    assert lifted[2:] == pytest.approx(graph.information[2:], rel=1e-9)
