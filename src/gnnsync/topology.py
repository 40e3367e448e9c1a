"""Combinatorics of an edge list: triangles, bridges, spanning trees, components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from gnnsync.typing import BoolArray, FloatArray, IntArray

# Candidate wedges examined at a time: bounds the working memory to some hundred megabytes.
_WEDGES_PER_CHUNK = 1 << 22
# Up to this many wedges (some seconds), all of them are enumerated before a sample is drawn.
_ENUMERATE_BELOW = 1 << 24
# Edges per node from which `bridges` first looks for nodes between which there are none.
_MANY_PER_NODE = 8


@dataclass(frozen=True, eq=False)
class Triangles:
    """T triangles as closed walks over edges.

    `edges` (T, 3) are edge ids and `signs` (T, 3) are ±1: walking the triangle in one direction
    crosses edge e along (+1) or against (-1) its stored direction, so that for consistent offsets
    Σ_c signs[t, c] · offset[edges[t, c]] = 0 mod 2π.
    """

    edges: IntArray
    signs: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.edges)

    def sums(self, offset: FloatArray) -> FloatArray:
        """Signed sum (T,) of an edge quantity (m,) around each triangle."""
        return (offset[self.edges] * self.signs).sum(axis=1)

    def sample(self, most: int, rng: np.random.Generator) -> Triangles:
        """At most `most` of the triangles, drawn at random."""
        if len(self) <= most:
            return self
        kept = np.sort(rng.choice(len(self), most, replace=False))
        return Triangles(self.edges[kept], self.signs[kept])


def find_triangles(edge_index: IntArray, num_nodes: int) -> Triangles:
    """All triangles of the graph with edges `edge_index` (2, m), in O(Σ_e min degree) time.

    Nodes are ranked by degree and pairs oriented upwards, so that every triangle u < v < w is
    found once, from its lowest corner, by looking up the pair (v, w). Parallel measurements of
    one pair give one triangle per combination of them.
    """
    pairs = _UpwardPairs(edge_index, num_nodes)
    return pairs.triangles(pairs.closed_wedges())


def draw_triangles(
    edge_index: IntArray, num_nodes: int, limit: int, rng: np.random.Generator
) -> Triangles:
    """A uniform sample of at most `limit` triangles; all of them if there are no more.

    Every triangle has exactly one wedge at its lowest corner, so uniform wedges that close are
    uniform triangles, and the other triangles are never enumerated. Parallel measurements are
    sampled together and may exceed the limit.
    """
    pairs = _UpwardPairs(edge_index, num_nodes)
    if pairs.num_wedges <= _ENUMERATE_BELOW:
        found = pairs.closed_wedges()
    else:
        found = pairs.drawn_wedges(limit, rng)
    if len(found) > limit:
        found = found[np.sort(rng.choice(len(found), limit, replace=False))]
    return pairs.triangles(found)


class _UpwardPairs:
    """The measured pairs, each directed from its node of lower degree and sorted by that node.

    A wedge is two pairs (uv, uw) with the same lower corner u; it is closed if (v, w) is a pair.
    Wedges are numbered in the order of their first pair.
    """

    def __init__(self, edge_index: IntArray, num_nodes: int) -> None:
        src, dst = edge_index
        degree = np.bincount(edge_index.ravel(), minlength=num_nodes)
        rank = np.empty(num_nodes, dtype=np.int64)
        rank[np.argsort(degree, kind="stable")] = np.arange(num_nodes)
        low, high = np.minimum(rank[src], rank[dst]), np.maximum(rank[src], rank[dst])
        self.upward = np.where(rank[src] < rank[dst], 1, -1).astype(np.int8)
        key = low * num_nodes + high
        self.num_nodes, self.order = num_nodes, np.argsort(key, kind="stable")
        self.key, self.start, self.size = np.unique(
            key[self.order], return_index=True, return_counts=True
        )
        own, self.high = np.divmod(self.key, num_nodes)
        first_of = np.searchsorted(own, np.arange(num_nodes + 1))
        # A pair forms a wedge with each later pair of its corner.
        self.wedges = first_of[own + 1] - np.arange(len(self.key)) - 1
        self.wedge_end = np.cumsum(self.wedges)

    @property
    def num_wedges(self) -> int:
        return int(self.wedge_end[-1]) if len(self.wedge_end) else 0

    def closed_wedges(self) -> IntArray:
        """All triangles (T, 3) as pairs (uv, vw, uw)."""
        found = [
            self._closed(np.arange(start, min(start + _WEDGES_PER_CHUNK, self.num_wedges)))
            for start in range(0, self.num_wedges, _WEDGES_PER_CHUNK)
        ]
        return np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)

    def drawn_wedges(self, limit: int, rng: np.random.Generator) -> IntArray:
        """At least `limit` uniform triangles, if there are as many; else all."""
        found: IntArray = np.empty((0, 3), dtype=np.int64)
        drawn = 0
        # Sampling half of the wedges costs more than enumerating all of them.
        while len(found) < limit:
            if drawn > self.num_wedges // 2:
                return self.closed_wedges()
            wedge = rng.integers(self.num_wedges, size=_WEDGES_PER_CHUNK)
            drawn += len(wedge)
            found = np.unique(np.concatenate([found, self._closed(distinct(wedge))]), axis=0)
        return found

    def _closed(self, wedge: IntArray) -> IntArray:
        """The triangles among wedges given by number."""
        uv = np.searchsorted(self.wedge_end, wedge, side="right")
        uw = uv + 1 + wedge - (self.wedge_end[uv] - self.wedges[uv])
        wanted = self.high[uv] * self.num_nodes + self.high[uw]
        vw = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        closed = np.flatnonzero(self.key[vw] == wanted)
        return np.stack([uv[closed], vw[closed], uw[closed]], axis=1)

    def triangles(self, pairs: IntArray) -> Triangles:
        """Triangles over edges from triangles (T, 3) over pairs."""
        edges = _expand_parallel(pairs, self.order, self.start, self.size)
        # The walk u → v → w → u runs up two sides and down the third.
        signs = self.upward[edges]
        signs[:, 2] *= -1
        edges.flags.writeable = signs.flags.writeable = False
        return Triangles(edges, signs)


def _expand_parallel(
    pair_triangles: IntArray,
    order: IntArray,
    pair_start: IntArray,
    pair_size: IntArray,
) -> IntArray:
    """Replace pairs by edge ids; a pair measured s times contributes each of its s edges."""
    if pair_size.max(initial=1) == 1:
        return order[pair_triangles]
    size = pair_size[pair_triangles]
    copies = size.prod(axis=1)
    which = np.repeat(np.arange(len(pair_triangles)), copies)
    code = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
    edges = np.empty((len(which), 3), dtype=np.int64)
    for corner in range(3):
        code, choice = np.divmod(code, size[which, corner])
        edges[:, corner] = order[pair_start[pair_triangles[which, corner]] + choice]
    return edges


def bridges(edge_index: IntArray, num_nodes: int) -> BoolArray:
    """Which edges (m,) lie on no cycle, in O(n + m). Parallel edges form a cycle.

    Nodes that each of two disjoint sets of edges joins have two paths without a common edge, and no
    bridge is between them. With many edges they are found first, and count as one node.
    """
    m = edge_index.shape[1]
    if not m:
        return np.zeros(0, dtype=bool)
    if m < _MANY_PER_NODE * num_nodes:
        return _tree_bridges(edge_index, num_nodes)
    step = max(2 * m // (_MANY_PER_NODE * num_nodes), 2)
    one, two = (component_labels(edge_index[:, i::step], num_nodes) for i in range(2))
    label = np.unique(one.astype(np.int64) * num_nodes + two, return_inverse=True)[1]
    ends = label[edge_index]
    between = np.flatnonzero(ends[0] != ends[1])
    found = np.zeros(m, dtype=bool)
    if len(between):
        found[between] = _tree_bridges(ends[:, between], int(label.max()) + 1)
    return found


def _tree_bridges(edge_index: IntArray, num_nodes: int) -> BoolArray:
    """The bridges (m,) of at least one edge.

    On any spanning forest with preorder numbers, the tree edge above v is a bridge iff no other
    edge leaves the subtree of v, whose numbers are consecutive.
    """
    m = edge_index.shape[1]
    order, parent = spanning_forest(edge_index, num_nodes)
    size, number = _preorder(order, parent)
    edge_above = parent_edges(edge_index, parent)
    below = np.flatnonzero(edge_above >= 0)
    tree = edge_above[below]
    other = np.ones(m, dtype=bool)
    other[tree] = False

    low, high = number.copy(), number.copy()
    a, b = edge_index[:, other]
    for here, there in ((a, b), (b, a)):
        np.minimum.at(low, here, number[there])
        np.maximum.at(high, here, number[there])
    lows, highs, parents = low.tolist(), high.tolist(), parent.tolist()
    for v in reversed(order.tolist()):
        p = parents[v]
        if p >= 0:
            if lows[v] < lows[p]:
                lows[p] = lows[v]
            if highs[v] > highs[p]:
                highs[p] = highs[v]
    closed = (np.array(lows)[below] >= number[below]) & (
        np.array(highs)[below] < number[below] + size[below]
    )
    found = np.zeros(m, dtype=bool)
    found[tree[closed]] = True
    return found


def spanning_forest(edge_index: IntArray, num_nodes: int) -> tuple[IntArray, IntArray]:
    """Breadth-first spanning forest: nodes in order of their visit, and parents (n,), -1 at a root.

    The root of a component is its node of lowest number.
    """
    # One extra node joined to a root in each component turns the forest into a single tree.
    _, roots = np.unique(component_labels(edge_index, num_nodes), return_index=True)
    row = np.concatenate([edge_index[0], np.full(len(roots), num_nodes)])
    col = np.concatenate([edge_index[1], roots])
    joined = sp.coo_array((np.ones(len(row), np.int8), (row, col)), (num_nodes + 1,) * 2).tocsr()
    # Parallel edges add up in the sparse matrix, and in int8 might add up to 0.
    joined.data[:] = 1
    order, parent = breadth_first_order(joined, num_nodes, directed=False)
    parent = np.where(parent[:num_nodes] == num_nodes, -1, parent[:num_nodes])
    return order[1:].astype(np.int64), parent.astype(np.int64)


def minimum_spanning_edges(edge_index: IntArray, num_nodes: int, order: IntArray) -> IntArray:
    """Edges of the spanning forest that prefers edges early in `order` (m,), a permutation.

    The result of Kruskal's algorithm when it takes the edges in this order; of parallel edges only
    the first can be in the forest.
    """
    low, high = edge_index.min(axis=0)[order], edge_index.max(axis=0)[order]
    # Parallel edges would add up in the matrix: only the first of each pair enters.
    first = np.unique(low * num_nodes + high, return_index=True)[1]
    # A stored 0 would mean "no edge": ranks start at 1.
    ranks = sp.coo_array((first + 1.0, (low[first], high[first])), (num_nodes,) * 2).tocsr()
    return order[minimum_spanning_tree(ranks).data.astype(np.int64) - 1]


def forest_angles(edge_index: IntArray, offset: FloatArray, num_nodes: int) -> FloatArray:
    """Angles (n,) with x[s] - x[t] = offset on every edge (s, t) of the breadth-first forest.

    Roots have the angle 0. The m edges may be a forest themselves, and then all are satisfied.
    """
    _, parent = spanning_forest(edge_index, num_nodes)
    edge = parent_edges(edge_index, parent)
    inner = np.flatnonzero(edge >= 0)
    chosen = edge[inner]
    # The extra node `num_nodes` is the parent of every root, and its own.
    above = np.append(np.where(parent < 0, num_nodes, parent), num_nodes)
    angles = np.zeros(num_nodes + 1)
    angles[inner] = np.where(edge_index[0, chosen] == inner, offset[chosen], -offset[chosen])
    # Pointer jumping: log(depth) rounds add up the offsets from every node to its root.
    while (above != num_nodes).any():
        angles = angles + np.where(above == num_nodes, 0.0, angles[above])
        above = above[above]
    return angles[:num_nodes]


def parent_edges(edge_index: IntArray, parent: IntArray) -> IntArray:
    """Edge (n,) between each node and its parent (n,), the first of parallel ones; -1 at a root."""
    src, dst = edge_index
    down = parent[dst] == src
    child = np.where(down, dst, src)
    candidate = np.flatnonzero(down | (parent[src] == dst))
    node, first = np.unique(child[candidate], return_index=True)
    edge = np.full(len(parent), -1)
    edge[node] = candidate[first]
    return edge


def _preorder(order: IntArray, parent: IntArray) -> tuple[IntArray, IntArray]:
    """Subtree sizes and preorder numbers of a forest given in breadth-first order."""
    visit, above = order.tolist(), parent.tolist()
    size = [1] * len(above)
    for v in reversed(visit):
        if above[v] >= 0:
            size[above[v]] += size[v]
    number, free = [0] * len(above), [0] * len(above)
    next_root = 0
    for v in visit:
        p = above[v]
        if p < 0:
            number[v], next_root = next_root, next_root + size[v]
        else:
            number[v], free[p] = free[p], free[p] + size[v]
        free[v] = number[v] + 1
    return np.array(size), np.array(number)


def numbered_by_appearance(labels: NDArray[np.int32] | IntArray) -> IntArray:
    """The same classes as `labels` (n,), numbered from 0 by their first appearance."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place]


def component_labels(edge_index: IntArray, num_nodes: int) -> NDArray[np.int32]:
    """Connected component (n,) of each node of the graph with edges `edge_index` (2, m)."""
    ones = np.ones(edge_index.shape[1])
    return connected_components(sp.coo_array((ones, tuple(edge_index)), (num_nodes,) * 2))[1]


def distinct(values: IntArray) -> IntArray:
    """The distinct integers of an array (m,), sorted.

    As `np.unique`, but by sorting: NumPy 2.3 and later hash them, which takes ten times as long for
    a million keys of edges.
    """
    ordered = np.sort(values)
    if not ordered.size:
        return ordered
    new = np.empty(ordered.size, dtype=bool)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]
