"""Trees of odometry, and which graphs are pose graphs."""

from __future__ import annotations

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.closures.problem import ClosureProblem, is_pose_graph
from tests.methods.pose_chains import laps


def test_steps_count_the_poses_of_a_trajectory() -> None:
    graph, _ = laps(laps=2)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    np.testing.assert_array_equal(problem.steps, np.arange(graph.num_nodes))
    np.testing.assert_array_equal(problem.closures, np.flatnonzero(~graph.edge_trusted))
    assert graph.edge_trusted[problem.tree].all()


def test_the_start_fits_the_odometry_and_loses_its_drift() -> None:
    graph, _ = laps(laps=2, drift=0.01)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    assert np.abs(problem.residual(problem.start())[problem.tree]).max() < 1e-9
    moved = problem.without_drift(-0.01)
    step = moved.offset - problem.offset
    assert np.allclose(np.abs(step[problem.trusted]), 0.01)
    assert (step[~problem.trusted] == 0).all()


def test_outlier_shares_follow_the_neighbours() -> None:
    graph, _ = laps(laps=8, closures=400)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    early = graph.edge_index[:, problem.closures].max(axis=0) < graph.num_nodes // 2
    share = problem.outlier_share(early.astype(float))
    assert share.min() >= 0.01
    assert share.max() <= 0.98
    assert share[early].mean() < 0.3
    assert share[~early].mean() > 0.7


def test_pose_graphs_are_recognised() -> None:
    graph, _ = laps()
    assert is_pose_graph(graph)
    assert not is_pose_graph(graph.replace(trusted=None))
    few = graph.edge_trusted & (np.arange(graph.num_edges) % 2 == 0)
    assert not is_pose_graph(graph.replace(trusted=few))
    src, dst = np.triu_indices(40, 1)
    ring = np.abs(src - dst) == 1
    dense = MeasurementGraph(np.stack([src, dst]), np.zeros(len(src)), 40, trusted=ring)
    assert not is_pose_graph(dense)
