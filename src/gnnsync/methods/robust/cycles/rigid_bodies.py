"""Rigid bodies: sets of nodes whose relative angles are certified by closed cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.cycles.agreement import largest_agreements, required_agreement
from gnnsync.methods.robust.cycles.paths import Arcs
from gnnsync.topology import distinct, forest_angles
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Most paths of two edges that leave the bodies: some hundred megabytes.
_MOST_PATHS = 5_000_000
# Bodies smaller than the largest by more than this factor grow by single edges only: most of them
# join a larger one before long.
_MUCH_SMALLER = 20


@dataclass(frozen=True, eq=False)
class RigidBodies:
    """P memberships of nodes in bodies, sorted by body, then node; bodies may share nodes.

    Args:
        body: (P,) number of the body.
        node: (P,) member node.
        angle: (P,) angle of the node relative to the others of its body.
        edge_body: (m,) the body whose cycles certified an edge, or -1.
        num_nodes: n.
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


def bodies_of_clusters(graph: MeasurementGraph, label: IntArray) -> RigidBodies:
    """One body per cluster of edges (label (m,) ≥ 0), with angles along a spanning tree of it."""
    n = graph.num_nodes
    kept = np.flatnonzero(label >= 0)
    edge_body = np.full(graph.num_edges, -1)
    if not len(kept):
        empty = np.empty(0, dtype=np.int64)
        return RigidBodies(empty, empty, np.empty(0), edge_body, n)
    number = np.unique(label[kept], return_inverse=True)[1]
    edge_body[kept] = number
    source, target = number * n + graph.src[kept], number * n + graph.dst[kept]
    key = distinct(np.concatenate([source, target]))
    index = np.searchsorted(key, np.stack([source, target]))
    angle = forest_angles(index, graph.offset[kept], len(key))
    return RigidBodies(key // n, key % n, angle, edge_body, n)


def grow(
    bodies: RigidBodies, arcs: Arcs, tolerance: float, *, one_group: bool, reach: int
) -> RigidBodies:
    """Add nodes to every body for which enough of its predictions agree, until none is left.

    Predictions follow single edges and, with `reach` 2, paths of two edges through a node outside.
    For several groups, agreeing predictions must leave different nodes of the body: two that leave
    the same one close a cycle that may belong to another group. With reach 2 only the larger
    bodies grow, and only once.
    """
    while len(bodies.body):
        found = _predictions(bodies, arcs, one_group=one_group, reach=reach)
        if found is None:
            return bodies
        body, head, prediction, origin = found
        place = body * bodies.num_nodes + head
        where, angle, support, total = largest_agreements(place, prediction, tolerance, origin)
        certain = support >= required_agreement(total, tolerance)
        if not certain.any():
            return bodies
        bodies = _add(bodies, where[certain], angle[certain])
        if reach == 2:
            return bodies
    return bodies


def merge(
    bodies: RigidBodies, arcs: Arcs, tolerance: float, *, one_group: bool, reach: int
) -> RigidBodies:
    """Join each body to a larger one if enough measurements agree on their relative rotation.

    A rotation is measured by every node in both bodies, by every edge between a node of one and a
    node of the other, and with `reach` 2 by paths of two edges between them. With one group a
    common node decides; else two measurements must agree that share no node of either body.
    """
    while bodies.body.size:
        size = bodies.size
        rank = np.empty(len(size), dtype=np.int64)
        rank[np.argsort(size, kind="stable")] = np.arange(len(size))
        one, two, rotation, shared = _rotations(bodies, arcs, rank, reach)
        pair = bodies.body[one] * len(size) + bodies.body[two]
        if one_group:
            twice = np.concatenate([np.arange(len(pair)), np.flatnonzero(shared)])
            found = largest_agreements(pair[twice], rotation[twice], tolerance)
        else:
            origins = bodies.node[one], bodies.node[two]
            found = largest_agreements(pair, rotation, tolerance, *origins)
        where, angle, support, total = found
        certain = support >= required_agreement(total, tolerance)
        if not certain.any():
            return bodies
        where, angle, support = where[certain], angle[certain], support[certain]
        # Each small body joins the one it agrees with most, the larger one if equal.
        order = np.lexsort((rank[where % len(size)], support, where // len(size)))
        chosen = np.unique((where // len(size))[order][::-1], return_index=True)[1]
        best = order[::-1][chosen]
        parent, into_parent = np.arange(len(size)), np.zeros(len(size))
        parent[where[best] // len(size)] = where[best] % len(size)
        into_parent[where[best] // len(size)] = angle[best]
        bodies = _joined(bodies, *_to_roots(parent, into_parent))
    return bodies


def _predictions(
    bodies: RigidBodies, arcs: Arcs, *, one_group: bool, reach: int
) -> tuple[IntArray, IntArray, FloatArray, IntArray] | None:
    """Angles that bodies predict for nodes outside: body, node, angle and origin of each.

    The origin tells independent predictions apart. None if the paths are too many.
    """
    start = np.arange(len(bodies.body))
    if reach == 2:
        start = start[bodies.size[bodies.body] >= bodies.size.max() / _MUCH_SMALLER]
    owner, arc = arcs.out_of(bodies.node[start])
    owner = start[owner]
    angle = bodies.angle[owner] + arcs.shift[arc]
    origin = arc if one_group else bodies.node[owner]
    near = _outside(bodies, bodies.body[owner], arcs.head[arc], angle, origin)
    if reach == 1:
        return near
    body, head, angle, origin = near
    if int(np.diff(arcs.first)[head].sum()) > _MOST_PATHS:
        return None
    first, then = arcs.out_of(head)
    far_angle = angle[first] + arcs.shift[then]
    far = _outside(bodies, body[first], arcs.head[then], far_angle, origin[first])
    body, head, angle, origin = (np.concatenate(pair) for pair in zip(near, far, strict=True))
    return body, head, angle, origin


def _rotations(
    bodies: RigidBodies, arcs: Arcs, rank: IntArray, reach: int
) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Measured rotations that take the angles of a small body to those of a larger one.

    Returns, per measurement, the membership in the small and in the large body that it starts and
    ends at, the rotation, and whether it is a node that both bodies have.
    """
    by_node = np.argsort(bodies.node, kind="stable")
    first = np.searchsorted(bodies.node[by_node], np.arange(bodies.num_nodes + 1))
    memberships = replace(arcs, first=first)  # the same look-up, of memberships instead of arcs
    member, slot = memberships.out_of(bodies.node)
    near, far, shift = [member], [by_node[slot]], [np.zeros(len(member))]
    owner, arc = arcs.out_of(bodies.node)
    path, length = arcs.shift[arc], 1
    node, mine = arcs.head[arc], bodies.edge_body[arcs.edge[arc]] == bodies.body[owner]
    # The table of paths has about one row per membership of a path's last node.
    while len(node) * (len(bodies.body) / bodies.num_nodes + 1) <= _MOST_PATHS:
        hop, slot = memberships.out_of(node)
        end = by_node[slot]
        last_body = bodies.edge_body[arcs.edge[arc]][hop]
        # A path that starts or ends with an edge of its body repeats what a common node measures.
        new = ~mine[hop] & (last_body != bodies.body[end])
        new &= ~_inside(bodies, bodies.body[owner[hop]], bodies.node[end])
        new &= ~_inside(bodies, bodies.body[end], bodies.node[owner[hop]])
        near.append(owner[hop][new])
        far.append(end[new])
        shift.append(path[hop][new])
        if length == reach:
            break
        outside = ~mine & ~_inside(bodies, bodies.body[owner], node)
        owner, path, node, mine = owner[outside], path[outside], node[outside], mine[outside]
        if int(np.diff(arcs.first)[node].sum()) > _MOST_PATHS:
            break
        step, arc = arcs.out_of(node)
        owner, path, mine = owner[step], path[step] + arcs.shift[arc], mine[step]
        node, length = arcs.head[arc], length + 1
    one, two, along = np.concatenate(near), np.concatenate(far), np.concatenate(shift)
    smaller = rank[bodies.body[one]] < rank[bodies.body[two]]
    shared = (np.arange(len(one)) < len(member))[smaller]
    one, two, along = one[smaller], two[smaller], along[smaller]
    # θ_large(far) = θ_small(near) + rotation + shift.
    return one, two, bodies.angle[two] - along - bodies.angle[one], shared


def _to_roots(parent: IntArray, rotation: FloatArray) -> tuple[IntArray, FloatArray]:
    """Root and total rotation of each body; a parent is larger, so parents form a forest."""
    while (parent[parent] != parent).any():
        rotation = rotation + np.where(parent == np.arange(len(parent)), 0.0, rotation[parent])
        parent = parent[parent]
    return parent, rotation


def _joined(bodies: RigidBodies, parent: IntArray, rotation: FloatArray) -> RigidBodies:
    """Bodies rotated into their parents; a node in several of them keeps the parent's angle."""
    number = np.unique(parent, return_inverse=True)[1]
    own = parent[bodies.body] == bodies.body
    key = number[bodies.body] * bodies.num_nodes + bodies.node
    angle = bodies.angle + rotation[bodies.body]
    order = np.lexsort((~own, key))
    kept = order[np.concatenate([[True], np.diff(key[order]) > 0])]
    inside = bodies.edge_body >= 0
    edge_body = np.where(inside, number[bodies.edge_body], -1)
    n = bodies.num_nodes
    return RigidBodies(key[kept] // n, key[kept] % n, angle[kept], edge_body, n)


def _outside(
    bodies: RigidBodies, body: IntArray, head: IntArray, prediction: FloatArray, origin: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Those of the predictions that concern nodes outside their body."""
    new = ~_inside(bodies, body, head)
    return body[new], head[new], prediction[new], origin[new]


def _add(bodies: RigidBodies, key: IntArray, angle: FloatArray) -> RigidBodies:
    """The bodies with further memberships, given as body·n + node."""
    keys = np.concatenate([bodies.key, key])
    order = np.argsort(keys, kind="stable")
    n = bodies.num_nodes
    angles = np.concatenate([bodies.angle, angle])[order]
    return replace(bodies, body=keys[order] // n, node=keys[order] % n, angle=angles)


def _inside(bodies: RigidBodies, body: IntArray, node: IntArray) -> BoolArray:
    """Whether each node is a member of the body beside it."""
    value, ascending = body * bodies.num_nodes + node, bodies.key
    at = np.minimum(np.searchsorted(ascending, value), len(ascending) - 1)
    return ascending[at] == value
