"""Any method with some angles held: the wrapper that `gnnsync.solve(..., anchors=...)` uses."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.anchors import Anchors, GivenAnchors, anchored
from gnnsync.angles import reduce_angle
from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import gauss_newton_step
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.linalg.propagation import angle_variance
from gnnsync.methods.anchoring.contraction import REFERENCE, contract
from gnnsync.methods.anchoring.contradiction import Contradiction, find_contradictions
from gnnsync.methods.base import Method
from gnnsync.solution import Solution
from gnnsync.topology import component_labels, numbered_by_appearance
from gnnsync.typing import FloatArray, IntArray
from gnnsync.units import RADIANS, Unit

# Gauss-Newton steps that move the neighbours of anchors of k > 1 groups, and their accuracy.
_STEPS, _SOLVE_STEPS = 5, 200
# Contradictions that a warning names.
_MOST_NAMED = 5


class AnchorWarning(UserWarning):
    """Known angles contradict the measurements."""


@dataclass(frozen=True)
class Anchored:
    """A method that holds known angles exactly; made by `gnnsync.solve(..., anchors=...)`.

    A method with a field `anchors` of its own gets them. Any other method solves, for k = 1, the
    graph in which all anchors are one node (`contraction`). For k > 1 trusted edges between the
    anchors are added, the groups found are matched with those of the anchors and rotated to
    them, and the other angles are fitted to the anchors by least squares within their group.

    Components with anchors are comparable: they share their number in `Solution.component`. An
    `AnchorWarning` names anchors whose difference the measurements contradict.

    Args:
        method: the method.
        anchors: the known angles.
        unit: of the angles in warnings.
    """

    method: Method
    anchors: Anchors
    unit: Unit = RADIANS

    @property
    def name(self) -> str:
        """Name of the method."""
        return str(getattr(self.method, "name", type(self.method).__name__))

    @property
    def any_k(self) -> bool:
        """Whether the method solves k > 1."""
        return bool(getattr(self.method, "any_k", False))

    @property
    def stops_early(self) -> bool:
        """Whether the method can be given a time limit."""
        return bool(getattr(self.method, "stops_early", False))

    @property
    def takes_start(self) -> bool:
        """Whether the method can begin with given angles."""
        return bool(getattr(self.method, "takes_start", False))

    def __call__(
        self,
        graph: MeasurementGraph,
        k: int = 1,
        *,
        seed: int = 0,
        start: FloatArray | None = None,
    ) -> Solution:
        """Estimate the other angles; from `start` (n, k) if given."""
        began = time.perf_counter()
        known = self.anchors(graph, check_integer("k", k, 1))
        if known is None:
            return _started(self.method, start)(graph, k, seed=seed)
        known = reduce_angle(known)
        if takes_anchors(self.method):
            # Not `replace(self.method, ...)`: its type is any dataclass with this field.
            changed: Any = replace(self.method, anchors=GivenAnchors(known))  # type: ignore[type-var]
            found = changed(graph, k, seed=seed)
        elif k == 1:
            found = _contracted(self.method, graph, known, seed, start)
        else:
            found = _joined(_started(self.method, start), graph, k, known, seed)
        angles = np.where(np.isfinite(known), known, found.angles)
        held = np.isfinite(known).any(axis=1)
        contradictions = _all_contradictions(graph, known, angles, found)
        if contradictions:
            warnings.warn(_text(graph, contradictions, self.unit), AnchorWarning, stacklevel=2)
        return found.replace(
            angles=angles,
            component=_merged(graph, held),
            seconds=time.perf_counter() - began,
            diagnostics=found.diagnostics
            | {"anchors": float(held.sum()), "anchors_contradicted": float(len(contradictions))},
        )


def takes_anchors(method: Method) -> bool:
    """Whether a method has a field for anchors, as the learned ones do."""
    return is_dataclass(method) and any(field.name == "anchors" for field in fields(method))


def _started(method: Method, start: FloatArray | None) -> Method:
    """The method with these initial angles."""
    warm: Any = method  # the protocol of all methods has no start
    return method if start is None else partial(warm, start=start)


def _contracted(
    method: Method,
    graph: MeasurementGraph,
    known: FloatArray,
    seed: int,
    start: FloatArray | None,
) -> Solution:
    """The solution for k = 1 by the graph in which all anchors are one node."""
    small = contract(graph, known[:, 0])
    if small.graph.num_nodes == 1:
        return Solution.from_angles(graph, known, stop_reason="all angles are known")
    if start is not None:
        start = small.reduce(anchored(start, known)[:, 0])[:, None]
    found = _started(method, start)(small.graph, 1, seed=seed)
    angles = small.expand(found.angles[:, 0])
    # What a method without its own confidences states, for measurements between anchors.
    plain = Solution.from_angles(graph, angles)
    confidence, held = plain.edge_confidence.copy(), np.isfinite(known[:, 0])
    confidence[small.edges] = found.edge_confidence
    changes: dict[str, Any] = {"edge_confidence": confidence, "node_confidence": None}
    if found.node_confidence is not None:
        changes["node_confidence"] = np.where(held, 1.0, found.node_confidence[small.node])
    if found.edge_precision is not None:
        # Relative to the anchors, which are one node of the small graph.
        held = np.arange(small.graph.num_nodes) == REFERENCE
        own = found.edge_precision[:, 0]
        variance = angle_variance(small.graph, own, np.random.default_rng(seed), held)
        precision = np.zeros((graph.num_edges, 1))
        precision[small.edges, 0] = own
        changes["edge_precision"] = precision
        changes["node_deviation"] = np.sqrt(variance)[small.node, None]
    return plain.replace(**changes, **_ending(found))


def _joined(
    method: Method, graph: MeasurementGraph, k: int, known: FloatArray, seed: int
) -> Solution:
    """The solution for k > 1 by trusted edges between anchors, rotation and least squares."""
    star = _star(known)
    found = method(_with_trusted(graph, star), k, seed=seed)
    m = graph.num_edges
    held = np.isfinite(known).any(axis=1)
    reached = _merged(graph, held)
    angles = found.angles.copy()
    part = reached == reached[np.flatnonzero(held)[0]]
    angles[part] = anchored(found.angles[part], known[part])
    confidence = found.edge_confidence[:m]
    own = Solution.from_angles(graph, angles, edge_confidence=confidence)
    for group in range(k):
        column = known[:, group]
        if np.isfinite(column).any():
            believed = np.nan_to_num(confidence, nan=1.0) * (own.edge_group == group)
            angles[:, group] = _fitted(graph, column, angles[:, group], believed)
    return Solution.from_angles(
        graph,
        angles,
        edge_confidence=confidence,
        node_confidence=found.node_confidence,
        node_deviation=found.node_deviation,
        **_ending(found),
    )


def _ending(found: Solution) -> dict[str, Any]:
    """How the method ended, for a solution made from that of another graph."""
    kept = ("converged", "iterations", "stop_reason", "diagnostics")
    return {name: getattr(found, name) for name in kept}


def _star(known: FloatArray) -> list[tuple[int, int, float]]:
    """Edges (anchor, hub, difference), one per group of which both angles are known."""
    given = np.isfinite(known)
    hub = int(given.sum(axis=1).argmax())
    nodes = [node for node in np.flatnonzero(given.any(axis=1)).tolist() if node != hub]
    return [
        (node, hub, float(known[node, group] - known[hub, group]))
        for node in nodes
        for group in np.flatnonzero(given[node] & given[hub]).tolist()
    ]


def _with_trusted(graph: MeasurementGraph, more: list[tuple[int, int, float]]) -> MeasurementGraph:
    """The graph with further edges at the end, which are trusted and have the largest weight."""
    if not more:
        return graph
    src, dst, offset = map(np.array, zip(*more, strict=True))
    weight = None
    if graph.weight is not None:
        weight = np.concatenate([graph.weight, np.full(len(more), graph.weight.max())])
    return MeasurementGraph(
        np.concatenate([graph.edge_index, [src, dst]], axis=1),
        np.concatenate([graph.offset, offset]),
        graph.num_nodes,
        weight=weight,
        trusted=np.concatenate([graph.edge_trusted, np.ones(len(more), bool)]),
    )


def _fitted(
    graph: MeasurementGraph, known: FloatArray, angles: FloatArray, believed: FloatArray
) -> FloatArray:
    """Angles (n,) of one group by least squares of the believed edges (m,), anchors held."""
    small = contract(graph, known)
    operator, reduced = EdgeOperator(small.graph), small.reduce(angles)
    weight = (graph.edge_weight * believed)[small.edges]
    part = component_labels(small.graph.edge_index[:, weight > 0], small.graph.num_nodes)
    with_reference = part == part[REFERENCE]
    for _ in range(_STEPS):
        residual = small.graph.residual(reduced)
        step = gauss_newton_step(
            operator, weight[:, None], residual[:, None], max_iterations=_SOLVE_STEPS
        )[:, 0]
        # The reference stays; parts that no believed edge joins to it are not rotated.
        reduced = reduced + np.where(with_reference, step - step[REFERENCE], step)
    held = np.isfinite(known)
    return reduce_angle(np.where(held, known, reduced[small.node]))


def _merged(graph: MeasurementGraph, held: NDArray[np.bool_] | np.bool_) -> IntArray:
    """Components (n,), of which those with anchors are one, numbered by first appearance."""
    label = graph.components.copy()
    fixed = np.unique(label[held])
    label[np.isin(label, fixed)] = fixed[0]
    return numbered_by_appearance(label)


def _all_contradictions(
    graph: MeasurementGraph, known: FloatArray, angles: FloatArray, found: Solution
) -> list[tuple[int | None, Contradiction]]:
    """Contradictions of each group, with its number from 1 if there are several."""
    k, listed = known.shape[1], []
    for group in range(k):
        edges = graph if k == 1 else graph.keep_edges(found.edge_group == group)
        own = find_contradictions(edges, known[:, group], angles[:, group])
        listed += [(group + 1 if k > 1 else None, one) for one in own]
    return listed


def _text(
    graph: MeasurementGraph, found: list[tuple[int | None, Contradiction]], unit: Unit
) -> str:
    """One line that names the anchors and by how much they disagree."""
    names = graph.names
    parts = []
    for group, one in found[:_MOST_NAMED]:
        which = "" if group is None else f" (group {group})"
        spread = "" if np.isnan(one.deviation) else f" ± {unit.format(one.deviation, 2)}"
        parts.append(
            f"{names[one.node]}{which} is off by {unit.format(one.excess)}{spread} seen from "
            f"{names[one.reference]}"
        )
    more = len(found) - len(parts)
    text = "; ".join(parts) + (f"; and {more} more" if more else "")
    return f"known angles contradict the measurements, and are held all the same: {text}"
