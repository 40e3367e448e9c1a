"""A spanning tree of the measurements, and what the other edges say of its branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import depth_first_order, minimum_spanning_tree

from gnnsync.graph import MeasurementGraph
from gnnsync.typing import FloatArray, IntArray

# Steps of all walks to a common ancestor together, beyond which the longer walks are given up.
_MOST_STEPS = 4_000_000


@dataclass(frozen=True, eq=False)
class Tree:
    """A spanning tree, rooted.

    Args:
        parent: (n,) the node above each, -1 for the root.
        edge: (n,) the edge that leads there, -1 for the root.
        depth: (n,) number of edges to the root.
        order: (n,) nodes such that every branch is one stretch of them.
        size: (n,) nodes of the branch that hangs by each node's edge.
    """

    parent: IntArray
    edge: IntArray
    depth: IntArray
    order: IntArray
    size: IntArray

    def branch(self, node: int) -> IntArray:
        """The node and all below it."""
        start = int(np.flatnonzero(self.order == node)[0])
        return self.order[start : start + int(self.size[node])]


def likeliest_tree(graph: MeasurementGraph, belief: FloatArray) -> Tree:
    """The spanning tree of a connected graph with most `belief` (m,)."""
    order = np.argsort(-belief, kind="stable")
    pairs = _Pairs(graph, order)
    rank = np.empty(graph.num_edges)
    rank[order] = np.arange(1, graph.num_edges + 1)
    tree = minimum_spanning_tree(pairs.matrix(rank))
    return _rooted(graph, order[tree.data.astype(np.int64) - 1])


def branch_votes(
    graph: MeasurementGraph, tree: Tree, angles: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Turns that edges want of branches: the node by whose edge the branch hangs, and the turn.

    An edge that is not in the tree crosses the edges on the way between its ends: it would be
    fulfilled if any one of the branches there were turned by its residual. The tree's edges vote
    for the branches that hang by them.
    """
    residual = graph.residual(angles[:, None])[:, 0]
    below = np.flatnonzero(tree.parent >= 0)
    inner_src = graph.src[tree.edge[below]] == below
    branches = [below]
    votes = [np.where(inner_src, -1.0, 1.0) * residual[tree.edge[below]]]
    outside = np.ones(graph.num_edges, dtype=bool)
    outside[tree.edge[below]] = False
    edge = np.flatnonzero(outside)
    ends = graph.edge_index[:, edge]
    steps = 0
    while len(edge) and steps + len(edge) <= _MOST_STEPS:
        steps += len(edge)
        # The deeper end goes up; with it the branch that it leaves.
        at_src = tree.depth[ends[0]] >= tree.depth[ends[1]]
        leaving = np.where(at_src, ends[0], ends[1])
        branches.append(leaving)
        votes.append(np.where(at_src, -1.0, 1.0) * residual[edge])
        up = tree.parent[leaving]
        ends = np.where(at_src, [up, ends[1]], [ends[0], up])
        going = ends[0] != ends[1]
        edge, ends = edge[going], ends[:, going]
    return np.concatenate(branches), np.concatenate(votes)


class _Pairs:
    """Pairs of nodes that edges join, each with the first of its edges in the order given."""

    def __init__(self, graph: MeasurementGraph, edges: IntArray) -> None:
        self.num_nodes = graph.num_nodes
        key = self._key(*graph.edge_index[:, edges])
        self.key, first = np.unique(key, return_index=True)
        self.edge = edges[first]

    def matrix(self, cost: FloatArray | None = None) -> sp.csr_array:
        """Upper triangle (n, n) of the costs (m,) of the edges, 1 if not given."""
        n = self.num_nodes
        value = np.ones(len(self.edge)) if cost is None else cost[self.edge]
        return sp.coo_array((value, (self.key // n, self.key % n)), shape=(n, n)).tocsr()

    def edge_between(self, one: IntArray, other: IntArray) -> IntArray:
        """Edges that join nodes, pair by pair."""
        return self.edge[np.searchsorted(self.key, self._key(one, other))]

    def _key(self, one: IntArray, other: IntArray) -> IntArray:
        one, other = one.astype(np.int64), other.astype(np.int64)
        return np.minimum(one, other) * self.num_nodes + np.maximum(one, other)


def _busiest(graph: MeasurementGraph) -> int:
    return int(np.bincount(graph.edge_index.ravel(), minlength=graph.num_nodes).argmax())


def _rooted(graph: MeasurementGraph, edges: IntArray) -> Tree:
    n = graph.num_nodes
    pairs = _Pairs(graph, edges)
    order, above = depth_first_order(pairs.matrix(), _busiest(graph), directed=False)
    order = order.astype(np.int64)
    child = order[1:]
    parent, edge = np.full(n, -1), np.full(n, -1)
    parent[child] = above[child]
    edge[child] = pairs.edge_between(child, parent[child])
    depth, size = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    for node in child:
        depth[node] = depth[parent[node]] + 1
    for node in child[::-1]:
        size[parent[node]] += size[node]
    return Tree(parent, edge, depth, order, size)
