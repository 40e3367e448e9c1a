"""Rigid bodies: sets of nodes whose angles relative to one another are certified by cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.cycles.paths import Arcs
from gnnsync.topology import distinct
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Chance agreements expected per candidate place, below which an agreement is a certificate.
_CHANCE = 1e-3
# Paths of two edges out of all bodies that are still looked at: some hundred megabytes.
_MOST_PATHS = 5_000_000
# Bodies smaller than the largest by more than this factor grow by single edges only.
_MUCH_SMALLER = 20


@dataclass(frozen=True, eq=False)
class Bodies:
    """Memberships (P,), sorted by body, then node; one node may be in several bodies.

    `edge_body` (m,) is the body whose cycles certified an edge, or -1.
    """

    body: IntArray
    node: IntArray
    angle: FloatArray
    edge_body: IntArray
    num_nodes: int

    @property
    def key(self) -> IntArray:
        """body·n + node, ascending."""
        return self.body * self.num_nodes + self.node

    @property
    def size(self) -> IntArray:
        """Number of nodes of each body."""
        return np.bincount(self.body)


def bodies_of(graph: MeasurementGraph, label: IntArray) -> Bodies:
    """One body per cluster of edges (label ≥ 0), its angles summed along a spanning tree."""
    n = graph.num_nodes
    kept = np.flatnonzero(label >= 0)
    edge_body = np.full(graph.num_edges, -1)
    if not len(kept):
        empty = np.empty(0, dtype=np.int64)
        return Bodies(empty, empty, np.empty(0), edge_body, n)
    number = np.unique(label[kept], return_inverse=True)[1]
    edge_body[kept] = number
    source, target = number * n + graph.src[kept], number * n + graph.dst[kept]
    key = distinct(np.concatenate([source, target]))
    a, b = np.searchsorted(key, source), np.searchsorted(key, target)
    angle = _tree_angles(len(key), a, b, graph.offset[kept], np.searchsorted(key // n, number))
    return Bodies(key // n, key % n, angle, edge_body, n)


def grow(bodies: Bodies, arcs: Arcs, tolerance: float, *, one_group: bool, reach: int) -> Bodies:
    """Add to every body, again and again, the nodes on which enough of its votes agree.

    Votes are carried by single edges and, with `reach` 2, by paths of two edges through a node
    outside. For several groups agreeing votes must leave different nodes of the body: two that
    leave the same one close a cycle that may belong to another group. With reach 2 only the
    larger bodies grow, and only once.
    """
    while len(bodies.body):
        start = np.arange(len(bodies.body))
        if reach == 2:
            start = start[bodies.size[bodies.body] >= bodies.size.max() / _MUCH_SMALLER]
        owner, arc = arcs.out_of(bodies.node[start])
        owner = start[owner]
        vote = bodies.angle[owner] + arcs.shift[arc]
        origin = arc if one_group else bodies.node[owner]
        body, head, vote, origin = _outside(
            bodies, bodies.body[owner], arcs.head[arc], vote, origin
        )
        if reach == 2:
            if int(np.diff(arcs.first)[head].sum()) > _MOST_PATHS:
                return bodies
            first, then = arcs.out_of(head)
            far = _outside(
                bodies,
                body[first],
                arcs.head[then],
                vote[first] + arcs.shift[then],
                origin[first],
            )
            body, head, vote, origin = (
                np.concatenate(pair) for pair in zip((body, head, vote, origin), far, strict=True)
            )
        place = body * bodies.num_nodes + head
        where, angle, support, total = agreements(place, vote, tolerance, origin)
        certain = support >= needed(total, tolerance)
        if not certain.any():
            return bodies
        bodies = _add(bodies, where[certain], angle[certain])
        if reach == 2:
            return bodies
    return bodies


def merge(bodies: Bodies, arcs: Arcs, tolerance: float, *, one_group: bool, reach: int) -> Bodies:
    """Join bodies that agree on their relative rotation, every one to a larger one.

    Votes for a rotation come from nodes in both bodies, from edges between a node of one and a
    node of the other, and with `reach` 2 from paths of two edges between them. With one group a
    common node decides; else two votes must agree that share no node of either body.
    """
    while bodies.body.size:
        size = bodies.size
        rank = np.empty(len(size), dtype=np.int64)
        rank[np.argsort(size, kind="stable")] = np.arange(len(size))
        one, two, turn, shared = _rotations(bodies, arcs, rank, reach)
        pair = bodies.body[one] * len(size) + bodies.body[two]
        if one_group:
            twice = np.concatenate([np.arange(len(pair)), np.flatnonzero(shared)])
            votes = agreements(pair[twice], turn[twice], tolerance)
        else:
            votes = agreements(pair, turn, tolerance, bodies.node[one], bodies.node[two])
        where, angle, support, total = votes
        certain = support >= needed(total, tolerance)
        if not certain.any():
            return bodies
        where, angle, support = where[certain], angle[certain], support[certain]
        # Each small body goes to the partner it agrees with most, the larger one if equal.
        order = np.lexsort((rank[where % len(size)], support, where // len(size)))
        chosen = np.unique((where // len(size))[order][::-1], return_index=True)[1]
        best = order[::-1][chosen]
        parent, rotation = np.arange(len(size)), np.zeros(len(size))
        parent[where[best] // len(size)] = where[best] % len(size)
        rotation[where[best] // len(size)] = angle[best]
        bodies = _turn_into(bodies, *_to_roots(parent, rotation))
    return bodies


def agreements(
    place: IntArray, vote: FloatArray, tolerance: float, *origins: IntArray
) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """The largest set of votes at each place that agree within `tolerance`, on the circle.

    Returns places, mean votes, sizes and votes in all. With `origins` the size is the number of
    distinct origins, the least if several are given per vote.
    """
    if not len(place):
        return place, np.empty(0), place, place
    vote = np.mod(vote, TWO_PI)
    order = np.lexsort((vote, place))
    place, vote = place[order], vote[order]
    new_place = np.concatenate([[True], place[1:] != place[:-1]])
    starts = new_place | np.concatenate([[True], np.diff(vote) > tolerance])
    run = np.cumsum(starts) - 1
    first = np.flatnonzero(new_place)
    last = np.concatenate([first[1:], [len(place)]]) - 1
    around = (run[first] != run[last]) & (vote[first] + TWO_PI - vote[last] <= tolerance)
    into = np.arange(run[-1] + 1)
    into[run[last[around]]] = run[first[around]]
    run = into[run]
    count = np.bincount(run, minlength=len(into))
    base = vote[starts]
    mean = base + np.bincount(run, wrap(vote - base[run]), len(into)) / np.maximum(count, 1)
    for origin in origins:
        span = int(origin.max()) + 1
        voters = distinct(run * span + origin[order]) // span
        count = np.minimum(count, np.bincount(voters, minlength=len(into)))
    at = place[starts]
    best = np.lexsort((mean, count, at))
    best = best[np.concatenate([at[best][1:] != at[best][:-1], [True]])]
    return at[best], mean[best], count[best], last - first + 1


def needed(total: IntArray, tolerance: float) -> IntArray:
    """Agreeing votes, out of `total`, that chance all but never gives.

    Some r of T uniform votes lie within the tolerance in about T·(T·tolerance/2π)^(r-1) ways.
    """
    density = np.minimum(total * tolerance / TWO_PI, 0.5)
    return 1 + np.maximum(np.ceil(np.log(total / _CHANCE) / -np.log(density)), 1).astype(np.int64)


def _rotations(
    bodies: Bodies, arcs: Arcs, rank: IntArray, reach: int
) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Votes for the rotation that takes the angles of a small body to those of a larger one.

    Returns memberships of the small and the large body, rotations, and whether the vote is of a
    node that both have.
    """
    by_node = np.argsort(bodies.node, kind="stable")
    first = np.searchsorted(bodies.node[by_node], np.arange(bodies.num_nodes + 1))
    table = replace(arcs, first=first)  # the same look-up, of memberships instead of arcs
    member, slot = table.out_of(bodies.node)
    near, far, shift = [member], [by_node[slot]], [np.zeros(len(member))]
    owner, arc = arcs.out_of(bodies.node)
    path, length = arcs.shift[arc], 1
    node, mine = arcs.head[arc], bodies.edge_body[arcs.edge[arc]] == bodies.body[owner]
    # Fewer memberships than this per node on average, or the table would not fit.
    while len(node) * (len(bodies.body) / bodies.num_nodes + 1) <= _MOST_PATHS:
        hop, slot = table.out_of(node)
        end = by_node[slot]
        last_body = bodies.edge_body[arcs.edge[arc]][hop]
        # A path that starts or ends with an edge of the body says only where the two meet.
        fair = ~mine[hop] & (last_body != bodies.body[end])
        fair &= ~_inside(bodies, bodies.body[owner[hop]], bodies.node[end])
        fair &= ~_inside(bodies, bodies.body[end], bodies.node[owner[hop]])
        near.append(owner[hop][fair])
        far.append(end[fair])
        shift.append(path[hop][fair])
        if length == reach:
            break
        outside = ~mine & ~_inside(bodies, bodies.body[owner], node)
        owner, path, node, mine = owner[outside], path[outside], node[outside], mine[outside]
        if int(np.diff(arcs.first)[node].sum()) > _MOST_PATHS:
            break
        step, arc = arcs.out_of(node)
        owner, path, mine = owner[step], path[step] + arcs.shift[arc], mine[step]
        node, length = arcs.head[arc], length + 1
    one, two, turn = np.concatenate(near), np.concatenate(far), np.concatenate(shift)
    smaller = rank[bodies.body[one]] < rank[bodies.body[two]]
    shared = (np.arange(len(one)) < len(member))[smaller]
    one, two, turn = one[smaller], two[smaller], turn[smaller]
    # θ_large(far) = θ_small(near) + rotation + shift.
    turn = bodies.angle[two] - turn - bodies.angle[one]
    return one, two, turn, shared


def _to_roots(parent: IntArray, rotation: FloatArray) -> tuple[IntArray, FloatArray]:
    """Follow parents to their ends, adding up rotations; parents are larger, so there are ends."""
    while (parent[parent] != parent).any():
        rotation = rotation + np.where(parent == np.arange(len(parent)), 0.0, rotation[parent])
        parent = parent[parent]
    return parent, rotation


def _turn_into(bodies: Bodies, parent: IntArray, rotation: FloatArray) -> Bodies:
    """Relabel by parent; of several angles at a node, that of the body which was there first."""
    number = np.unique(parent, return_inverse=True)[1]
    own = parent[bodies.body] == bodies.body
    key = number[bodies.body] * bodies.num_nodes + bodies.node
    angle = bodies.angle + rotation[bodies.body]
    order = np.lexsort((~own, key))
    kept = order[np.concatenate([[True], np.diff(key[order]) > 0])]
    inside = bodies.edge_body >= 0
    edge_body = np.where(inside, number[bodies.edge_body], -1)
    n = bodies.num_nodes
    return Bodies(key[kept] // n, key[kept] % n, angle[kept], edge_body, n)


def _outside(
    bodies: Bodies, body: IntArray, head: IntArray, vote: FloatArray, origin: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Those of the votes that concern nodes outside their body."""
    new = ~_inside(bodies, body, head)
    return body[new], head[new], vote[new], origin[new]


def _add(bodies: Bodies, key: IntArray, angle: FloatArray) -> Bodies:
    keys = np.concatenate([bodies.key, key])
    order = np.argsort(keys, kind="stable")
    n = bodies.num_nodes
    angles = np.concatenate([bodies.angle, angle])[order]
    return replace(bodies, body=keys[order] // n, node=keys[order] % n, angle=angles)


def _inside(bodies: Bodies, body: IntArray, node: IntArray) -> BoolArray:
    return _among(body * bodies.num_nodes + node, bodies.key)


def _among(value: IntArray, ascending: IntArray) -> BoolArray:
    at = np.minimum(np.searchsorted(ascending, value), len(ascending) - 1)
    return ascending[at] == value


def _tree_angles(
    count: int, a: IntArray, b: IntArray, offset: FloatArray, first: IntArray
) -> FloatArray:
    """Angles (count,) with x[a] - x[b] = offset along a spanning forest, rooted at `first`."""
    roots = distinct(first)
    row = np.concatenate([a, np.full(len(roots), count)])
    column = np.concatenate([b, roots])
    shape = (count + 1, count + 1)
    graph = sp.coo_array((np.ones(len(row), np.int8), (row, column)), shape=shape).tocsr()
    order, above = breadth_first_order(graph, count, directed=False)
    node = order[1:]
    parent = np.full(count + 1, count)
    parent[node] = above[node]
    key = np.concatenate([b * count + a, a * count + b])
    value = np.concatenate([offset, -offset])
    by_key = np.argsort(key, kind="stable")
    step = np.zeros(count + 1)
    inner = node[parent[node] < count]
    wanted = parent[inner] * count + inner
    step[inner] = value[by_key[np.searchsorted(key[by_key], wanted)]]
    # Pointer jumping: log(depth) rounds add up the steps from every node to its root.
    while (parent != count).any():
        step = step + np.where(parent == count, 0.0, step[parent])
        parent = parent[parent]
    return step[:count]
