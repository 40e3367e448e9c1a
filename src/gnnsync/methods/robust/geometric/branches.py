"""The most probable spanning tree, and the rotations of its branches that other edges support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import depth_first_order

from gnnsync.graph import MeasurementGraph
from gnnsync.topology import minimum_spanning_edges, parent_edges
from gnnsync.typing import FloatArray, IntArray

# Steps of all walks to a common ancestor together (some hundred megabytes): longer walks end early.
_MOST_STEPS = 4_000_000


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted spanning tree.

    Args:
        parent: (n,) the node above each, -1 for the root.
        edge: (n,) the edge that leads there, -1 for the root.
        depth: (n,) number of edges to the root.
        order: (n,) nodes in depth-first order: a branch is a contiguous part of it.
        size: (n,) number of nodes in the branch below each node's edge, the node included.
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


def most_probable_tree(graph: MeasurementGraph, probability: FloatArray) -> Tree:
    """The spanning tree of a connected graph with the greatest inlier probabilities (m,)."""
    order = np.argsort(-probability, kind="stable")
    return _rooted(graph, minimum_spanning_edges(graph.edge_index, graph.num_nodes, order))


def supported_rotations(
    graph: MeasurementGraph, tree: Tree, angles: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Rotations of branches that satisfy an edge: the top node of the branch, and the angle.

    The path in the tree between the ends of any other edge crosses tree edges; rotating the branch
    below any one of these by the edge's residual would satisfy it. An edge of the tree supports a
    rotation of the branch below it.
    """
    residual = graph.residual(angles[:, None])[:, 0]
    below = np.flatnonzero(tree.parent >= 0)
    inner_src = graph.src[tree.edge[below]] == below
    branches = [below]
    rotations = [np.where(inner_src, -1.0, 1.0) * residual[tree.edge[below]]]
    outside = np.ones(graph.num_edges, dtype=bool)
    outside[tree.edge[below]] = False
    edge = np.flatnonzero(outside)
    ends = graph.edge_index[:, edge]
    steps = 0
    while len(edge) and steps + len(edge) <= _MOST_STEPS:
        steps += len(edge)
        # The deeper end moves up and leaves its branch.
        at_src = tree.depth[ends[0]] >= tree.depth[ends[1]]
        leaving = np.where(at_src, ends[0], ends[1])
        branches.append(leaving)
        rotations.append(np.where(at_src, -1.0, 1.0) * residual[edge])
        up = tree.parent[leaving]
        ends = np.where(at_src, [up, ends[1]], [ends[0], up])
        apart = ends[0] != ends[1]
        edge, ends = edge[apart], ends[:, apart]
    return np.concatenate(branches), np.concatenate(rotations)


def _rooted(graph: MeasurementGraph, edges: IntArray) -> Tree:
    """The tree of the given edges (n - 1,), rooted at the node of greatest degree in the graph."""
    n = graph.num_nodes
    root = int(np.bincount(graph.edge_index.ravel(), minlength=n).argmax())
    index = graph.edge_index[:, edges]
    # Depth-first order follows the stored order: the upper triangle makes it independent of the
    # direction of edges.
    pattern = (index.min(axis=0), index.max(axis=0))
    matrix = sp.coo_array((np.ones(len(edges)), pattern), shape=(n, n)).tocsr()
    order, above = depth_first_order(matrix, root, directed=False)
    order = order.astype(np.int64)
    child = order[1:]
    parent, edge = np.full(n, -1), np.full(n, -1)
    parent[child] = above[child]
    edge[child] = edges[parent_edges(index, parent)[child]]
    depth, size = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    for node in child:
        depth[node] = depth[parent[node]] + 1
    for node in child[::-1]:
        size[parent[node]] += size[node]
    return Tree(parent, edge, depth, order, size)
