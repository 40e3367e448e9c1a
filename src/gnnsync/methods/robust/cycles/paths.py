"""Short closed cycles: paths between the same ends whose offsets add up to the same angle."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.topology import component_labels
from gnnsync.typing import BoolArray, FloatArray, IntArray

log = logging.getLogger(__name__)


# Noise levels that are compared: up to half a radian, where cycle sums become uniform.
_SCALES = np.geomspace(1e-7, 0.5, 24)
# A cycle whose sum is below this counts as exact: offsets are stored in double precision.
_EXACT = 1e-8
# Exact cycles count as real from this many beyond this multiple of those expected by chance; the
# noise is then a small part of `_EXACT`.
_LEAST_EXACT, _EXACT_FACTOR = 2, 10
_EXACT_SIGMA = _EXACT / 10
# Log likelihood ratio to uniform sums by which a noise level must win, beyond log(number of levels)
# for their choice: odds of e⁵ = 150.
_LEAST_GAIN = 5.0
# EM for the share of closed cycles: first value, iterations, and its range.
_FIRST_SHARE, _SHARE_ITERATIONS = 0.5, 20
_LEAST_SHARE, _LARGEST_SHARE = 1e-9, 0.99
# Paths of the same ends are compared with this many successors in the list.
_LAGS = (1, 2, 3)
# Longest cycle, made of two paths of three edges, and standard deviations of its sum that count as
# closed.
_LONGEST_CYCLE = 6
_CLOSED_SIGMAS = 4.0


@dataclass(frozen=True, eq=False)
class Paths:
    """P paths with ends u < v, each once.

    Args:
        ends: (P,) u·n + v.
        total: (P,) sum of the offsets along the path.
        edges: (P, 3) edges, -1 beyond the last.
        inner: (P, 2) inner nodes, -1 beyond the last.
    """

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


def find_paths(graph: MeasurementGraph, arcs: Arcs, limit: int, every: int = 1) -> Paths:
    """Paths of one, two and, if they are no more than half of `limit`, three edges.

    Two paths with the same ends make a cycle of up to six edges. If even the two-edge paths are
    more than `limit`, only single edges are returned. With `every` above 1, only the paths whose
    lower end is a multiple of it: a sample in which both paths of a cycle are present or absent.
    """
    n = graph.num_nodes
    two, three = count_paths(arcs, limit)
    start = np.flatnonzero(arcs.tail % every == 0)
    first_tail, first_head = arcs.tail[start], arcs.head[start]
    forward = first_tail < first_head
    parts = [_pack(first_tail, first_head, arcs.shift[start], [arcs.edge[start]], [], forward, n)]
    if not two:
        return parts[0]
    owner, arc = arcs.out_of(first_head)
    owner = start[owner]
    tail, middle, head = arcs.tail[owner], arcs.head[owner], arcs.head[arc]
    total = arcs.shift[owner] + arcs.shift[arc]
    ends = tail != head
    tail, middle, head, total = tail[ends], middle[ends], head[ends], total[ends]
    edges = [arcs.edge[owner][ends], arcs.edge[arc][ends]]
    parts.append(_pack(tail, head, total, edges, [middle], tail < head, n))
    if three:
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


def count_paths(arcs: Arcs, limit: int) -> tuple[int, int]:
    """Number of paths of two and of three edges that `find_paths` finds with this limit."""
    degree = np.diff(arcs.first)
    around = np.bincount(arcs.tail, degree[arcs.head], len(degree))
    two = int((degree[arcs.head] - 1).sum()) // 2
    three = int((around[arcs.head] - degree[arcs.tail]).sum()) // 2
    if two > limit:
        log.info("%d paths of two edges exceed the limit of %d: cycles not searched", two, limit)
        return 0, 0
    return two, three if two + three <= limit // 2 else 0


def cycle_noise(paths: Paths, most: int = 30_000) -> float:
    """Estimated noise σ of one edge, from sums of cycles; infinite if they look uniform.

    Sums of cycles of t edges are uniform, or normal with variance tσ² when all edges are inliers
    of one group. σ is the noise level of greatest likelihood, if that clearly exceeds uniform. At
    most about `most` cycles are used.
    """
    order = np.lexsort((paths.edges[:, 0], paths.ends))
    ends, total = paths.ends[order], paths.total[order]
    length = (paths.edges[order] >= 0).sum(axis=1)
    sums, lengths = [], []
    for lag in _LAGS:
        close = np.flatnonzero(ends[lag:] == ends[:-lag])
        sums.append(wrap(total[close + lag] - total[close]))
        lengths.append(length[close + lag] + length[close])
    value, size = np.concatenate(sums), np.concatenate(lengths)
    # Exact cycles are unmistakable and may be few: they are counted among all cycles.
    chance = len(value) * _EXACT / np.pi
    if np.count_nonzero(np.abs(value) < _EXACT) > _LEAST_EXACT + _EXACT_FACTOR * chance:
        return _EXACT_SIGMA
    step = max(len(value) // most, 1)
    value, size = np.abs(value[::step]) / np.sqrt(size[::step]), size[::step]
    if not len(value):
        return np.inf
    best, sigma = _LEAST_GAIN + np.log(len(_SCALES)), np.inf
    for scale in _SCALES:
        ratio = np.sqrt(TWO_PI) / (scale * np.sqrt(size)) * np.exp(-0.5 * (value / scale) ** 2)
        share = _FIRST_SHARE
        for _ in range(_SHARE_ITERATIONS):
            member = share * ratio / (share * ratio + 1 - share)
            share = float(np.clip(member.mean(), _LEAST_SHARE, _LARGEST_SHARE))
        likelihood = float(np.log1p(share * (ratio - 1.0)).sum())
        if likelihood > best:
            best, sigma = likelihood, float(scale)
    return sigma


def tolerance_of(sigma: float) -> float:
    """Greatest difference of two paths' sums that count as equal: four σ of a six-edge cycle."""
    return max(_CLOSED_SIGMAS * np.sqrt(_LONGEST_CYCLE) * sigma, _EXACT)


def closed_clusters(
    graph: MeasurementGraph, paths: Paths, tolerance: float
) -> tuple[IntArray, float]:
    """Clusters of edges linked by closed cycles, and the expected share of chance closures.

    Returns the label (m,) of each edge's cluster, -1 for none. Sorted by ends and sum, a path is
    next to the path with which it closes a cycle. Edges common to both cancel and are not
    certified. Two cycles that share only a node are not linked: for k > 1 they may belong to
    different groups. Chance closures are (pairs of paths)·tolerance/π in expectation, returned as
    a share of the cycles found.
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
    # An inner node at different positions of the two paths pinches the cycle into two.
    pinched = ((a[:, 0] == b[:, 1]) | (a[:, 1] == b[:, 0])) & (a[:, 1] >= 0) & (b[:, 1] >= 0)
    a, b = paths.edges[one[~pinched]], paths.edges[other[~pinched]]
    common = (a[:, :, None] == b[:, None, :]) & (a[:, :, None] >= 0)
    cycle = np.concatenate([np.where(common.any(2), -1, a), np.where(common.any(1), -1, b)], axis=1)
    cycle = np.sort(cycle, axis=1)[:, ::-1]
    head, rest = np.repeat(cycle[:, 0], _LONGEST_CYCLE - 1), cycle[:, 1:].ravel()
    linked = rest >= 0
    linked_edges = np.stack([head[linked], rest[linked]])
    label = component_labels(linked_edges, graph.num_edges).astype(np.int64)
    label = np.where(np.bincount(label)[label] >= 2, label, -1)

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
    """The paths marked `keep`, with columns of -1 where they have fewer than three edges."""
    none = np.full(int(keep.sum()), -1)
    edge_columns = [e[keep] for e in edges] + [none] * (3 - len(edges))
    inner_columns = [i[keep] for i in inner] + [none] * (2 - len(inner))
    return Paths(
        (tail * num_nodes + head)[keep],
        total[keep],
        np.stack(edge_columns, axis=1),
        np.stack(inner_columns, axis=1),
    )
