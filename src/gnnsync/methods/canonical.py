"""Canonical form of a measurement graph: the same for all graphs that mean the same.

A method that draws random numbers node by node, discretises angles on a grid, or takes the first
of several equals gives an answer that depends on the order of nodes and edges, on the direction of
edges and on the angle that each node calls zero. Solved in its canonical form, it does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from gnnsync.angles import TWO_PI, reduce_angle, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.closures.problem import is_pose_graph
from gnnsync.topology import forest_angles, spanning_forest
from gnnsync.typing import ComplexArray, FloatArray, IntArray

if TYPE_CHECKING:
    from gnnsync.methods.components import Estimate

# Rounds in which each node mixes the scores of its neighbours: enough for random graphs, and few
# enough that rounding errors do not grow.
_ROUNDS = 6
# Scores closer than this are equal up to rounding.
_SAME_SCORE = 1e-11
# Steps of the walk from the root: at least, and as many as this number of edge visits allows.
_LEAST_STEPS, _MOST_VISITS = 8, 200_000
# Edge visits spent on the choice among roots of equal score (a complete graph of 200 nodes: all).
_ROOT_VISITS = 20_000_000
# Offsets and weights of the canonical form are multiples of these, relative to a turn and to the
# power of two above a weight: rounding errors of equivalent graphs, 1e-16, are rounded away.
_OFFSET_STEP, _WEIGHT_STEP = 2.0**-40, 2.0**-32
# Irrational factors that mix scores, so that different sums are different numbers.
_MIX, _SPREAD, _FLOW = 0.7390851332151607, 0.5671432904097838, 0.3605551275463989
_SEED = 20220131


@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """A graph in canonical form, and the way back to the given one.

    Args:
        graph: the canonical graph; equal measurements of a pair are one edge with the sum of the
            weights.
        node: (n,) canonical number of each given node.
        edge: (m,) canonical number of each given edge.
        rotation: (n,) canonical less given angle of each given node.
        part: (m,) weight of each given edge relative to its canonical one.
    """

    graph: MeasurementGraph
    node: IntArray
    edge: IntArray
    rotation: FloatArray
    part: FloatArray

    @classmethod
    def of(cls, graph: MeasurementGraph, *, rotate: bool = True) -> CanonicalForm:
        """The canonical form of a connected graph.

        Poses keep their numbers, which are their order in time.

        Args:
            graph: the measurements.
            rotate: also choose the angle that each node calls zero.
        """
        poses = is_pose_graph(graph)
        number = np.arange(graph.num_nodes) if poses else _numbers(graph)
        index = number[graph.edge_index]
        upward = index[0] < index[1]
        low, high = np.where(upward, index, index[::-1])
        offset = np.where(upward, graph.offset, -graph.offset)
        angles = np.zeros(graph.num_nodes)
        if rotate:
            angles = _reference(low, high, offset, graph.edge_weight, graph.num_nodes)
            angles = angles + np.random.default_rng(_SEED).uniform(0, TWO_PI, graph.num_nodes)
        fixed = _rounded_offset(offset - angles[low] + angles[high])
        trusted = graph.edge_trusted
        order = np.lexsort((fixed, trusted, high, low))
        columns = np.stack([low, high, trusted, fixed])[:, order]
        new = np.append(True, (columns[:, 1:] != columns[:, :-1]).any(axis=0))
        edge = np.empty(graph.num_edges, dtype=np.int64)
        edge[order] = np.cumsum(new) - 1
        first = order[new]
        total = np.bincount(edge, weights=graph.edge_weight).astype(np.float64)
        weight = _rounded_weight(total)
        canonical = MeasurementGraph(
            np.stack([low[first], high[first]]),
            fixed[first],
            graph.num_nodes,
            weight=None if (weight == weight[0]).all() else weight,
            trusted=None if graph.trusted is None else trusted[first],
        )
        part = graph.edge_weight / total[edge]
        return cls(canonical, number, edge, -angles[number], part)

    def angles(self, given: FloatArray) -> FloatArray:
        """Angles (n, k) of the canonical nodes."""
        moved = np.empty_like(given)
        moved[self.node] = given + self.rotation[:, None]
        return reduce_angle(moved)

    def restore(self, found: Estimate) -> Estimate:
        """An estimate of the canonical graph for the given nodes and edges."""
        columns = found.angles.reshape(self.graph.num_nodes, -1)

        def of(values: FloatArray | None, index: IntArray) -> FloatArray | None:
            return None if values is None else values[index]

        precision = of(found.edge_precision, self.edge)
        return replace(
            found,
            angles=columns[self.node] - self.rotation[:, None],
            edge_confidence=of(found.edge_confidence, self.edge),
            node_confidence=of(found.node_confidence, self.node),
            node_deviation=of(found.node_deviation, self.node),
            edge_precision=None if precision is None else precision * self.part[:, None],
        )


def _numbers(graph: MeasurementGraph) -> IntArray:
    """Canonical number (n,) of each node: breadth-first from the root, ties by score."""
    n = graph.num_nodes
    matrix = _normalised(graph)
    score = _structure_score(graph, abs(matrix))
    root = _root(matrix, score)
    steps = min(n, max(_LEAST_STEPS, _MOST_VISITS // graph.num_edges))
    score = score + _walk_score(matrix, root, steps)
    score[root] = np.inf
    by_score = np.empty(n, dtype=np.int64)
    by_score[_descending(score)] = np.arange(n)
    # In both directions: the order of a breadth-first search depends on them.
    renumbered = by_score[graph.edge_index]
    visited, _ = spanning_forest(np.concatenate([renumbered, renumbered[::-1]], axis=1), n)
    number = np.empty(n, dtype=np.int64)
    number[visited] = np.arange(n)
    return number[by_score]


def _descending(score: FloatArray) -> IntArray:
    """Nodes by descending score; those of the same score by number."""
    order = np.argsort(-score, kind="stable")
    rank = np.empty(len(score), dtype=np.int64)
    rank[order] = np.cumsum(np.append(False, -np.diff(score[order]) > _SAME_SCORE))
    return np.lexsort((np.arange(len(score)), rank))


def _normalised(graph: MeasurementGraph) -> sp.csr_array:
    """D^{-1/2} H D^{-1/2} (n, n), parallel edges summed."""
    scale = 1.0 / np.sqrt(graph.degree)
    return graph.weighted_hermitian(graph.edge_weight * scale[graph.src] * scale[graph.dst])


def _structure_score(graph: MeasurementGraph, adjacency: sp.csr_array) -> FloatArray:
    """Scores (n,) from the weights, trusted edges and neighbours of a node, whatever its angle."""
    relative = graph.degree / graph.degree.max()
    believed = np.where(graph.edge_trusted, graph.edge_weight, 0.0)
    trusted = np.bincount(
        graph.edge_index.ravel(), weights=np.tile(believed, 2), minlength=len(relative)
    )
    score = relative + _SPREAD * trusted / graph.degree
    for _ in range(_ROUNDS):
        score = _MIX * score + adjacency @ np.cos(score + relative)
    return score


def _root(matrix: sp.csr_array, score: FloatArray) -> int:
    """The node of greatest score; of several, that to which most of a walk returns."""
    tied = np.flatnonzero(score >= score.max() - _SAME_SCORE)
    if len(tied) == 1 or len(tied) * matrix.nnz * 2 > _ROOT_VISITS:
        return int(tied[0])
    start = np.zeros((len(score), len(tied)), dtype=np.complex128)
    start[tied, np.arange(len(tied))] = 1.0
    once = matrix @ start
    twice = matrix @ once
    returned = (once.conj() * twice).real.sum(axis=0) + (np.abs(twice) ** 2).sum(axis=0)
    return int(tied[np.argmax(returned >= returned.max() - _SAME_SCORE)])


def _walk_score(matrix: sp.csr_array, root: int, steps: int) -> FloatArray:
    """Scores (n,) from a walk x ← (x + Hx)/2 that starts at the root.

    |x_i|² and the flow Σ_j Im(x̄_i H_ij x_j) depend on the sums of offsets around cycles, and not
    on what a node calls zero. The flow tells the two directions round a cycle apart.
    """
    n = matrix.shape[0]
    x: ComplexArray = np.zeros(n, dtype=np.complex128)
    x[root] = 1.0
    score = np.zeros(n)
    for number in range(steps):
        step = matrix @ x
        here = _SPREAD * np.abs(x) ** 2 + _FLOW * (x.conj() * step).imag
        score += np.cos(number) * here
        x = 0.5 * (x + step)
        x /= np.abs(x).max()
    return score


def _reference(
    low: IntArray, high: IntArray, offset: FloatArray, weight: FloatArray, n: int
) -> FloatArray:
    """Angles (n,) along the breadth-first tree; parallel edges by their mean direction."""
    direction = sp.coo_array((weight * np.exp(1j * offset), (low, high)), (n, n)).tocsr().tocoo()
    pairs = np.stack([direction.row, direction.col]).astype(np.int64)
    return forest_angles(pairs, np.angle(direction.data), n)


def _rounded_offset(offset: FloatArray) -> FloatArray:
    step = TWO_PI * _OFFSET_STEP
    return reduce_angle(step * np.round(wrap(offset) / step))


def _rounded_weight(weight: FloatArray) -> FloatArray:
    """Weights of mean 1, to 32 binary digits."""
    mantissa, exponent = np.frexp(weight / weight.mean())
    return np.ldexp(np.round(mantissa / _WEIGHT_STEP) * _WEIGHT_STEP, exponent)
