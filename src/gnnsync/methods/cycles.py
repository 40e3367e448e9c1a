"""Consistency growth from closed cycles."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.confidence.node_confidence import node_confidence
from gnnsync.methods.robust.cycles.bodies import Bodies, bodies_of, grow, merge
from gnnsync.methods.robust.cycles.paths import (
    Arcs,
    arcs_of,
    closed_clusters,
    cycle_noise,
    find_paths,
    tolerance_of,
)
from gnnsync.methods.robust.noise.local_search import settle
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.methods.robust.noise.placement import place_open_nodes
from gnnsync.methods.spectral import SpectralRN
from gnnsync.typing import BoolArray, FloatArray

log = logging.getLogger(__name__)


# Largest share of chance among closed cycles with which they still certify anything.
_MOST_CHANCE = 0.05
# Offsets of one pair that differ by less are copies of one measurement.
_SAME = 1e-9


@dataclass(frozen=True)
class Cycles(ClassicalMethod):
    """Grow rigid bodies from cycles whose offsets add up to zero.

    A cycle adds up to 0 mod 2π only if all its edges are inliers of one group, but for chance:
    with exact inliers, closed cycles of 3 to 6 edges certify their edges. Edges of closed cycles
    that share an edge form a body whose relative angles are known; bodies take in nodes on which
    two of their edges agree, and join when they agree on their relative rotation. The k largest
    become the groups, smaller ones are added where they fit. What no cycle certifies is placed by
    the posterior mean; if chance closures are not rare at the noise at hand, the row-normalised
    spectral solution, settled under the mixture model, is returned instead.

    Args:
        tolerance: radians by which sums may differ and count as equal; 0 to estimate it.
        max_paths: most paths to compare; three-edge ones (cycles up to 6) only within half of it.
    """

    any_k = True

    tolerance: float = 0.0
    max_paths: int = 5_000_000

    def check(self) -> None:
        """Ranges of the parameters."""
        check_real("tolerance", self.tolerance, 0, np.pi)
        check_integer("max_paths", self.max_paths, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k); the diagnostics say how many nodes are certified."""
        certificate = certify(graph, k, self.tolerance, self.max_paths)
        if certificate is not None:
            return certified_estimate(graph, *certificate, rng)
        start = SpectralRN().estimate(graph, k, rng).angles.reshape(-1, k)
        fit = settle(graph, start)
        return Estimate(
            fit.angles,
            converged=fit.converged,
            iterations=fit.iterations,
            stop_reason="no certificate: settled spectral solution",
            edge_confidence=fit.edge_confidence,
            node_confidence=node_confidence(graph, fit, rng),
            diagnostics={"certified": 0.0, "eta": fit.eta, "sigma": fit.sigma},
        )


def certified_estimate(
    graph: MeasurementGraph, angles: FloatArray, known: BoolArray, rng: np.random.Generator
) -> Estimate:
    """Certified angles fitted by least squares, the others placed by their posterior mean."""
    fit = fit_mixture(graph, angles)
    placed = place_open_nodes(graph, fit, known)
    final = fit_mixture(graph, placed, like=fit, move=False, max_iterations=1)
    return Estimate(
        placed,
        converged=True,
        iterations=fit.iterations,
        stop_reason="no more nodes certified",
        edge_confidence=final.edge_confidence,
        node_confidence=node_confidence(graph, final, rng),
        diagnostics={"certified": float(known.mean()), "eta": fit.eta, "sigma": fit.sigma},
    )


def certify(
    graph: MeasurementGraph, k: int, tolerance: float = 0.0, max_paths: int = 5_000_000
) -> tuple[FloatArray, BoolArray] | None:
    """Angles (n, k) and which of them cycles certify; None if chance would certify as much."""
    graph = _without_repeats(graph)
    arcs = arcs_of(graph)
    paths = find_paths(graph, arcs, max_paths)
    sigma = cycle_noise(graph, paths)
    if not tolerance and not np.isfinite(sigma):
        return None
    tolerance = tolerance or tolerance_of(sigma)
    if tolerance > np.pi * _MOST_CHANCE:
        log.debug("cycles: with noise of %.2g rad chance closes too many: no certificate", sigma)
        return None
    label, chance = closed_clusters(graph, paths, tolerance)
    if chance > _MOST_CHANCE:
        log.debug("cycles: %.2g of the closed cycles would be chance: no certificate", chance)
        return None
    bodies = _assemble(bodies_of(graph, label), arcs, tolerance, k)
    if not len(bodies.body):
        return None
    return _groups(bodies, k)


def _without_repeats(graph: MeasurementGraph) -> MeasurementGraph:
    """The graph with equal measurements of one pair kept once: a copy closes no cycle."""
    backward = graph.src > graph.dst
    pair = graph.edge_index.min(axis=0) * graph.num_nodes + graph.edge_index.max(axis=0)
    offset = reduce_angle(np.where(backward, -graph.offset, graph.offset))
    order = np.lexsort((offset, pair))
    repeat = (np.diff(pair[order]) == 0) & (np.diff(offset[order]) < _SAME)
    if not repeat.any():
        return graph
    kept = np.sort(order[np.concatenate([[True], ~repeat])])
    return MeasurementGraph(graph.edge_index[:, kept], graph.offset[kept], graph.num_nodes)


def _assemble(bodies: Bodies, arcs: Arcs, tolerance: float, k: int) -> Bodies:
    one_group = k == 1
    reach = 1
    while True:
        before = len(bodies.body)
        bodies = grow(bodies, arcs, tolerance, one_group=one_group, reach=reach)
        bodies = merge(bodies, arcs, tolerance, one_group=one_group, reach=reach)
        if len(bodies.body) != before:
            reach = 1
        elif reach == 1:
            reach = 2
        else:
            return bodies


def _groups(bodies: Bodies, k: int) -> tuple[FloatArray, BoolArray]:
    """Fill the k sets from the largest body down, each into the set where it overlaps least."""
    angles = np.zeros((bodies.num_nodes, k))
    known = np.zeros((bodies.num_nodes, k), dtype=bool)
    size = bodies.size
    for number, body in enumerate(np.argsort(-size, kind="stable")):
        mine = bodies.body == body
        node = bodies.node[mine]
        overlap = known[node].mean(axis=0)
        group = int(overlap.argmin())
        # A body that meets all sets in many nodes and agrees with none is left out; one that
        # meets a set nowhere has no known rotation to it, and only the first is certain.
        if (number < k and overlap[group] < 0.5) or known[:, group].sum() == 0:
            angles[node, group] = bodies.angle[mine]
            known[node, group] = True
    return angles, known
