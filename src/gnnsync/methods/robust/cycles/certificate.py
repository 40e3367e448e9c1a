"""Angles certified by closed cycles, and the estimate that they give."""

from __future__ import annotations

import logging

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import Estimate
from gnnsync.methods.robust.confidence.assessment import assess
from gnnsync.methods.robust.cycles.paths import (
    Arcs,
    Paths,
    arcs_of,
    closed_clusters,
    count_paths,
    cycle_noise,
    find_paths,
    tolerance_of,
)
from gnnsync.methods.robust.cycles.rigid_bodies import (
    RigidBodies,
    bodies_of_clusters,
    grow,
    merge,
)
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.methods.robust.noise.placement import place_open_nodes
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import check_time

log = logging.getLogger(__name__)

# Largest share of chance closures among closed cycles with which they still certify anything.
_MOST_CHANCE = 0.05
# Paths of two and three edges in the sample that shows whether the search is worth while.
_TRIAL_PATHS = 200_000
# Offsets of one pair that differ by less are copies of one measurement: rounding is 1e-15.
_SAME_OFFSET = 1e-9
# Largest part of a body's nodes that its group may already have.
_MOST_OVERLAP = 0.5


def certify(
    graph: MeasurementGraph, k: int, tolerance: float = 0.0, max_paths: int = 5_000_000
) -> tuple[FloatArray, BoolArray] | None:
    """Angles (n, k) and which of them (n, k) closed cycles certify; None if chance closes as many.

    A sample of the paths comes first. Where it shows noise too large for certificates the search
    ends, and where it certifies all angles too.

    Args:
        graph: the measurements.
        k: number of groups.
        tolerance: radians by which sums may differ and count as equal; 0 to estimate it.
        max_paths: most paths to compare.

    Raises:
        TimeUp: the time limit (`gnnsync.work`) is reached.
    """
    graph = _without_repeats(graph)
    arcs = arcs_of(graph)
    every = max(sum(count_paths(arcs, max_paths)) // _TRIAL_PATHS, 1)
    sample = find_paths(graph, arcs, max_paths, every)
    width = tolerance or _tolerance(sample)
    if width is None:
        return None
    check_time()
    found = _search(graph, arcs, sample, width, k)
    if every == 1 or (found is not None and found[1].all()):
        return found
    check_time()
    return _search(graph, arcs, find_paths(graph, arcs, max_paths), width, k)


def certified_estimate(
    graph: MeasurementGraph, angles: FloatArray, known: BoolArray, rng: np.random.Generator
) -> Estimate:
    """Certified angles (n, k) fitted by least squares, the others at their posterior mean."""
    fit = fit_mixture(graph, angles)
    placed = place_open_nodes(graph, fit, known)
    final = fit_mixture(graph, placed, like=fit, move=False, max_iterations=1)
    return Estimate(
        **assess(graph, final, rng).fields,
        converged=True,
        iterations=fit.iterations,
        stop_reason="no more nodes certified",
        diagnostics={"certified": float(known.mean()), "eta": fit.eta, "sigma": fit.sigma},
    )


def _search(
    graph: MeasurementGraph, arcs: Arcs, paths: Paths, tolerance: float, k: int
) -> tuple[FloatArray, BoolArray] | None:
    """Angles (n, k) and which of them (n, k) cycles made of two of the paths certify."""
    label, chance = closed_clusters(graph, paths, tolerance)
    if chance > _MOST_CHANCE:
        log.debug("cycles: no certificate: expected share of chance closures %.2g", chance)
        return None
    bodies = _assemble(bodies_of_clusters(graph, label), arcs, tolerance, k)
    if not len(bodies.body):
        return None
    return _assign_groups(bodies, k)


def _tolerance(paths: Paths) -> float | None:
    """Difference of two paths' sums that counts as none; None if chance closes too many cycles."""
    sigma = cycle_noise(paths)
    tolerance = tolerance_of(sigma)
    if tolerance <= np.pi * _MOST_CHANCE:
        return tolerance
    log.debug("cycles: no certificate: too many chance closures at noise %.2g rad", sigma)
    return None


def _without_repeats(graph: MeasurementGraph) -> MeasurementGraph:
    """The graph with equal measurements of one pair kept once: a copy closes no cycle."""
    backward = graph.src > graph.dst
    pair = graph.edge_index.min(axis=0) * graph.num_nodes + graph.edge_index.max(axis=0)
    offset = reduce_angle(np.where(backward, -graph.offset, graph.offset))
    order = np.lexsort((offset, pair))
    repeat = (np.diff(pair[order]) == 0) & (np.diff(offset[order]) < _SAME_OFFSET)
    if not repeat.any():
        return graph
    kept = np.sort(order[np.concatenate([[True], ~repeat])])
    return MeasurementGraph(graph.edge_index[:, kept], graph.offset[kept], graph.num_nodes)


def _assemble(bodies: RigidBodies, arcs: Arcs, tolerance: float, k: int) -> RigidBodies:
    """Grow and merge until nothing changes, by single edges first, then by paths of two."""
    one_group = k == 1
    reach = 1
    while True:
        check_time()
        before = len(bodies.body)
        bodies = grow(bodies, arcs, tolerance, one_group=one_group, reach=reach)
        bodies = merge(bodies, arcs, tolerance, one_group=one_group, reach=reach)
        if len(bodies.body) != before:
            reach = 1
        elif reach == 1:
            reach = 2
        else:
            return bodies


def _assign_groups(bodies: RigidBodies, k: int) -> tuple[FloatArray, BoolArray]:
    """Fill the k groups from the largest body down, each into the group where it overlaps least."""
    angles = np.zeros((bodies.num_nodes, k))
    known = np.zeros((bodies.num_nodes, k), dtype=bool)
    size = bodies.size
    for number, body in enumerate(np.argsort(-size, kind="stable")):
        mine = bodies.body == body
        node = bodies.node[mine]
        overlap = known[node].mean(axis=0)
        group = int(overlap.argmin())
        # A body that shares many nodes with every group and agrees with none is left out. One that
        # shares no node with a group has no known rotation to it: only the first is certain.
        if (number < k and overlap[group] < _MOST_OVERLAP) or known[:, group].sum() == 0:
            angles[node, group] = bodies.angle[mine]
            known[node, group] = True
    return angles, known
