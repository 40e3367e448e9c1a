import numpy as np
from matplotlib.collections import LineCollection

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
