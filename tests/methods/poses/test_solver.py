import logging

import numpy as np
import pytest

from gnnsync.angles import circular_distance, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import SpectralRN
from gnnsync.methods.poses import solve_pose_graph, trusted_connect
from gnnsync.pose_graph import PoseGraph, rotate
from tests.methods.poses.worlds import manhattan, measured


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


def chain(*edges, trusted, scale=1.0):
    """The pose graph of edges (i, j, dx, dy, dθ), all of information `scale`."""
    start, end, *pose = np.array(edges, dtype=float).T
    index = np.stack([end, start]).astype(int)
    rotations = MeasurementGraph(index, pose[2], index.max() + 1, trusted=np.array(trusted))
    information = np.tile(scale * np.eye(3), (len(edges), 1, 1))
    return PoseGraph(rotations, np.column_stack(pose[:2]), information)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
def test_a_measurement_that_nothing_checks_is_unknown_unless_trusted(scale):
    loop = [(0, 1, 1, 0, 0), (1, 2, 1, 0, 0), (0, 2, 2, 0, 0)]
    trusted = [True, True, False, True, False]
    graph = chain(*loop, (2, 3, 1, 0, 0), (3, 4, 1, 0, 0), trusted=trusted, scale=scale)
    solution = solve_pose_graph(graph, spectral)
    assert solution.edge_confidence[3:] == pytest.approx([0.999, np.nan], nan_ok=True)
    assert (solution.edge_confidence[:3] > 0.5).all()
    assert solution.accepted.all()
    single = solve_pose_graph(chain(loop[0], trusted=[True], scale=scale))
    assert single.edge_confidence == pytest.approx([0.999])


@pytest.mark.parametrize("trust", [True, False])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_consistent_closures_are_accepted_whatever_the_noise(trust, scale):
    quarter = np.pi / 2
    square = chain(
        *((k, (k + 1) % 4, 1, 0, quarter) for k in range(4)),
        trusted=[trust] * 3 + [False],
        scale=scale,
    )
    line = chain(
        *((0, 1, 1, 0, 0), (1, 2, 1, 0, 0), (0, 2, 2, 0, 0)),
        trusted=[trust] * 2 + [False],
        scale=scale,
    )
    for graph in (square, line):
        solution = solve_pose_graph(graph, None if trust else spectral)
        assert solution.accepted.all()
        assert (solution.edge_confidence > 0.5).all()


def test_information_that_rounding_made_indefinite_is_solved():
    edges = [(0, 1, 1, 0, 0), (1, 2, 1, 0, 0), (0, 2, 2, 0, 0)]
    graph = chain(*edges, trusted=[True, True, False])
    information = graph.information.copy()
    information[0, 0, 1] = information[0, 1, 0] = 1.0000005
    solution = solve_pose_graph(graph.replace(information=information))
    assert solution.poses == pytest.approx(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), abs=1e-6)


def test_what_is_not_accepted_has_a_confidence_below_one_half():
    graph, _ = manhattan(150, 9, per_visit=1.0)
    rng = np.random.default_rng(0)
    start, end = np.arange(0, 40), np.arange(100, 140)
    false = rng.normal(size=(40, 3)) * np.array([5.0, 5.0, 2.0])
    more = graph.add_edges(start, end, false, np.tile(graph.information[0], (40, 1, 1)))
    solution = solve_pose_graph(more)
    assert not solution.accepted.all()
    assert np.array_equal(solution.accepted, solution.edge_confidence >= 0.5)


def test_a_second_fixed_pose_of_a_component_is_reported(caplog):
    caplog.set_level(logging.WARNING, logger="gnnsync.methods.poses")
    graph = manhattan(20, 3)[0]
    solve_pose_graph(graph.replace(fixed=(4, 4)))
    assert not caplog.records
    solve_pose_graph(graph.replace(fixed=(4, 7, 9)))
    assert [record.getMessage().split(" (")[0] for record in caplog.records] == [
        "not held fixed: pose 7, 9"
    ]


def test_exact_measurements_none_of_them_trusted_are_all_accepted():
    rng = np.random.default_rng(5)
    for _ in range(10):
        poses = np.column_stack([3 * rng.normal(size=(8, 2)), rng.uniform(-3, 3, 8)])
        start, end = np.array([*range(7), 6]), np.array([*range(1, 8), 3])
        graph = measured(poses, start, end, rng, (0, 0, 0))
        free = graph.replace(rotations=graph.rotations.replace(trusted=None))
        assert solve_pose_graph(free, spectral).accepted.all()
