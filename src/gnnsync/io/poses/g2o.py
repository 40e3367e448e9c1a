"""g2o: 2D pose graphs, whole or as the measurement graph of their rotations."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np

from gnnsync.angles import wrap
from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.input.numbers import finite_number, is_natural
from gnnsync.io.input.source import Source, shorten
from gnnsync.io.tables.table import node_names
from gnnsync.pose_graph import PoseGraph, indefinite, odometry_edges
from gnnsync.typing import BoolArray, FloatArray

log = logging.getLogger(__name__)

# Before an edge that is written as a comment.
REJECTED = "# rejected:"

# Lines on landmarks, which are not poses.
_LANDMARKS = ("VERTEX_XY", "EDGE_SE2_XY")
_FIELDS = {"VERTEX_SE2": ("x", "y", "theta"), "EDGE_SE2": ("dx", "dy", "dtheta")}
_INFORMATION = ("I11", "I12", "I13", "I22", "I23", "I33")
# Places of the six stated entries in the 3 × 3 matrix, row by row.
_FULL = [0, 1, 2, 1, 3, 4, 2, 4, 5]
_UPPER = np.triu_indices(3)
# Information about translations that are not measured. Not 0: readers such as GTSAM's refuse an
# information matrix with a zero on its diagonal.
_NO_INFORMATION = "1e-9"


def read_g2o(source: Source) -> MeasurementGraph:
    """Read the rotations of a pose graph as a measurement graph, nodes sorted by their number.

    The weight of an edge is I33, the information about dθ; if all I33 are 1, the graph has no
    weights. Vertices only declare nodes: their poses are initial guesses, not measurements.
    """
    graph = read_g2o_poses(source).rotations
    names, order = node_names([str(name) for name in graph.names])
    return graph.replace(edge_index=order[graph.edge_index], node_names=names)


def read_g2o_poses(source: Source) -> PoseGraph:
    """Read `VERTEX_SE2 id x y θ`, `EDGE_SE2 i j dx dy dθ I11 I12 I13 I22 I23 I33` and `FIX id`.

    An edge gives the pose of j seen from i, so that θ_j - θ_i = dθ: it is stored with src = j,
    dst = i and offset dθ. Poses are numbered in the order of the file.
    """
    lines = _Lines()
    for first_line, block in source.blocks():
        for line, text in enumerate(block, first_line):
            lines.add(source, line, text.split())
    if not lines.edges:
        raise source.error("holds no EDGE_SE2")
    if lines.landmarks:
        log.info("%s: %d lines on landmarks are left out", source.name, lines.landmarks)
    return lines.pose_graph(source)


@dataclass
class _Lines:
    """What was read so far."""

    number: dict[int, int] = field(default_factory=dict)
    poses: dict[int, list[float]] = field(default_factory=dict)
    edges: list[list[float]] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    fixed: list[tuple[int, int]] = field(default_factory=list)
    landmarks: int = 0

    def add(self, source: Source, line: int, word: list[str]) -> None:
        if not word or word[0].startswith("#"):
            return
        if word[0] == "VERTEX_SE2":
            pose = _numbers(source, line, word, 2, _FIELDS["VERTEX_SE2"])
            node = _node(source, line, word[1])
            first = self.poses.setdefault(self._number(node), pose)
            if pose != first:
                raise source.error(
                    f"VERTEX_SE2 {node} is {_digits(pose)}, on an earlier line {_digits(first)}: "
                    "remove one of them",
                    line,
                )
        elif word[0] == "EDGE_SE2":
            value = _numbers(source, line, word, 3, _FIELDS["EDGE_SE2"] + _INFORMATION)
            i, j = (_node(source, line, name) for name in word[1:3])
            if i == j:
                raise source.error(f"an edge from node {i} to itself: remove it", line)
            if value[-1] <= 0:
                raise source.error(f"I33 is {value[-1]:g}: must be greater than 0", line)
            self.ends.append((self._number(i), self._number(j)))
            self.edges.append(value)
            self.line.append(line)
        elif word[0] == "FIX":
            self.fixed += [(_node(source, line, name), line) for name in word[1:]]
        elif word[0] in _LANDMARKS:
            self.landmarks += 1
        else:
            raise source.error(_refusal(word[0]), line)

    def _number(self, node: int) -> int:
        return self.number.setdefault(node, len(self.number))

    def pose_graph(self, source: Source) -> PoseGraph:
        n = len(self.number)
        value = np.array(self.edges)
        information = value[:, 3:][:, _FULL].reshape(-1, 3, 3)
        wrong = indefinite(information)
        if wrong is not None:
            text = " ".join(f"{entry:g}" for entry in value[wrong, 3:])
            raise source.error(
                f"information {text}: must be positive semidefinite", self.line[wrong]
            )
        initial = np.full((n, 3), np.nan)
        if self.poses:
            initial[list(self.poses)] = list(self.poses.values())
        # The pose that is held fixed may be a landmark, which is left out.
        fixed = [name for name, _ in self.fixed if name in self.number]
        names, weight = tuple(self.number), value[:, -1]
        start, end = np.array(self.ends).T
        rotations = MeasurementGraph(
            np.stack([end, start]),
            value[:, 2],
            n,
            weight=None if (weight == 1.0).all() else weight,
            node_names=None if names == tuple(range(n)) else names,
        )
        return PoseGraph(
            rotations,
            value[:, :2],
            information,
            heading=value[:, 2],
            initial=initial if self.poses else None,
            fixed=tuple(fixed),
        )


def write_g2o_poses(
    graph: PoseGraph,
    handle: TextIO,
    *,
    poses: FloatArray | None = None,
    rejected: BoolArray | None = None,
) -> None:
    """Write vertices, edges and fixed poses with all their digits.

    Args:
        graph: the pose graph, whose poses have whole numbers as names.
        handle: where to.
        poses: (n, 3) poses to write instead of the initial ones.
        rejected: (m,) edges to write as comments, `# rejected: EDGE_SE2 ...`, after all others.
    """
    names = _whole_names(graph.rotations)
    vertices = graph.initial if poses is None else poses
    if vertices is not None:
        for name, pose in zip(names, vertices.tolist(), strict=True):
            if pose[0] == pose[0]:  # not NaN: the pose has a vertex
                handle.write(f"VERTEX_SE2 {name} {_digits(pose)}\n")
    rows, columns = _UPPER
    values = np.column_stack(
        [graph.translation, graph.measured_heading, graph.information[:, rows, columns]]
    )
    marked: list[str] = []
    rotations = graph.rotations
    for e, (j, i) in enumerate(rotations.edge_index.T.tolist()):
        text = f"EDGE_SE2 {names[i]} {names[j]} {_digits(values[e].tolist())}\n"
        if rejected is not None and rejected[e]:
            marked.append(f"{REJECTED} {text}")
        else:
            handle.write(text)
    handle.writelines(marked)
    # Last: gtsam.readG2o finds no edges after a FIX line.
    handle.writelines(f"FIX {name}\n" for name in graph.fixed)


def write_g2o(graph: MeasurementGraph, handle: TextIO) -> None:
    """Write a pose graph with rotations only: translations are 0, with negligible information.

    The angle of a vertex, an initial guess for the reader, is the true one if known (k = 1), else
    0.
    """
    names = _whole_names(graph)
    trusted = graph.edge_trusted
    if trusted.any() and (trusted != odometry_edges(graph)).any():
        raise DataFileError(".g2o cannot hold trusted: write .csv or .npz, or replace it by None")
    if graph.angles is not None and graph.angles.shape[1] == 1:
        guess = wrap(graph.angles[:, 0]).tolist()
    else:
        guess = [0.0] * graph.num_nodes
    for name, theta in zip(names, guess, strict=True):
        handle.write(f"VERTEX_SE2 {name} 0 0 {theta!r}\n")
    edges = zip(
        graph.src.tolist(),
        graph.dst.tolist(),
        wrap(graph.offset).tolist(),
        graph.edge_weight.tolist(),
        strict=True,
    )
    none = _NO_INFORMATION
    for i, j, offset, weight in edges:
        information = f"{none} 0 0 {none} 0 {weight!r}"
        handle.write(f"EDGE_SE2 {names[j]} {names[i]} 0 0 {offset!r} {information}\n")


def _numbers(
    source: Source, line: int, word: list[str], start: int, fields: tuple[str, ...]
) -> list[float]:
    if len(word) != start + len(fields):
        raise source.error(
            f"{word[0]} with {len(word) - 1} fields: must have {start - 1 + len(fields)}", line
        )
    named = zip(fields, word[start:], strict=True)
    return [finite_number(source, line, name, text) for name, text in named]


def _node(source: Source, line: int, text: str) -> int:
    if not is_natural(text):
        raise source.error(f"node {shorten(text)} is not a whole number from 0", line)
    return int(text)


def _whole_names(graph: MeasurementGraph) -> Sequence[Hashable]:
    if not all(isinstance(name, int) and name >= 0 for name in graph.names):
        raise DataFileError("g2o names nodes by whole numbers from 0: write .csv or .npz instead")
    return graph.names


def _digits(values: list[float]) -> str:
    """Shortest text that gives back exactly these numbers; whole numbers without a point."""
    return " ".join(repr(value).removesuffix(".0") for value in values)


def _refusal(tag: str) -> str:
    if "SE3" in tag or "3D" in tag or tag in ("VERTEX3", "EDGE3", "VERTEX_TRACKXYZ"):
        return f"{shorten(tag)} is 3D: only 2D pose graphs (VERTEX_SE2, EDGE_SE2) can be read"
    return f"unknown tag {shorten(tag)}: 2D pose graphs have VERTEX_SE2 and EDGE_SE2"
