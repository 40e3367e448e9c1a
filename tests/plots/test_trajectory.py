import numpy as np
import pytest
from matplotlib.collections import LineCollection

from gnnsync.errors import ParameterError
from gnnsync.plots.trajectory import trajectory_figure
from gnnsync.solve import solve_poses
from tests.methods.poses.worlds import manhattan


def test_trajectory_and_closures_are_drawn_apart():
    graph = manhattan(60, 1)[0].add_edges([3], [40], [[9.0, 9.0, 2.0]], 400 * np.eye(3)[None])
    solution = solve_poses(graph)
    axes = trajectory_figure(solution, graph).axes[0]
    lines = [part for part in axes.collections if isinstance(part, LineCollection)]
    closures = int(graph.closures.sum())
    assert [line.get_label() for line in lines] == [
        "rejected closures (1)",
        f"accepted closures ({closures - 1})",
        "trajectory (59)",
    ]
    assert solution.plot(graph).axes[0].get_title().startswith("60 poses")


def test_another_graph_is_refused_in_one_line():
    graph = manhattan(60, 1)[0]
    solution = solve_poses(graph)
    for other in (manhattan(30, 1)[0], graph.keep_edges([0, 1, 2]), graph.rotations, None):
        with pytest.raises(ParameterError, match=r"graph = .*: must be the .*that was solved") as e:
            solution.plot(other)
        assert len(str(e.value).splitlines()) == 1


def test_without_trusted_edges_the_legend_says_edges():
    graph = manhattan(60, 1)[0]
    graph = graph.replace(rotations=graph.rotations.replace(trusted=None))
    axes = trajectory_figure(solve_poses(graph, "spectral_rn"), graph).axes[0]
    labels = [part.get_label() for part in axes.collections if isinstance(part, LineCollection)]
    assert labels
    assert not any("closures" in label for label in labels)
