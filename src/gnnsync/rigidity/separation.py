"""Separation of a graph at single points and at pairs of points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gnnsync.typing import IntArray

Neighbours = Mapping[int, set[int]]


def neighbour_sets(pairs: IntArray) -> dict[int, set[int]]:
    """Neighbours of each point that has an edge (2, m)."""
    found: dict[int, set[int]] = {}
    for u, v in pairs.T.tolist():
        found.setdefault(u, set()).add(v)
        found.setdefault(v, set()).add(u)
    return found


def biconnected_blocks(neighbours: Neighbours, points: Iterable[int]) -> list[list[int]]:
    """Maximal sets of `points` that stay connected without any one of them; a bridge is a set of 2.

    By depth-first search (Hopcroft and Tarjan, Comm. ACM 16, 1973), in O(points + edges). Points
    without a neighbour among `points` are in no block.
    """
    allowed = set(points)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    place: dict[int, int] = {}
    blocks = []
    for root in allowed:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        path, waiting = [(root, -1, iter(neighbours[root]))], [root]
        while path:
            here, parent, rest = path[-1]
            for there in rest:
                if there not in allowed or there == parent:
                    continue
                if there in number:
                    low[here] = min(low[here], number[there])
                    continue
                number[there] = low[there] = len(number)
                path.append((there, here, iter(neighbours[there])))
                place[there] = len(waiting)
                waiting.append(there)
                break
            else:
                path.pop()
                if parent >= 0:
                    low[parent] = min(low[parent], low[here])
                    if low[here] >= number[parent]:
                        # What was found from `here` on hangs on the rest by `parent` alone.
                        blocks.append([*waiting[place[here] :], parent])
                        del waiting[place[here] :]
    return blocks


def inseparable_sets(neighbours: Neighbours, points: Iterable[int]) -> list[list[int]]:
    """Maximal sets of at least 3 points that no two other points separate.

    They are the 3-connected parts of a graph without polygons (Tutte 1966), as those of a connected
    set of the rigidity matroid: every two points of a part are joined by an edge or by three paths
    without a common inner point.

    A part grows from a triangle: whatever is joined to three of its points by disjoint paths
    belongs to it, since two points cannot cut them all. Where only two points u, v join the rest
    of the graph to the part, the rest is a graph of its own with an edge between u and v.

    Args:
        neighbours: of a graph whose `points` are 2-connected.
        points: at least 3.
    """
    found = []
    tasks = [(set(points), dict[int, set[int]]())]
    while tasks:
        allowed, changed = tasks.pop()
        graph = _Part(neighbours, allowed, changed)
        seed = graph.triangle()
        if seed is None:
            seed, hinge = graph.seed_or_hinge()
            if hinge:
                tasks.extend(graph.beside(part, hinge) for part in graph.parts_without(hinge))
                continue
        if seed:
            inside, cut_off = graph.grow(seed)
            found.append(sorted(inside))
            tasks.extend(graph.beside(part, hinge) for part, hinge in cut_off)
    return found


class _Part:
    """A part of a graph, with its own neighbours for the points where it was cut."""

    def __init__(
        self, neighbours: Neighbours, allowed: set[int], changed: dict[int, set[int]]
    ) -> None:
        self.neighbours, self.allowed, self.changed = neighbours, allowed, changed

    def of(self, point: int) -> set[int]:
        """Neighbours of a point within the part."""
        own = self.changed.get(point)
        return self.neighbours[point] if own is None else own

    def triangle(self) -> list[int] | None:
        """Three points that are joined to each other."""
        for u in self.allowed:
            for v in self.of(u):
                common = self.of(u) & self.of(v) & self.allowed if v in self.allowed else None
                if common:
                    return [u, v, next(iter(common))]
        return None

    def seed_or_hinge(self) -> tuple[list[int] | None, tuple[int, int] | None]:
        """Three inseparable points, or two points that separate the part.

        Two neighbours of u are inseparable from u, and from each other if no point separates them
        in the part without u.
        """
        u = next(iter(self.allowed))
        rest = self.allowed - {u}
        blocks = biconnected_blocks({p: self.of(p) for p in self.allowed}, rest)
        if len(blocks) == 1:
            near = sorted(self.of(u) & self.allowed)[:2]
            return ([u, *near] if len(near) == 2 else None), None
        count: dict[int, int] = {}
        for point in (p for block in blocks for p in block):
            count[point] = count.get(point, 0) + 1
        return None, next(((u, p) for p in count if count[p] > 1), None)

    def parts_without(self, hinge: tuple[int, int]) -> list[set[int]]:
        """Connected parts of the rest without the two points."""
        left, found = self.allowed - set(hinge), []
        while left:
            part, stack = set[int](), [next(iter(left))]
            left.discard(stack[0])
            while stack:
                here = stack.pop()
                part.add(here)
                new = self.of(here) & left
                left -= new
                stack.extend(new)
            found.append(part)
        return found

    def beside(
        self, part: set[int], hinge: tuple[int, ...]
    ) -> tuple[set[int], dict[int, set[int]]]:
        """The graph of a part with the two points it hangs on, and an edge between them."""
        u, v = hinge
        changed = {p: own for p, own in self.changed.items() if p in part}
        changed[u] = (self.of(u) & part) | {v}
        changed[v] = (self.of(v) & part) | {u}
        return part | {u, v}, changed

    def grow(self, seed: list[int]) -> tuple[set[int], list[tuple[set[int], tuple[int, ...]]]]:
        """The inseparable set of three points, and each part cut off by two points of it."""
        inside = set(seed)
        frontier = [p for s in seed for p in self.of(s) if p in self.allowed]
        away: set[int] = set()
        cut_off = []
        while frontier:
            start = frontier.pop()
            if start in inside or start in away:
                continue
            new, explored, ends = self._fan(start, inside)
            if new >= 0:
                inside.add(new)
                frontier.append(start)
                frontier.extend(p for p in self.of(new) if p in self.allowed)
            else:
                away |= explored
                if len(ends) == 2:
                    cut_off.append((explored, tuple(ends)))
        return inside, cut_off

    def _fan(self, start: int, inside: set[int]) -> tuple[int, set[int], set[int]]:
        """A point with disjoint paths to three points of `inside`.

        Breadth first from `start` until three points of `inside` are met; the point where the tree
        paths to them part. -1 if fewer are met, with all points visited and the points met.
        """
        parent = {start: -1}
        met: dict[int, int] = {}
        queue = [start]
        for here in queue:
            for there in self.of(here):
                if there in inside:
                    met.setdefault(there, here)
                    if len(met) == 3:
                        return _median(parent, list(met.values())), set(parent), set(met)
                elif there in self.allowed and there not in parent:
                    parent[there] = here
                    queue.append(there)
        return -1, set(parent), set(met)


def _median(parent: dict[int, int], ends: list[int]) -> int:
    """The point of a tree where the paths between three of its points meet."""
    up = []
    for end in ends:
        path = [end]
        while parent[path[-1]] >= 0:
            path.append(parent[path[-1]])
        up.append(path)
    # It is the lowest common ancestor of the two ends whose paths to the root share most.
    common = [(0, 1), (0, 2), (1, 2)]
    shared = [len(set(up[i]) & set(up[j])) for i, j in common]
    i = common[shared.index(max(shared))][0]
    return up[i][-max(shared)]
