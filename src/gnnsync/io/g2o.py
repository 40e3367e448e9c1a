"""g2o: 2D pose graphs, whose rotations form a measurement graph."""

from __future__ import annotations

from typing import TextIO

import numpy as np

from gnnsync.angles import wrap
from gnnsync.errors import DataFileError
from gnnsync.graph import MeasurementGraph
from gnnsync.io.numbers import finite_number, is_natural
from gnnsync.io.source import Source, shorten
from gnnsync.io.table import node_names

# Lines without a relative rotation: landmarks, and the vertex that is held fixed.
_IGNORED = ("FIX", "VERTEX_XY", "EDGE_SE2_XY")
_FIELDS = {"VERTEX_SE2": ("x", "y", "theta"), "EDGE_SE2": ("dx", "dy", "dtheta")}
_INFORMATION = ("I11", "I12", "I13", "I22", "I23", "I33")
# Information about translations that are not measured. Not 0: readers such as GTSAM's refuse an
# information matrix with a zero on its diagonal.
_NO_INFORMATION = "1e-9"


def read_g2o(source: Source) -> MeasurementGraph:
    """Read `VERTEX_SE2 id x y θ` and `EDGE_SE2 i j dx dy dθ I11 I12 I13 I22 I23 I33`.

    An edge gives the pose of j seen from i, so that θ_j - θ_i = dθ: it is stored with src = j,
    dst = i and offset dθ. Its weight is I33, the information about dθ; if all I33 are 1, the graph
    has no weights. Vertices only declare nodes: their poses are initial guesses, not measurements.
    """
    number: dict[str, int] = {}
    src, dst, offset, weight = [], [], [], []
    for first_line, lines in source.blocks():
        for line, text in enumerate(lines, first_line):
            word = text.split()
            if not word or word[0] in _IGNORED or word[0].startswith("#"):
                continue
            if word[0] == "VERTEX_SE2":
                _numbers(source, line, word, 2, _FIELDS["VERTEX_SE2"])
                number.setdefault(_node(source, line, word[1]), len(number))
            elif word[0] == "EDGE_SE2":
                value = _numbers(source, line, word, 3, _FIELDS["EDGE_SE2"] + _INFORMATION)
                i, j = (_node(source, line, name) for name in word[1:3])
                if i == j:
                    raise source.error(f"an edge from node {i} to itself: remove it", line)
                if value[-1] <= 0:
                    raise source.error(f"I33 is {value[-1]:g}: must be greater than 0", line)
                src.append(number.setdefault(j, len(number)))
                dst.append(number.setdefault(i, len(number)))
                offset.append(value[2])
                weight.append(value[-1])
            else:
                raise source.error(_refusal(word[0]), line)
    if not offset:
        raise source.error("holds no EDGE_SE2")
    names, order = node_names(list(number))
    return MeasurementGraph(
        order[np.array([src, dst])],
        np.array(offset),
        len(order),
        weight=None if set(weight) == {1.0} else np.array(weight),
        node_names=names,
    )


def write_g2o(graph: MeasurementGraph, handle: TextIO) -> None:
    """Write a pose graph with rotations only: translations are 0, with negligible information.

    The angle of a vertex, an initial guess for the reader, is the true one if known (k = 1), else
    0.
    """
    names = graph.names
    if not all(isinstance(name, int) and name >= 0 for name in names):
        raise DataFileError("g2o names nodes by whole numbers from 0: write .csv or .npz instead")
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


def _node(source: Source, line: int, text: str) -> str:
    if not is_natural(text):
        raise source.error(f"node {shorten(text)} is not a whole number from 0", line)
    return str(int(text))


def _refusal(tag: str) -> str:
    if "SE3" in tag or "3D" in tag or tag in ("VERTEX3", "EDGE3", "VERTEX_TRACKXYZ"):
        return f"{shorten(tag)} is 3D: only 2D pose graphs (VERTEX_SE2, EDGE_SE2) can be read"
    return f"unknown tag {shorten(tag)}: 2D pose graphs have VERTEX_SE2 and EDGE_SE2"
