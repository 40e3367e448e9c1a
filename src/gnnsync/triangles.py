"""Enumeration of the triangles of a graph, each exactly once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Candidate wedges examined at a time: bounds the working memory to some hundred megabytes.
_WEDGES_PER_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Triangles:
    """T triangles as closed walks over edges.

    `edges` (T, 3) are edge ids and `signs` (T, 3) are ±1: walking the triangle in one direction
    crosses edge e along (+1) or against (-1) its stored direction, so that for consistent offsets
    Σ_c signs[t, c] · offset[edges[t, c]] = 0 mod 2π.
    """

    edges: NDArray[np.int64]
    signs: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.edges)

    def sums(self, offset: NDArray[np.float64]) -> NDArray[np.float64]:
        """Signed sum (T,) of an edge quantity (m,) around each triangle."""
        return (offset[self.edges] * self.signs).sum(axis=1)


def find_triangles(edge_index: NDArray[np.int64], num_nodes: int) -> Triangles:
    """All triangles of the graph with edges `edge_index` (2, m), in O(Σ_e min degree) time.

    Nodes are ranked by degree and pairs oriented upwards, so that every triangle u < v < w is
    found once, from its lowest corner, by looking up the pair (v, w). Parallel measurements of
    one pair give one triangle per combination of them.
    """
    src, dst = edge_index
    degree = np.bincount(edge_index.ravel(), minlength=num_nodes)
    rank = np.empty(num_nodes, dtype=np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(num_nodes)
    low, high = np.minimum(rank[src], rank[dst]), np.maximum(rank[src], rank[dst])
    upward = np.where(rank[src] < rank[dst], 1, -1).astype(np.int8)

    key = low * num_nodes + high
    order = np.argsort(key, kind="stable")
    pair_key, pair_start, pair_size = np.unique(key[order], return_index=True, return_counts=True)
    pair_triangles = _pair_triangles(pair_key, num_nodes)
    edges = _expand_parallel(pair_triangles, order, pair_start, pair_size)
    # The walk u → v → w → u runs up two sides and down the third.
    signs = upward[edges]
    signs[:, 2] *= -1
    edges.flags.writeable = signs.flags.writeable = False
    return Triangles(edges, signs)


def _pair_triangles(pair_key: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Triangles (T, 3) as positions in the sorted array of upward pairs: (uv, vw, uw)."""
    low, high = np.divmod(pair_key, num_nodes)
    first_of = np.searchsorted(low, np.arange(num_nodes + 1))
    # Pairs of one low corner are consecutive: pair i opens a wedge with each later one of its row.
    wedges = first_of[low + 1] - np.arange(len(pair_key)) - 1
    ends = np.cumsum(wedges)
    found = []
    start = 0
    while start < len(pair_key):
        done = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, done + _WEDGES_PER_CHUNK, side="right")), start + 1)
        count = wedges[start:stop]
        uv = np.repeat(np.arange(start, stop), count)
        uw = uv + 1 + np.arange(len(uv)) - np.repeat(np.cumsum(count) - count, count)
        wanted = high[uv] * num_nodes + high[uw]
        vw = np.minimum(np.searchsorted(pair_key, wanted), len(pair_key) - 1)
        closed = np.flatnonzero(pair_key[vw] == wanted)
        found.append(np.stack([uv[closed], vw[closed], uw[closed]], axis=1))
        start = stop
    return np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)


def _expand_parallel(
    pair_triangles: NDArray[np.int64],
    order: NDArray[np.int64],
    pair_start: NDArray[np.int64],
    pair_size: NDArray[np.int64],
) -> NDArray[np.int64]:
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
