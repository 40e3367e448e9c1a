"""Cycle-edge message passing: the corruption level of each edge, estimated from its triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.spectral import leading_angles
from gnnsync.topology import Triangles, forest_angles, minimum_spanning_edges
from gnnsync.typing import FloatArray, IntArray
from gnnsync.work import time_is_up


@dataclass(frozen=True)
class CEMP(ClassicalMethod):
    r"""Corruption levels s (m,), common to the two methods of Lerman and Shi (2022).

    The inconsistency of a triangle is :math:`d = |\mathrm{wrap}(\text{sum of its offsets})|/\pi`.
    An edge's level is the mean of d over its triangles (e, f, g), weighted by the trust in f, g:

    .. math:: s_e \leftarrow \frac{\sum u_f u_g d_{efg}}{\sum u_f u_g}, \qquad
              u = w\, e^{-\beta s},

    first with β = 0, then with β = β_0, 2β_0, ... up to `beta_max`. An edge in no triangle gets the
    mean level of the others.

    Args:
        beta: first β.
        beta_max: last β, also of the weights exp(-βs) that the levels become.
        growth: factor of β per iteration.
        max_triangles_per_edge: keep at most about this many triangles per edge, drawn at random;
            None for all.
    """

    beta: float = 1.0
    beta_max: float = 32.0
    growth: float = 2.0
    max_triangles_per_edge: int | None = None

    def check(self) -> None:
        """Ranges of the parameters."""
        check_real("beta", self.beta, 0, open_low=True)
        check_real("beta_max", self.beta_max, self.beta)
        check_real("growth", self.growth, 1, open_low=True)
        if self.max_triangles_per_edge is not None:
            check_integer("max_triangles_per_edge", self.max_triangles_per_edge, 1)

    def corruption(
        self,
        graph: MeasurementGraph,
        rng: np.random.Generator,
        triangles: Triangles | None = None,
    ) -> tuple[FloatArray, int]:
        """Levels s (m,) in [0, 1] and the number of iterations, 0 without triangles.

        `triangles` of the graph may be given if another graph with the same edges has them.
        """
        if triangles is None:
            triangles = graph.triangles
        if self.max_triangles_per_edge is not None:
            triangles = sample_triangles(
                triangles, graph.num_edges, self.max_triangles_per_edge, rng
            )
        if not len(triangles):
            return np.zeros(graph.num_edges), 0
        sides = [np.ascontiguousarray(side) for side in triangles.edges.T]
        turns = np.zeros(len(triangles))
        for side, sign in zip(sides, triangles.signs.T, strict=True):
            turns += graph.offset[side] * (sign / TWO_PI)
        # |wrap(sum)|/π; rounding is several times faster here than the remainder in `wrap`.
        inconsistency = 2.0 * np.abs(turns - np.rint(turns))
        weight = graph.edge_weight / graph.edge_weight.mean()
        level = _average(sides, inconsistency, weight, weight)
        iterations, beta = 1, self.beta
        while beta <= self.beta_max and not time_is_up():
            # Relative to the least level, so that the weights cannot all underflow.
            trust = weight * np.exp(-beta * (level - level.min()))
            level = np.where(graph.edge_trusted, 0.0, _average(sides, inconsistency, trust, weight))
            beta *= self.growth
            iterations += 1
        return level, iterations


@dataclass(frozen=True)
class CEMPGCW(CEMP):
    r"""CEMP, then the spectral method on the edges of low corruption (Lerman and Shi 2022).

    Leading eigenvector of the graph connection weight matrix: D⁻¹H with weights
    :math:`w_e e^{-\beta_{\max} s_e}`. Parameters as in `CEMP`. A graph without triangles is solved
    with its own weights, and `stop_reason` says so.
    """

    name = "cemp_gcw"
    stops_early = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) of the weighted eigenvector."""
        return self.from_triangles(graph, rng, None)

    def from_triangles(
        self, graph: MeasurementGraph, rng: np.random.Generator, triangles: Triangles | None
    ) -> Estimate:
        """The estimate from given triangles of the graph; all of them if None."""
        level, iterations = self.corruption(graph, rng, triangles)
        trust = np.exp(-self.beta_max * (level - level.min(initial=1.0)))
        operator, weight = EdgeOperator(graph), graph.edge_weight * trust
        found = leading_angles(operator.hermitian(weight), 1, rng, operator.degree(weight))
        return _report(found.angles[:, 0], level, iterations, found)


@dataclass(frozen=True)
class CEMPMST(CEMP):
    """CEMP, then angles along the spanning tree of least corruption (Lerman and Shi 2022).

    Parameters as in `CEMP`. In a graph without triangles every level is 0: the tree is then one of
    greatest edge weight, and `stop_reason` says so.
    """

    name = "cemp_mst"
    stops_early = True
    canonical = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) added up along the tree."""
        level, iterations = self.corruption(graph, rng)
        return _report(tree_angles(graph, level), level, iterations)


def sample_triangles(
    triangles: Triangles, num_edges: int, per_edge: int, rng: np.random.Generator
) -> Triangles:
    """The triangles that are among the first `per_edge`, in random order, of one of their edges."""
    shuffled = rng.permutation(len(triangles))
    edge = triangles.edges[shuffled].ravel()
    order = np.argsort(edge, kind="stable")
    count = np.bincount(edge, minlength=num_edges)
    rank = np.empty(len(edge), dtype=np.int64)
    rank[order] = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
    kept = np.sort(shuffled[(rank.reshape(-1, 3) < per_edge).any(axis=1)])
    return Triangles(triangles.edges[kept], triangles.signs[kept])


def tree_angles(graph: MeasurementGraph, cost: FloatArray) -> FloatArray:
    """Angles (n,) that satisfy the offsets along a spanning tree of least total cost (m,).

    Among edges of equal cost the heavier, then the earlier, is taken.
    """
    order = np.lexsort((-graph.edge_weight, cost))
    tree = minimum_spanning_edges(graph.edge_index, graph.num_nodes, order)
    return forest_angles(graph.edge_index[:, tree], graph.offset[tree], graph.num_nodes)


def _average(
    sides: list[IntArray],
    inconsistency: FloatArray,
    trust: FloatArray,
    weight: FloatArray,
) -> FloatArray:
    """Levels (m,) from the trust (m,) in edges; edges in no triangle get the others' mean."""
    m = len(trust)
    of_side = [trust[side] for side in sides]
    total, mass = np.zeros(m), np.zeros(m)
    for c, side in enumerate(sides):
        product = of_side[c - 1] * of_side[c - 2]
        mass += np.bincount(side, weights=product, minlength=m)
        total += np.bincount(side, weights=product * inconsistency, minlength=m)
    known = mass > 0
    level = np.divide(total, mass, out=np.zeros(m), where=known)
    level[~known] = np.average(level[known], weights=weight[known])
    return level


def _report(
    angles: FloatArray,
    level: FloatArray,
    iterations: int,
    solved: Estimate | None = None,
) -> Estimate:
    found = iterations > 0
    return Estimate(
        angles,
        converged=solved is None or solved.converged,
        iterations=iterations,
        stop_reason="end of the β schedule" if found else "no triangles: edges taken as they are",
        edge_confidence=1.0 - level if found else None,
        diagnostics={"mean_corruption": float(level.mean())} if found else {},
    )
