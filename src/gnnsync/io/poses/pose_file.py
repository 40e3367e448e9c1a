"""`read_poses` and `write_poses`: whole 2D pose graphs, in and out."""

from __future__ import annotations

import os
from dataclasses import replace

from gnnsync.errors import DataFileError, ParameterError, check_array, check_flags
from gnnsync.io.files import atomic_output
from gnnsync.io.graph_file import file_format, trust_edges
from gnnsync.io.input.source import Progress, Source
from gnnsync.io.poses.g2o import read_g2o_poses, write_g2o_poses
from gnnsync.pose_graph import PoseGraph
from gnnsync.typing import BoolArray, FloatArray


def read_poses(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    trust: str | None = None,
    progress: Progress | None = None,
) -> PoseGraph:
    """Read a 2D pose graph with translations, information matrices and initial poses.

    Args:
        path: a `.g2o` file, or `-` for standard input.
        format: `g2o`; by default the file's ending.
        trust: `odometry` (default) or `none`, as in `gnnsync.read`.
        progress: called with (bytes read, bytes in total).

    Raises:
        DataFileError: the file cannot be read; the message states file, line and field.
    """
    source = Source(path, progress)
    kind = file_format(source, format)
    if kind != "g2o":
        raise source.error(f"is {kind}, without positions: poses are read from .g2o")
    with source.named_errors():
        graph = read_g2o_poses(source)
    return replace(graph, rotations=trust_edges(graph.rotations, trust or "odometry"))


def write_poses(
    graph: PoseGraph,
    path: str | os.PathLike[str],
    *,
    poses: FloatArray | None = None,
    rejected: BoolArray | None = None,
) -> None:
    """Write a pose graph as `.g2o`, atomically; what `read_poses` reads again is the same graph.

    Args:
        graph: the pose graph, whose poses have whole numbers as names.
        path: a file that ends in `.g2o`.
        poses: (n, 3) finite poses of the vertices, instead of the initial ones.
        rejected: (m,) edges to write as comments, `# rejected: EDGE_SE2 ...`, which readers of
            g2o skip.
    """
    if file_format(Source(path), None) != "g2o":
        raise DataFileError(f"{path}: poses are written to a file that ends in .g2o")
    if not isinstance(graph, PoseGraph):
        raise ParameterError("graph", graph, "a PoseGraph; gnnsync.write takes a MeasurementGraph")
    if poses is not None:
        poses = check_array("poses", poses, (graph.num_poses, 3))
    if rejected is not None:
        rejected = check_flags("rejected", rejected, graph.num_edges)
    with atomic_output(path) as handle:
        write_g2o_poses(graph, handle, poses=poses, rejected=rejected)
