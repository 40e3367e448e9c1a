"""Short closed cycles: paths between the same ends whose offsets add up to the same angle."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import BoolArray, FloatArray, IntArray

log = logging.getLogger(__name__)


# Scales of cycle noise that are told apart, up to half a radian.
_SCALES = np.geomspace(1e-7, 0.5, 24)
# Below this a cycle counts as exact: offsets are stored in double precision.
_EXACT = 1e-8


@dataclass(frozen=True, eq=False)
class Paths:
    """P paths, each once: ends u < v, sum of the offsets, edges and inner nodes (-1 for none)."""

    ends: IntArray
    total: FloatArray
    edges: IntArray
    inner: IntArray


@dataclass(frozen=True, eq=False)
class Arcs:
    """Both directions of every edge, sorted by tail: θ[head] = θ[tail] + shift."""

    tail: IntArray
    head: IntArray
    shift: FloatArray
    edge: IntArray
    first: IntArray

    def out_of(self, node: IntArray) -> tuple[IntArray, IntArray]:
        """All arcs that leave each of the nodes: position in `node`, and arc."""
        count = self.first[node + 1] - self.first[node]
        owner = np.repeat(np.arange(len(node)), count)
        step = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        return owner, self.first[node][owner] + step


def arcs_of(graph: MeasurementGraph) -> Arcs:
    """The 2m arcs of a graph."""
    tail = np.concatenate([graph.dst, graph.src])
    head = np.concatenate([graph.src, graph.dst])
    order = np.lexsort((head, tail))
    shift = np.concatenate([graph.offset, -graph.offset])[order]
    edge = np.concatenate([np.arange(graph.num_edges)] * 2)[order]
    first = np.searchsorted(tail[order], np.arange(graph.num_nodes + 1))
    return Arcs(tail[order], head[order], shift, edge, first)


def find_paths(graph: MeasurementGraph, arcs: Arcs, limit: int) -> Paths:
    """Paths of one, two and, if they are no more than half of `limit`, three edges.

    Two paths with the same ends make a cycle of up to six edges. If even the two-edge paths are
    more than `limit`, only single edges are returned.
    """
    n = graph.num_nodes
    degree = np.diff(arcs.first)
    forward = arcs.tail < arcs.head
    parts = [_pack(arcs.tail, arcs.head, arcs.shift, [arcs.edge], [], forward, n)]
    two = int((degree[arcs.head] - 1).sum()) // 2
    if two > limit:
        log.info("%d paths of two edges are more than %d: no cycles are looked for", two, limit)
        return parts[0]
    owner, arc = arcs.out_of(arcs.head)
    tail, middle, head = arcs.tail[owner], arcs.head[owner], arcs.head[arc]
    total = arcs.shift[owner] + arcs.shift[arc]
    ends = tail != head
    tail, middle, head, total = tail[ends], middle[ends], head[ends], total[ends]
    edges = [arcs.edge[owner][ends], arcs.edge[arc][ends]]
    parts.append(_pack(tail, head, total, edges, [middle], tail < head, n))
    if two + int(degree[head].sum()) // 2 <= limit // 2:
        owner, arc = arcs.out_of(head)
        end = arcs.head[arc]
        simple = (tail[owner] < end) & (end != middle[owner])
        owner, arc, end = owner[simple], arc[simple], end[simple]
        edges = [edges[0][owner], edges[1][owner], arcs.edge[arc]]
        inner = [middle[owner], head[owner]]
        everything = np.ones(len(end), dtype=bool)
        total = total[owner] + arcs.shift[arc]
        parts.append(_pack(tail[owner], end, total, edges, inner, everything, n))
    return Paths(
        np.concatenate([p.ends for p in parts]),
        np.concatenate([p.total for p in parts]),
        np.concatenate([p.edges for p in parts]),
        np.concatenate([p.inner for p in parts]),
    )


def cycle_noise(graph: MeasurementGraph, paths: Paths, most: int = 30_000) -> float:
    """Estimated noise σ of one edge, from sums of cycles; infinite if no cycle stands out.

    Sums of cycles of t edges are uniform, or normal with variance tσ² when all edges are inliers
    of one group. The scale of greatest likelihood wins if it beats uniform clearly.
    """
    order = np.lexsort((paths.edges[:, 0], paths.ends))
    ends, total = paths.ends[order], paths.total[order]
    length = (paths.edges[order] >= 0).sum(axis=1)
    sums, lengths = [], []
    for lag in (1, 2, 3):
        close = np.flatnonzero(ends[lag:] == ends[:-lag])
        sums.append(wrap(total[close + lag] - total[close]))
        lengths.append(length[close + lag] + length[close])
    value, size = np.concatenate(sums), np.concatenate(lengths)
    # Exact cycles are unmistakable and may be few: look for them among all.
    if np.count_nonzero(np.abs(value) < _EXACT) > 2 + 10 * len(value) * _EXACT / np.pi:
        return _EXACT / 10
    step = max(len(value) // most, 1)
    value, size = np.abs(value[::step]) / np.sqrt(size[::step]), size[::step]
    if not len(value):
        return np.inf
    best, sigma = 5.0 + np.log(len(_SCALES)), np.inf
    for scale in _SCALES:
        ratio = np.sqrt(TWO_PI) / (scale * np.sqrt(size)) * np.exp(-0.5 * (value / scale) ** 2)
        share = 0.5
        for _ in range(20):
            share = float(np.clip((share * ratio / (share * ratio + 1 - share)).mean(), 1e-9, 0.99))
        likelihood = float(np.log1p(share * (ratio - 1.0)).sum())
        if likelihood > best:
            best, sigma = likelihood, float(scale)
    return sigma


def tolerance_of(sigma: float) -> float:
    """How far two paths' sums may differ and count as equal: four σ of a six-edge cycle."""
    return max(4.0 * np.sqrt(6.0) * sigma, _EXACT)


def closed_clusters(
    graph: MeasurementGraph, paths: Paths, tolerance: float
) -> tuple[IntArray, float]:
    """Label (m,) of the cluster of edges tied together by closed cycles, -1 for none.

    Paths sorted by ends and sum stand next to the path that they close a cycle with. Edges common
    to both cancel and are not certified. Two cycles that meet in a node only are not tied: for
    k > 1 they may belong to different groups. Also returns the expected share of chance among
    the cycles found: (pairs of paths)·tolerance/π over their number.
    """
    total = np.mod(paths.total, TWO_PI)
    order = np.lexsort((total, paths.ends))
    ends, total = paths.ends[order], total[order]
    new = np.flatnonzero(np.concatenate([[True], ends[1:] != ends[:-1]]))
    last = np.concatenate([new[1:], [len(ends)]]) - 1
    follows = np.flatnonzero((ends[1:] == ends[:-1]) & (np.diff(total) < tolerance))
    around = (last > new) & (total[new] + TWO_PI - total[last] < tolerance)
    one = order[np.concatenate([follows, last[around]])]
    other = order[np.concatenate([follows + 1, new[around]])]

    a, b = paths.inner[one], paths.inner[other]
    # An inner node shared in different places makes two cycles of one: see above.
    pinched = ((a[:, 0] == b[:, 1]) | (a[:, 1] == b[:, 0])) & (a[:, 1] >= 0) & (b[:, 1] >= 0)
    a, b = paths.edges[one[~pinched]], paths.edges[other[~pinched]]
    common = (a[:, :, None] == b[:, None, :]) & (a[:, :, None] >= 0)
    cycle = np.concatenate([np.where(common.any(2), -1, a), np.where(common.any(1), -1, b)], axis=1)
    cycle = np.sort(cycle, axis=1)[:, ::-1]
    head, rest = np.repeat(cycle[:, 0], 5), cycle[:, 1:].ravel()
    tied = rest >= 0
    m = graph.num_edges
    link = sp.coo_array((np.ones(tied.sum(), np.int8), (head[tied], rest[tied])), shape=(m, m))
    label = connected_components(link, directed=False)[1]
    label = np.where(np.bincount(label)[label] >= 2, label, -1).astype(np.int64)

    size = last - new + 1.0
    chance = float((size * (size - 1) / 2).sum()) * tolerance / np.pi
    return label, chance / max(len(cycle), 1)


def _pack(
    tail: IntArray,
    head: IntArray,
    total: FloatArray,
    edges: list[IntArray],
    inner: list[IntArray],
    keep: BoolArray,
    num_nodes: int,
) -> Paths:
    none = np.full(int(keep.sum()), -1)
    edge_columns = [e[keep] for e in edges] + [none] * (3 - len(edges))
    inner_columns = [i[keep] for i in inner] + [none] * (2 - len(inner))
    return Paths(
        (tail * num_nodes + head)[keep],
        total[keep],
        np.stack(edge_columns, axis=1),
        np.stack(inner_columns, axis=1),
    )
