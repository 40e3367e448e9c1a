import numpy as np
import pytest

from gnnsync import MeasurementGraph, PoseGraph
from gnnsync.errors import GraphError
from gnnsync.pose_graph import odometry_edges, rotate, summarize_poses
from gnnsync.solve import solve_poses
from tests.methods.poses.worlds import manhattan


def small(**changes):
    rotations = MeasurementGraph([[1, 2], [0, 1]], [0.3, -0.5], 3)
    given = {"translation": np.ones((2, 2)), "information": np.tile(np.eye(3), (2, 1, 1))}
    return PoseGraph(rotations, **(given | changes))


def test_fields_are_checked_copied_and_read_only():
    graph = small()
    assert repr(graph) == "PoseGraph(poses=3, edges=2, trusted=0)"
    assert graph.measured_heading == pytest.approx([0.3, -0.5])
    assert not graph.translation.flags.writeable
    assert small(heading=[0.3, -0.5 - 2 * np.pi]).measured_heading[1] < -6


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"translation": np.ones((3, 2))}, r"translation has shape \(3, 2\)"),
        ({"translation": np.full((2, 2), np.nan)}, "translation.* must be finite"),
        ({"information": np.tile(np.diag([1, 1, -1.0]), (2, 1, 1))}, r"information\[0\]"),
        ({"information": np.triu(np.ones((2, 3, 3)))}, r"information\[0\]"),
        ({"translation": [[1, 1], [1, 1e300]]}, r"translation\[1, 1\] is 1e\+300: must be at most"),
        ({"information": np.full((2, 3, 3), 1e300)}, r"information\[0, 0, 0\] is 1e\+300"),
        ({"initial": np.full((3, 3), -1e200)}, r"initial\[0, 0\] is -1e\+200"),
        ({"heading": [0.3, 0.5]}, r"heading\[1\] is 0.5 .* must agree"),
        ({"initial": np.zeros((2, 3))}, "initial has shape"),
        ({"initial": [[0, 0, np.nan], [0, 0, 0], [0, 0, 0]]}, "initial is NaN in a part"),
        ({"fixed": (7,)}, "fixed has 7"),
    ],
)
def test_bad_fields_are_refused(changes, problem):
    with pytest.raises(GraphError, match=problem):
        small(**changes)


def test_edges_are_kept_and_added():
    graph = manhattan(60, 1)[0]
    closures = graph.closures
    assert graph.keep_edges(~closures).num_edges == 59
    more = graph.add_edges([3], [50], [[0.1, 0.2, 0.3]], np.eye(3)[None])
    assert more.num_edges == graph.num_edges + 1
    assert more.closures[-1]
    assert more.rotations.src[-1] == 50
    assert more.rotations.weight[-1] == 1.0
    assert np.array_equal(more.keep_edges(np.arange(graph.num_edges)).heading, graph.heading)


def test_odometry_is_between_consecutive_whole_numbers_and_the_first_of_several():
    names = (7, 5, 6, "8", True)
    edges = [(5, 6), (6, 5), (7, 6), (7, "8"), (5, 7), (True, 5)]
    src, dst = zip(*edges, strict=True)
    graph = MeasurementGraph.from_edges(src, dst, np.zeros(6), node_names=names)
    assert odometry_edges(graph).tolist() == [True, False, True, False, False, False]
    huge = MeasurementGraph.from_edges([10**30], [10**30 + 1], [0.0])
    assert not odometry_edges(huge).any()


def test_error_vanishes_at_the_truth_and_says_where_it_is_off():
    graph, truth = manhattan(50, 2, noise=(0, 0, 0))
    assert np.abs(graph.error(truth)).max() < 1e-12
    moved = graph.replace(translation=graph.translation + np.array([0.5, 0.0]))
    off = rotate(-graph.measured_heading, np.tile([-0.5, 0.0], (graph.num_edges, 1)))
    assert moved.error(truth)[:, :2] == pytest.approx(off, abs=1e-12)


def test_summary_counts():
    graph = manhattan(80, 3)[0]
    solution = solve_poses(graph)
    summary = summarize_poses(graph, solution)
    assert summary["trusted"] == 79
    assert summary["closures_accepted"] + summary["closures_rejected"] == graph.closures.sum()
    assert "PoseSolution(poses=80" in repr(solution)
