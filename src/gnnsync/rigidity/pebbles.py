"""The pebble game: which distances are independent, and which check each other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gnnsync.typing import IntArray


class PebbleGame:
    r"""The rigidity matroid of a graph in the plane, by the pebble game.

    Edges are independent if no k ≥ 2 points have more than 2k - 3 of them between each other
    (Laman 1970). Every point owns two pebbles, an independent edge takes one of an end of it and is
    directed away from that end, and moving pebbles along directed paths finds out whether an edge
    is independent (Jacobs and Hendrickson, J. Comput. Phys. 137, 1997).

    An edge that is not independent closes a circuit; circuits with a common edge are of one
    *connected set* of edges (a component of the matroid; Jackson and Jordan, J. Combin. Theory B
    94, 2005). A connected set has every edge between its points and keeps them rigid. It is stored
    as a *frame*: two of its points joined by an edge, and all others joined to both, so that no
    path through it is long.

    Args:
        pairs: (2, m) edges, each once.
        num_points: n.
    """

    def __init__(self, pairs: IntArray, num_points: int) -> None:
        self.pairs, self.num_points = pairs, num_points
        # Ends of the directed edges away from each point (at most two), and starts of those to it.
        self._heads: list[list[int]] = [[] for _ in range(num_points)]
        self._tails: list[set[int]] = [set() for _ in range(num_points)]
        self._sets_at: list[set[int]] = [set() for _ in range(num_points)]
        self._members: dict[int, list[int]] = {}
        self._frame: dict[int, tuple[int, int]] = {}
        self.rank = 0
        order = _growth_order(pairs, num_points)
        self._independent = [e for e in order if self._insert(*pairs[:, e].tolist())]

    @property
    def freedom(self) -> int:
        """Degrees of freedom 2n - rank, the three motions of the plane included."""
        return 2 * self.num_points - self.rank

    def connected_sets(self) -> IntArray:
        """Number (m,) of the connected set of each edge, from 0; -1 for an edge in no circuit."""
        return self._labels(self._sets_at)

    def rigid_components(self) -> IntArray:
        """Number (m,) of the rigid component of each edge: the maximal rigid set of edges.

        With three pebbles on the ends of an edge, its component holds the points from which no
        other free pebble can be reached.
        """
        at: list[set[int]] = [set() for _ in range(self.num_points)]
        seeds = list(self._frame.values()) + self.pairs[:, self._independent].T.tolist()
        for name, (u, v) in enumerate(seeds):
            if not at[u] & at[v]:
                for point in self._rigid_points(u, v):
                    at[point].add(name)
        return self._labels(at)

    def _labels(self, names: list[set[int]]) -> IntArray:
        found = [next(iter(names[u] & names[v]), -1) for u, v in self.pairs.T.tolist()]
        label = np.array(found, dtype=np.int64)
        inside = label >= 0
        label[inside] = np.unique(label[inside], return_inverse=True)[1]
        return label

    def _insert(self, u: int, v: int) -> bool:
        """Play an edge; whether it is independent of those before."""
        if self._sets_at[u] & self._sets_at[v]:
            return False
        if self._gather(u, v):
            self._heads[u].append(v)
            self._tails[v].add(u)
            self.rank += 1
            return True
        self._close(u, self._reach((u, v)))
        return False

    def _gather(self, u: int, v: int) -> bool:
        """Bring two free pebbles to u, then two to v; whether there were as many."""
        for point in (u, v):
            while len(self._heads[point]) > 0:
                if not self._move_pebble(point, (u, v)):
                    return False
        return True

    def _move_pebble(self, point: int, kept: tuple[int, int]) -> bool:
        """Bring a free pebble to `point`, but none of those on the points `kept`."""
        heads, tails, came_from = self._heads, self._tails, {point: -1}
        stack = [point]
        while stack:
            here = stack.pop()
            for there in heads[here]:
                if there in came_from:
                    continue
                came_from[there] = here
                if len(heads[there]) < 2 and there not in kept:
                    while there != point:
                        before = came_from[there]
                        heads[before].remove(there)
                        tails[there].discard(before)
                        heads[there].append(before)
                        tails[before].add(there)
                        there = before
                    return True
                stack.append(there)
        return False

    def _reach(self, start: Iterable[int]) -> set[int]:
        """The points that directed paths from `start` lead to, those included."""
        found, stack = set(start), list(start)
        while stack:
            for there in self._heads[stack.pop()]:
                if there not in found:
                    found.add(there)
                    stack.append(there)
        return found

    def _close(self, hub: int, circuit: set[int]) -> None:
        """Join a circuit with all connected sets that it shares an edge with.

        All free pebbles of the union are those on the ends of the edge just played, so that no
        directed edge leaves it.
        """
        shared: dict[int, int] = {}
        for point in circuit:
            for name in self._sets_at[point]:
                shared[name] = shared.get(name, 0) + 1
        joined = sorted((k for k in shared if shared[k] > 1), key=lambda k: len(self._members[k]))
        if joined:
            name = joined.pop()
        else:
            name = len(self._members)
            first, second = hub, next(p for p in circuit if p != hub)
            self._members[name], self._frame[name] = [], (first, second)
            self._enter(name, (first, second))
            self._heads[first].append(second)
            self._tails[second].add(first)
        for other in joined:
            circuit.update(self._members[other])
            for point in self._members[other]:
                self._sets_at[point].discard(other)
            del self._frame[other]
            self._members[other] = []
        new = [p for p in circuit if name not in self._sets_at[p]]
        self._enter(name, new)
        for point in new:
            self._heads[point].extend(self._frame[name])
            for end in self._frame[name]:
                self._tails[end].add(point)

    def _enter(self, name: int, new: Iterable[int]) -> None:
        """Put points into a connected set, and remove the edges between them and in it."""
        heads, tails, at = self._heads, self._tails, self._sets_at
        for point in new:
            self._members[name].append(point)
            at[point].add(name)
        for point in new:
            for end in heads[point]:
                tails[end].discard(point)
            heads[point].clear()
            for start in [t for t in tails[point] if name in at[t]]:
                heads[start].remove(point)
                tails[point].discard(start)

    def _rigid_points(self, u: int, v: int) -> set[int]:
        """All points that the independent edges keep rigid with the edge between u and v."""
        self._gather(u, v)
        inside = self._reach((u, v))
        tried = set(inside)
        stack = list(inside)
        while stack:
            for start in self._tails[stack.pop()]:
                if start not in tried:
                    tried.add(start)
                    held = self._reach_without_pebble(start, inside)
                    stack.extend(held)
                    inside |= held
                    tried |= held
        return inside

    def _reach_without_pebble(self, start: int, inside: set[int]) -> set[int]:
        """Points that paths from `start` lead to outside `inside`; none if one is not held."""
        found, stack = {start}, [start]
        while stack:
            here = stack.pop()
            if len(self._heads[here]) < 2:
                return set()
            for there in self._heads[here]:
                if there not in found and there not in inside:
                    found.add(there)
                    stack.append(there)
        return found


def _growth_order(pairs: IntArray, num_points: int) -> list[int]:
    """Edges in an order that adds point after point, next the one with most edges to those before.

    Then a redundant edge closes a short circuit, and most others find their ends in one connected
    set.
    """
    m = pairs.shape[1]
    points = np.concatenate([pairs[0], pairs[1]])
    order = np.argsort(points, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(points, minlength=num_points))]).tolist()
    neighbour = np.concatenate([pairs[1], pairs[0]])[order].tolist()
    edge = (order % m if m else order).tolist()
    seen, count = [False] * num_points, [0] * num_points
    found: list[int] = []
    buckets: list[list[int]] = [list(range(num_points - 1, -1, -1))]
    top = 0
    while top >= 0:
        if not buckets[top]:
            top -= 1
            continue
        point = buckets[top].pop()
        if seen[point] or count[point] != top:
            continue
        seen[point] = True
        for k in range(start[point], start[point + 1]):
            other = neighbour[k]
            if seen[other]:
                found.append(edge[k])
            else:
                count[other] += 1
                if count[other] == len(buckets):
                    buckets.append([])
                buckets[count[other]].append(other)
                top = max(top, count[other])
    return found
