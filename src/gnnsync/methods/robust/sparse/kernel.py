"""Series reduction: chains of edges between junctions, each equivalent to one edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import relative_weight
from gnnsync.typing import FloatArray, IntArray

# Edge, its sign along the chain.
_Step = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Kernel:
    """The edges on cycles, with every chain of edges through nodes of degree 2 as one edge.

    A chain is an inlier if all its edges are; its noise adds up. Which of its edges is wrong, if
    one is, nothing can tell.

    Args:
        num_nodes: number K of junctions.
        ends: (2, c) junctions at which each chain starts and ends; they differ.
        offset: (c,) sum of the offsets along the chain: θ[start] - θ[end].
        variance: (c,) variance of its noise in units of σ², the sum of 1/weight.
        doubted: (c,) number of its edges that are not trusted.
        chain: (m,) the chain of each edge of the graph; -1 for edges on no cycle.
        place: (m,) number of the untrusted edges before an edge in its chain.
        junctions: (K,) their nodes in the graph.
        paths: edges, signs (+1 along an edge) and inner nodes of each chain, in order.
    """

    num_nodes: int
    ends: IntArray
    offset: FloatArray
    variance: FloatArray
    doubted: IntArray
    chain: IntArray
    place: IntArray
    junctions: IntArray
    paths: list[tuple[IntArray, IntArray, IntArray]]

    @property
    def num_chains(self) -> int:
        """Number c of chains."""
        return self.ends.shape[1]


def series_kernel(graph: MeasurementGraph) -> Kernel:
    """Chains between the nodes of degree 3 or more, edges on no cycle left out.

    A chain that would return to its start, as that of a single cycle, is divided at a node.
    """
    walker = _Walker(graph)
    chains: list[list[_Step]] = []
    for start in np.flatnonzero(walker.degree >= 3).tolist():
        for step in walker.steps[start]:
            if step[0] not in walker.used:
                chains += walker.walk(start, step)
    for node in np.flatnonzero(walker.degree == 2).tolist():
        step = walker.steps[node][0]
        if step[0] not in walker.used:
            walker.junctions.setdefault(node, len(walker.junctions))
            chains += walker.walk(node, step)
    return _kernel(graph, walker.junctions, chains)


class _Walker:
    """Follows chains; `used` are the edges seen, `junctions` the number of each junction."""

    def __init__(self, graph: MeasurementGraph) -> None:
        self.graph = graph
        edges = np.flatnonzero(~graph.bridges)
        self.steps: list[list[_Step]] = [[] for _ in range(graph.num_nodes)]
        for e, s, t in zip(edges.tolist(), *graph.edge_index[:, edges].tolist(), strict=True):
            self.steps[s].append((e, 1))
            self.steps[t].append((e, -1))
        self.degree = np.array([len(own) for own in self.steps])
        junctions = np.flatnonzero(self.degree >= 3).tolist()
        self.junctions = {node: number for number, node in enumerate(junctions)}
        self.used: set[int] = set()

    def walk(self, start: int, step: _Step) -> list[list[_Step]]:
        """The chain from a junction along its first step, in two parts if it returns to it."""
        path, nodes = [step], [self._next(step)]
        while nodes[-1] not in self.junctions:
            one, two = self.steps[nodes[-1]]
            path.append(two if one[0] == path[-1][0] else one)
            nodes.append(self._next(path[-1]))
        self.used.update(e for e, _ in path)
        if nodes[-1] != start:
            return [path]
        half = len(path) // 2
        self.junctions[nodes[half - 1]] = len(self.junctions)
        return [path[:half], path[half:]]

    def _next(self, step: _Step) -> int:
        """The node to which a step leads."""
        e, sign = step
        return int(self.graph.edge_index[1 if sign > 0 else 0, e])


def _kernel(
    graph: MeasurementGraph, junctions: dict[int, int], chains: list[list[_Step]]
) -> Kernel:
    count = len(chains)
    ends = np.zeros((2, count), dtype=np.int64)
    offset, variance = np.zeros(count), np.zeros(count)
    doubted = np.zeros(count, dtype=np.int64)
    chain, place = np.full(graph.num_edges, -1), np.zeros(graph.num_edges, dtype=np.int64)
    noise, open_edge = 1.0 / relative_weight(graph), ~graph.edge_trusted
    paths = []
    for c, path in enumerate(chains):
        edges, signs = (np.array(column) for column in zip(*path, strict=True))
        first, last = path[0], path[-1]
        start = graph.edge_index[0 if first[1] > 0 else 1, first[0]]
        end = graph.edge_index[1 if last[1] > 0 else 0, last[0]]
        ends[:, c] = junctions[int(start)], junctions[int(end)]
        inner = graph.edge_index[np.where(signs > 0, 1, 0), edges][:-1]
        paths.append((edges, signs, inner))
        offset[c] = (signs * graph.offset[edges]).sum()
        variance[c] = noise[edges].sum()
        doubted[c] = open_edge[edges].sum()
        chain[edges] = c
        place[edges] = np.cumsum(open_edge[edges]) - open_edge[edges]
    nodes = np.array(list(junctions), dtype=np.int64)
    return Kernel(len(nodes), ends, offset, variance, doubted, chain, place, nodes, paths)
