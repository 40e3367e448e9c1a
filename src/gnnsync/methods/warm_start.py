"""Initial angles from an earlier solution: of the same graph, or of one with fewer measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnnsync.errors import ParameterError, check_array
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import Method
from gnnsync.solution import Solution
from gnnsync.typing import BoolArray, FloatArray, IntArray


def check_takes_start(method: Method) -> None:
    """Refuse a method that would not use initial angles."""
    if not getattr(method, "takes_start", False):
        name = getattr(method, "name", "") or type(method).__name__
        allowed = (
            f"left out with {name}; gpm, irls, transync, gnc, gnc_angles, belief and auto use it"
        )
        raise ParameterError("start", "given", allowed)


def as_start(graph: MeasurementGraph, k: int, start: Any) -> FloatArray:
    """Initial angles (n, k) of all nodes.

    Args:
        graph: the graph to solve.
        k: number of groups.
        start: a `Solution`, whose nodes are found by their names, or angles (n,) or (n, k) in
            radians, NaN where unknown. A node without an angle takes the mean of what its
            neighbours predict, those next to known ones first.
    """
    if isinstance(start, Solution):
        angles = _by_name(graph, start)
    else:
        try:
            given = np.atleast_1d(np.asarray(start, dtype=np.float64))
        except (TypeError, ValueError):
            raise ParameterError("start", start, "a Solution, or an array of angles") from None
        check_array("start", given[~np.isnan(given)])
        angles = given[:, None] if given.ndim == 1 else given
    if angles.shape != (graph.num_nodes, k):
        allowed = f"a Solution, or angles, of {graph.num_nodes} nodes and k = {k}"
        raise ParameterError("start", f"of shape {angles.shape}", allowed)
    if np.isnan(angles).all():
        raise ParameterError("start", "without an angle", "one of nodes that the graph has")
    return _completed(graph, angles)


def _by_name(graph: MeasurementGraph, start: Solution) -> FloatArray:
    """Angles (n, k) of a solution at the nodes of the same names, NaN elsewhere."""
    old = start.check_graph()
    if old is graph:
        return start.angles
    number = {name: i for i, name in enumerate(old.names)}
    place: IntArray = np.array([number.get(name, -1) for name in graph.names])
    return np.where(place[:, None] >= 0, start.angles[place], np.nan)


def _completed(graph: MeasurementGraph, angles: FloatArray) -> FloatArray:
    """The angles with each unknown one at the circular mean of its neighbours' predictions."""
    angles = angles.copy()
    src, dst = np.concatenate([graph.edge_index, graph.edge_index[::-1]], axis=1)
    offset = np.concatenate([graph.offset, -graph.offset])[:, None]
    weight = np.concatenate([graph.edge_weight, graph.edge_weight])[:, None]
    while True:
        unknown: BoolArray = np.asarray(np.isnan(angles).any(axis=1))
        usable = unknown[src] & ~unknown[dst]  # θ_src = θ_dst + offset
        if not usable.any():
            return np.nan_to_num(angles, nan=0.0)
        vote = weight[usable] * np.exp(1j * (angles[dst[usable]] + offset[usable]))
        total = np.zeros(angles.shape, dtype=np.complex128)
        np.add.at(total, src[usable], vote)
        reached = np.unique(src[usable])
        angles[reached] = np.angle(total[reached])
