import numpy as np
import pytest

from gnnsync.angles import circular_distance, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import SpectralRN
from gnnsync.methods.poses import solve_pose_graph, trusted_connect
from gnnsync.pose_graph import PoseGraph, rotate
from tests.methods.poses.worlds import manhattan


def spectral(rotations):
    return SpectralRN()(rotations)


@pytest.mark.parametrize("headings", [None, spectral])
def test_exact_measurements_give_exact_poses(headings):
    graph, truth = manhattan(80, 1, noise=(0, 0, 0))
    solution = solve_pose_graph(graph, headings)
    assert np.abs(solution.poses[:, :2] - truth[:, :2]).max() < 1e-8
    assert circular_distance(solution.poses[:, 2], truth[:, 2]).max() < 1e-9
    assert solution.accepted.all()
    assert solution.cost < 1e-12
    assert solution.converged


def test_without_trusted_edges_the_headings_start():
    graph, _ = manhattan(120, 2, per_visit=1.0)
    free = graph.replace(rotations=graph.rotations.replace(trusted=None))
    assert trusted_connect(graph)
    assert not trusted_connect(free)
    solution = solve_pose_graph(free, spectral)
    assert solution.cost == pytest.approx(solve_pose_graph(graph).cost, rel=1e-6)


def test_the_pose_that_is_held_keeps_its_place_and_the_rest_follows():
    graph, _ = manhattan(60, 3)
    plain = solve_pose_graph(graph)
    assert plain.poses[0].tolist() == [0, 0, 0]
    initial = np.full((60, 3), np.nan)
    initial[7] = [5.0, -3.0, 2.0]
    moved = solve_pose_graph(graph.replace(initial=initial, fixed=(7,)))
    assert moved.poses[7] == pytest.approx([5, -3, 2])
    assert moved.cost == pytest.approx(plain.cost)
    turn = moved.poses[0, 2] - plain.poses[0, 2]
    expected = rotate(np.full(60, turn), plain.poses[:, :2]) + moved.poses[0, :2]
    assert moved.poses[:, :2] == pytest.approx(expected, abs=1e-4)


def test_reversed_measurements_mean_the_same():
    """The inverse of a relative pose, with its information carried over, has the same cost."""
    graph, _ = manhattan(50, 4, per_visit=1.0)
    step = -rotate(-graph.measured_heading, graph.translation)
    c, s = np.cos(graph.measured_heading), np.sin(graph.measured_heading)
    adjoint = np.zeros((graph.num_edges, 3, 3))
    # -r of the inverse is Ad(z) r: a rotation by the heading, and a lever.
    adjoint[:, 0, 0], adjoint[:, 0, 1], adjoint[:, 1, 0], adjoint[:, 1, 1] = c, -s, s, c
    adjoint[:, 0, 2], adjoint[:, 1, 2] = graph.translation[:, 1], -graph.translation[:, 0]
    adjoint[:, 2, 2] = 1.0
    inverse = np.linalg.inv(adjoint)
    rotations = graph.rotations
    back = PoseGraph(
        rotations.replace(edge_index=rotations.edge_index[::-1], offset=-rotations.offset),
        step,
        inverse.transpose(0, 2, 1) @ graph.information @ inverse,
    )
    one, other = solve_pose_graph(graph), solve_pose_graph(back)
    assert other.cost == pytest.approx(one.cost, rel=1e-6)
    assert other.poses == pytest.approx(one.poses, abs=1e-4)


def test_components_are_solved_apart_and_lonely_poses_stay():
    graph, truth = manhattan(40, 5, noise=(0, 0, 0))
    n, rotations = 40, graph.rotations
    twice = MeasurementGraph(
        np.concatenate([rotations.edge_index, rotations.edge_index + n], axis=1),
        np.tile(rotations.offset, 2),
        2 * n + 1,
        trusted=np.tile(rotations.trusted, 2),
    )
    both = PoseGraph(
        twice, np.tile(graph.translation, (2, 1)), np.tile(graph.information, (2, 1, 1))
    )
    solution = solve_pose_graph(both)
    for part in (solution.poses[:n], solution.poses[n : 2 * n]):
        assert part[:, :2] == pytest.approx(truth[:, :2], abs=1e-8)
        assert np.abs(wrap(part[:, 2] - truth[:, 2])).max() < 1e-9
    assert solution.poses[-1].tolist() == [0, 0, 0]


def test_a_chain_without_closures_is_its_odometry():
    graph, _ = manhattan(30, 6, per_visit=0.0)
    solution = solve_pose_graph(graph)
    assert solution.accepted.all()
    assert solution.cost < 1e-12


def test_the_same_seed_gives_the_same_poses():
    graph = manhattan(100, 7)[0]
    one, other = solve_pose_graph(graph, seed=3), solve_pose_graph(graph, seed=3)
    assert np.array_equal(one.poses, other.poses)
    assert np.array_equal(one.edge_confidence, other.edge_confidence)


def test_the_clean_optimum_is_that_of_gtsam():
    gtsam = pytest.importorskip("gtsam")
    graph, truth = manhattan(300, 8, per_visit=1.0)
    factors, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    for i, pose in enumerate(truth):
        values.insert(i, gtsam.Pose2(*pose))
    for e, (j, i) in enumerate(graph.rotations.edge_index.T.tolist()):
        noise = gtsam.noiseModel.Gaussian.Information(graph.information[e])
        measured = gtsam.Pose2(*graph.translation[e], graph.measured_heading[e])
        factors.add(gtsam.BetweenFactorPose2(i, j, measured, noise))
    held = gtsam.noiseModel.Isotropic.Sigma(3, 1e-3)
    factors.add(gtsam.PriorFactorPose2(0, gtsam.Pose2(*truth[0]), held))
    best = factors.error(gtsam.LevenbergMarquardtOptimizer(factors, values).optimize())
    solution = solve_pose_graph(graph)
    assert solution.accepted.all()
    assert solution.cost == pytest.approx(best, rel=1e-4)
