"""Bodies with positions of their own, joined to one map per component by the distances between."""

from __future__ import annotations

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.typing import BoolArray, FloatArray, IntArray

# First orientations and first directions of the shift that are tried, and Gauss-Newton steps.
_TURNS, _DIRECTIONS, _STEPS = 12, 6, 12
# Links used to place a body: more say little more.
_MOST_LINKS = 60
# Points nearer than this part of the typical distance, without a distance between them, speak
# against a place: near points usually are measured.
_NEAR, _COST_OF_NEAR = 0.7, 1.0
# Residuals count up to this part of the typical distance (Geman-McClure).
_CUTOFF = 0.3


def join_bodies(network: DistanceNetwork, bodies: list[tuple[IntArray, FloatArray]]) -> FloatArray:
    """Positions (n, 2) of all points: the largest body of each component, and the rest around it.

    The other bodies follow, those with most links to what is placed first, each as a whole; then
    all points that are in none, one by one. A link is a common point or a distance. The motion of a
    body minimises a robust sum of squared residuals over its links, from a grid of starts; among
    equal ones that decides which brings fewest points near others without a distance to them.
    Without any link a point has the place 0.

    Args:
        network: the distances.
        bodies: numbers of points (k,) and positions (k, 2), largest first.
    """
    placing = _Placing(network)
    waiting = []
    begun = np.zeros(network.num_components, dtype=bool)
    for points, place in sorted(bodies, key=lambda body: -len(body[0])):
        c = int(network.component[points[0]])
        if begun[c]:
            waiting.append((points, place))
        else:
            begun[c] = True
            placing.put(points, place)
    while waiting:
        counts = [placing.links(points) for points, _ in waiting]
        best = int(np.argmax(counts))
        points, place = waiting.pop(best)
        if counts[best] < 1:
            continue  # its points follow one by one
        placing.move(points, place)
    placing.put_rest(begun)
    return placing.place


class _Placing:
    """The map so far."""

    def __init__(self, network: DistanceNetwork) -> None:
        self._network = network
        n = network.num_points
        self.place = np.full((n, 2), np.nan)
        self.placed = np.zeros(n, dtype=bool)
        self._size = float(np.median(network.distance)) if network.num_edges else 1.0
        i, j = network.pairs
        source, target = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.argsort(source, kind="stable")
        self._other = target[order]
        self._distance = np.tile(network.distance, 2)[order]
        self._indptr = np.searchsorted(source[order], np.arange(n + 1))

    def put(self, points: IntArray, place: FloatArray) -> None:
        self.place[points] = place
        self.placed[points] = True

    def links(self, points: IntArray) -> int:
        """Constraints between a body and the map: two for a common point, one for a distance."""
        inside, other, _ = self._edges(points)
        common = self.placed[points]
        return 2 * int(common.sum()) + int((self.placed[other] & ~common[inside]).sum())

    def move(self, points: IntArray, place: FloatArray) -> None:
        """Put a body where its links are best kept; common points stay."""
        inside, other, distance = self._edges(points)
        common = self.placed[points]
        if common.all():
            return
        linked = self.placed[other] & ~common[inside] & ~np.isin(other, points)
        which = np.concatenate([np.flatnonzero(common), inside[linked]])
        target = np.concatenate([self.place[points[common]], self.place[other[linked]]])
        length = np.concatenate([np.zeros(int(common.sum())), distance[linked]])
        if len(which) > _MOST_LINKS:
            chosen = np.linspace(0, len(which) - 1, _MOST_LINKS).astype(np.int64)
            which, target, length = which[chosen], target[chosen], length[chosen]
        candidates, cost = _motions(place, which, target, length, self._size)
        best = self._choose(points, common, candidates, cost)
        new = ~common
        self.put(points[new], best[new])

    def put_rest(self, begun: BoolArray) -> None:
        """Put the other points, those with most distances to placed ones first."""
        links = np.zeros(len(self.placed), dtype=np.int64)
        every = np.repeat(np.arange(len(links)), np.diff(self._indptr))
        np.add.at(links, every, self.placed[self._other])
        while not self.placed.all():
            point = int(np.argmax(np.where(self.placed, -1, links)))
            own = np.array([point])
            if links[point]:
                self.move(own, np.zeros((1, 2)))
            else:
                self.put(own, np.zeros((1, 2)))
            links[self._other[self._indptr[point] : self._indptr[point + 1]]] += 1

    def _edges(self, points: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Number within the body, other end and distance of all edges of a body."""
        spans = [np.arange(self._indptr[i], self._indptr[i + 1]) for i in points.tolist()]
        sizes = [len(span) for span in spans]
        edges = np.concatenate(spans) if spans else np.zeros(0, np.int64)
        return np.repeat(np.arange(len(points)), sizes), self._other[edges], self._distance[edges]

    def _choose(
        self, points: IntArray, common: BoolArray, candidates: FloatArray, cost: FloatArray
    ) -> FloatArray:
        """The best placement (k, 2) of several (s, k, 2), by cost (s,) and by missing distances."""
        order = np.argsort(cost, kind="stable")[:_MOST_CHOICES]
        inside, other, _ = self._edges(points)
        least, best = np.inf, candidates[order[0]]
        where = np.flatnonzero(self.placed & np.isfinite(self.place).all(axis=1))
        where = where[self._network.component[where] == self._network.component[points[0]]]
        reach = _NEAR * self._size
        for s in order.tolist():
            total = float(cost[s])
            if total >= least:
                break
            found = candidates[s]
            for k in np.flatnonzero(~common)[:_MOST_CHECKED].tolist():
                apart = np.hypot(*(self.place[where] - found[k]).T)
                near = where[apart < reach]
                near = near[~np.isin(near, other[inside == k]) & ~np.isin(near, points)]
                total += _COST_OF_NEAR * len(near)
            if total < least:
                least, best = total, found
        return best


# Damping of the steps, relative, and for starts so far away that no link has weight.
_DAMPING, _LEAST_DAMPING = 1e-3, 1e-12
# Placements that are compared, and points of a body whose neighbourhood is looked at.
_MOST_CHOICES, _MOST_CHECKED = 8, 30


def _motions(
    place: FloatArray, which: IntArray, target: FloatArray, length: FloatArray, size: float
) -> tuple[FloatArray, FloatArray]:
    """Placements (s, k, 2) of a body of k points from several starts, and their costs (s,).

    Args:
        place: (k, 2) positions of the body.
        which: (e,) point of each link.
        target: (e, 2) the placed end of each link.
        length: (e,) its distance.
        size: typical distance.
    """
    own = place - place[which].mean(axis=0)
    single = len(np.unique(which)) == 1 and len(place) == 1
    turns = np.linspace(0.0, 2.0 * np.pi, 1 if single else _TURNS, endpoint=False)
    around = np.linspace(0.0, 2.0 * np.pi, _DIRECTIONS, endpoint=False)
    mirror = np.array([1.0] if single else [1.0, -1.0])
    angle, way, flip = (a.ravel() for a in np.meshgrid(turns, around, mirror, indexing="ij"))
    x = own[None, :, :] * np.stack([np.ones_like(flip), flip], axis=1)[:, None, :]
    reach = float(np.mean(length))
    shift = target.mean(axis=0) + reach * np.stack([np.cos(way), np.sin(way)], axis=1)
    for _ in range(_STEPS):
        moved = _turned(x[:, which], angle) + shift[:, None, :]
        step = moved - target
        apart = np.maximum(np.hypot(step[..., 0], step[..., 1]), 1e-12 * size)
        # A common point: both coordinates count, which for length 0 is the whole step.
        residual = apart - length
        weight = (1.0 + (residual / (_CUTOFF * size)) ** 2) ** -2.0
        unit = step / apart[..., None]
        spin = np.stack(
            [-(moved - shift[:, None, :])[..., 1], (moved - shift[:, None, :])[..., 0]], -1
        )
        exact = length == 0.0
        rows = np.concatenate([unit, (unit * spin).sum(-1, keepdims=True)], axis=-1)
        normal = np.einsum("se,sea,seb->sab", weight, rows, rows)
        right = np.einsum("se,sea,se->sa", weight, rows, residual)
        if exact.any():
            side = np.stack([-unit[..., 1], unit[..., 0]], axis=-1)[:, exact]
            more = np.concatenate([side, (side * spin[:, exact]).sum(-1, keepdims=True)], axis=-1)
            normal += np.einsum("se,sea,seb->sab", weight[:, exact], more, more)
        scale = np.array([1.0, 1.0, max(float(np.square(own).sum(1).max()), size**2)])
        trace = np.einsum("saa->s", normal[:, :2, :2])
        normal += (_DAMPING * trace + _LEAST_DAMPING)[:, None, None] * np.diag(scale)
        change = np.linalg.solve(normal, right[..., None])[..., 0]
        shift = shift - change[:, :2]
        angle = angle - change[:, 2]
    moved = _turned(x, angle) + shift[:, None, :]
    step = moved[:, which] - target
    square = ((np.hypot(step[..., 0], step[..., 1]) - length) / (_CUTOFF * size)) ** 2
    return moved, (square / (1.0 + square)).sum(axis=1)


def _turned(x: FloatArray, angle: FloatArray) -> FloatArray:
    """Positions (s, k, 2) turned by angles (s,)."""
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.stack([cos * x[..., 0] - sin * x[..., 1], sin * x[..., 0] + cos * x[..., 1]], axis=-1)
