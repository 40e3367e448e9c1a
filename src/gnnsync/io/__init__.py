"""Read and write measurement and pose graphs, write solutions and figures, read point clouds.

Reading never executes anything: no pickles are loaded, and text is parsed in bounded memory.
"""

from gnnsync.io.distances.distance_file import as_distances, read_distances
from gnnsync.io.distances.position_file import write_distance_residuals, write_positions
from gnnsync.io.figure_file import write_figure
from gnnsync.io.graph_file import FORMATS, read, write
from gnnsync.io.nodes.points import read_points
from gnnsync.io.objects import as_graph
from gnnsync.io.poses.pose_file import read_poses, write_poses
from gnnsync.io.poses.pose_solution_file import write_pose_edges, write_pose_solution
from gnnsync.io.solution_file import write_edges, write_solution

__all__ = [
    "FORMATS",
    "as_distances",
    "as_graph",
    "read",
    "read_distances",
    "read_points",
    "read_poses",
    "write",
    "write_distance_residuals",
    "write_edges",
    "write_figure",
    "write_pose_edges",
    "write_pose_solution",
    "write_poses",
    "write_positions",
    "write_solution",
]
