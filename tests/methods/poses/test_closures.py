import numpy as np
import pytest

from gnnsync.data.false_closures import add_false_closures
from gnnsync.methods.poses.solver import solve_pose_graph
from tests.methods.poses.worlds import manhattan


@pytest.mark.parametrize("kind", ["random", "local", "grouped", "random_grouped"])
@pytest.mark.parametrize("seed", [0, 1])
def test_false_closures_are_found(kind, seed):
    clean, _ = manhattan(300, seed)
    rng = np.random.default_rng(seed)
    graph, false = add_false_closures(clean, 60, kind, rng)
    solution = solve_pose_graph(graph)
    true = graph.closures & ~false
    assert (true & ~solution.accepted).sum() <= 0.03 * true.sum()
    # A false closure near its truth is one that the noise explains.
    bent = false & solution.accepted
    assert bent.sum() <= 2
    assert solution.accepted[~graph.closures].all()


def test_a_closure_that_fits_in_heading_only_is_rejected():
    clean, truth = manhattan(200, 3)
    rotations = clean.rotations
    start, end = 20, 150
    turn = truth[end, 2] - truth[start, 2]
    graph = clean.add_edges([start], [end], [[0.0, 0.0, turn]], clean.information[:1])
    apart = np.linalg.norm(truth[end, :2] - truth[start, :2])
    assert apart > 2
    solution = solve_pose_graph(graph)
    assert solution.accepted[: rotations.num_edges].all()
    assert not solution.accepted[-1]
    assert solution.edge_confidence[-1] < 0.01


@pytest.mark.parametrize(("stated", "tolerance"), [(0.1, 0.3), (1.0, 0.3), (5.0, 0.3)])
def test_the_scale_of_the_information_is_estimated(stated, tolerance):
    graph, _ = manhattan(600, 4, per_visit=1.0)
    wrong = graph.replace(information=graph.information * stated**2)
    solution = solve_pose_graph(wrong)
    assert solution.accepted.all()
    scale = np.sqrt(solution.information_scale) * stated
    assert scale == pytest.approx([1, 1], rel=tolerance)


def test_odometry_that_all_closures_contradict_is_let_go():
    graph, truth = manhattan(300, 5, per_visit=1.0)
    translation = graph.translation.copy()
    translation[150] += [0.0, 6.0]
    bad = graph.replace(translation=translation)
    solution = solve_pose_graph(bad)
    assert not solution.accepted[150]
    assert solution.edge_confidence[150] < 0.5
    assert solution.accepted.sum() >= graph.num_edges - 3
    assert np.abs(solution.poses - truth)[:, :2].max() < 1.5
