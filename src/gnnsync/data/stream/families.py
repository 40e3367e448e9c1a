"""Families of measurement graphs that training draws from.

A family is a small frozen dataclass; called with (n, mean degree, rng) it returns pairs (2, m),
i < j, without repetition, of a connected graph on all n nodes. Components are joined by one
link each, so that a sparse graph may have a slightly larger degree than asked for. Everything is
computed with arrays: a graph of 400 nodes takes some milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol

import numpy as np

from gnnsync.angles import TWO_PI
from gnnsync.data.stream.pairs import (
    distinct_pairs,
    joined,
    nearest_pairs,
    numbered_pairs,
    sampled,
    shortest_pairs,
    wanted_pairs,
)
from gnnsync.errors import check_integer, check_real
from gnnsync.typing import FloatArray, IntArray


class Family(Protocol):
    """Draws pairs (2, m) from (n, mean degree, rng)."""

    @property
    def spatial(self) -> bool:
        """Whether neighbours of a node are mostly neighbours of each other, as in a map.

        Such graphs have a large diameter and need more signal than the degree alone tells.
        """
        ...

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        ...


@dataclass(frozen=True)
class ErdosRenyi:
    """Every pair independently with probability degree/(n-1)."""

    spatial: ClassVar[bool] = False

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        possible = n * (n - 1) // 2
        count = rng.binomial(possible, min(degree / (n - 1), 1.0))
        number = np.sort(rng.choice(possible, count, replace=False, shuffle=False))
        return joined(numbered_pairs(number), n, rng)


@dataclass(frozen=True)
class BarabasiAlbert:
    """Preferential attachment to a star; each new node brings degree/2 edges.

    A fractional degree/2 is met by a random choice between the two whole numbers beside it.
    """

    spatial: ClassVar[bool] = False

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        # m = a(n - a) edges from a per node; the smaller root of a(n - a) = n·degree/2.
        per_node = (n - np.sqrt(max(n * n - 2.0 * n * degree, 0.0))) / 2.0
        brought = np.maximum(np.floor(per_node + rng.random(n)).astype(np.int64), 1)
        start = min(max(int(np.ceil(per_node)), 1), n - 1)
        ends = [0] * start + list(range(1, start + 1))
        for node in range(start + 1, n):
            # A node is in the list of ends as often as it has edges.
            targets: dict[int, None] = {}
            wanted = min(int(brought[node]), node)
            while len(targets) < wanted:
                drawn = (rng.random(2 * wanted) * len(ends)).astype(np.int64)
                targets.update((ends[place], None) for place in drawn.tolist())
            ends[len(ends) :] = [*list(targets)[:wanted], *([node] * wanted)]
        return _alternating(ends, start, np.minimum(brought, np.arange(n)))


@dataclass(frozen=True)
class RandomGeometric:
    """Uniform points in the unit cube of this dimension, joined within a radius."""

    dimension: int = 2
    spatial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m); the radius is the one that gives the wished number of pairs."""
        return shortest_pairs(rng.random((n, self.dimension)), wanted_pairs(n, degree), rng)


@dataclass(frozen=True)
class SmallWorld:
    """Watts and Strogatz (1998): a ring lattice with a share of its links moved at random.

    The share is log-uniform between `least` and `most`.
    """

    least: float = 0.02
    most: float = 0.5
    spatial: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_real("least", self.least, 0, 1, open_low=True)
        check_real("most", self.most, self.least, 1)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        i, j = ring_lattice(n, degree, rng)
        share = np.exp(rng.uniform(np.log(self.least), np.log(self.most)))
        moved = rng.random(len(i)) < share
        j = np.where(moved, rng.integers(n, size=len(i)), j)
        return joined(distinct_pairs(i, j, n), n, rng)


@dataclass(frozen=True)
class Grid:
    """A two-dimensional lattice; diagonals and longer links, shortest first, reach the degree.

    The sides differ by a random factor of up to `elongation`.
    """

    elongation: float = 4.0
    spatial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_real("elongation", self.elongation, 1)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        ratio = self.elongation ** rng.random()
        width = max(int(np.sqrt(n / ratio)), 1)
        points = np.stack(np.divmod(np.arange(n), width), axis=1).astype(np.float64)
        return shortest_pairs(points, wanted_pairs(n, degree), rng)


@dataclass(frozen=True)
class LoopClosures:
    """A path (odometry) with closures: some to the last few nodes, some to places seen before.

    Far closures belong to a few revisits, as when a robot drives along an earlier part of its way
    in the same or the opposite direction: node i+t is near node j±t for some length of t, and a
    closure joins two nodes a few steps from such a pair. A random share of the closures is far.
    """

    window: int = 6
    revisits: int = 10
    spatial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_integer("window", self.window, 2)
        check_integer("revisits", self.revisits, 1)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        path = np.stack([np.arange(n - 1), np.arange(1, n)])
        count, far = wanted_pairs(n, degree) - (n - 1), rng.uniform(0.1, 0.9)
        # There must be more pairs within the window than the degree asks for.
        window = self.window + int(degree)
        visits = _revisits(n, int(rng.integers(1, self.revisits + 1)), rng)
        closures = np.empty((2, 0), dtype=np.int64)
        while closures.shape[1] < count:
            # Many at a time: most draws repeat a pair once there are few left. Revisits have few
            # pairs, so that more and more of what is missing is local.
            missing = max(count - closures.shape[1], count // 2)
            new = _far_closures(n, round(far * missing), visits, int(degree / 4) + 1, rng)
            near = _local_closures(n, missing, window, rng)
            i, j = np.concatenate([closures, new, near[:, new.shape[1] :]], axis=1)
            found = distinct_pairs(i, j, n)
            closures, far = found[:, found[1] - found[0] > 1], far / 2.0
        i, j = np.concatenate([path, sampled(closures, count, rng)], axis=1)
        return distinct_pairs(i, j, n)


@dataclass(frozen=True)
class MapPatches:
    """Patches of a map: random points joined to their nearest neighbours.

    The points are clustered, or lie along closed curves, or fill a region with a hole; one of the
    three with equal chance. As the patch graphs of `gnnsync.data.localization`, whose patches
    are joined if they share points, but of random clouds and without the points.
    """

    spatial: ClassVar[bool] = True

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        cloud = _CLOUDS[int(rng.integers(len(_CLOUDS)))]
        return nearest_pairs(cloud(n, rng), wanted_pairs(n, degree), rng)


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "erdos_renyi": ErdosRenyi(),
        "barabasi_albert": BarabasiAlbert(),
        "random_geometric": RandomGeometric(),
        "small_world": SmallWorld(),
        "grid": Grid(),
        "loop_closures": LoopClosures(),
        "map_patches": MapPatches(),
    }
)
"""The families of training by name."""


def ring_lattice(n: int, degree: float, rng: np.random.Generator) -> IntArray:
    """n nodes on a ring, each joined to its degree/2 next ones on either side (2, m).

    If degree/2 is not whole, a random part of the nodes has one neighbour more.
    """
    count = wanted_pairs(n, degree)
    # Rank pairs by distance on the ring, those of the last distance at random.
    rings = min(-(-count // n), n // 2)
    distance = np.repeat(np.arange(1, rings + 1), n)
    i = np.tile(np.arange(n), rings)
    order = np.lexsort((rng.random(len(i)), distance))[:count]
    return distinct_pairs(i[order], (i[order] + distance[order]) % n, n)


def _alternating(ends: list[int], start: int, brought: IntArray) -> IntArray:
    """Pairs from the list of ends: for each node its targets, then itself as often."""
    n = len(brought)
    size = np.concatenate([[start], brought[start + 1 :]])
    first = np.repeat(np.cumsum(2 * size) - 2 * size, size)
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    flat = np.array(ends)
    return distinct_pairs(flat[first + within], flat[first + within + np.repeat(size, size)], n)


def _local_closures(n: int, count: int, window: int, rng: np.random.Generator) -> IntArray:
    """Links (2, c), c ≤ count, of nodes at most `window` steps apart, short ones more often."""
    i = rng.integers(n, size=count)
    step = 2 + (rng.random(count) ** 2 * (window - 1)).astype(np.int64)
    kept = i + step < n
    return np.stack([i[kept], (i + step)[kept]])


def _revisits(n: int, number: int, rng: np.random.Generator) -> IntArray:
    """Parts of a path that are driven again (4, r): both first nodes, direction and length."""
    start = rng.integers(n, size=(2, number))
    direction = rng.choice(np.array([-1, 1]), number)
    length = rng.integers(1, max(n // 5, 2), size=number)
    return np.stack([*start, direction, length])


def _far_closures(
    n: int, count: int, visits: IntArray, width: int, rng: np.random.Generator
) -> IntArray:
    """Links (2, c), c ≤ count, up to `width` steps beside the pairs of the revisits."""
    i, j, direction, length = visits[:, rng.integers(visits.shape[1], size=count)]
    along = (rng.random(count) * length).astype(np.int64)
    beside = rng.integers(-width, width + 1, size=(2, count))
    i, j = i + along + beside[0], j + direction * along + beside[1]
    kept = (np.minimum(i, j) >= 0) & (np.maximum(i, j) < n)
    return np.stack([i[kept], j[kept]])


def _clusters(n: int, rng: np.random.Generator) -> FloatArray:
    """Normal clusters of different size and width around uniform centres (n, 2)."""
    number = int(rng.integers(2, 9))
    own = rng.choice(number, n, p=rng.dirichlet(np.full(number, 3.0)))
    width = rng.uniform(0.05, 0.25, number)
    return rng.random((number, 2))[own] + width[own, None] * rng.standard_normal((n, 2))


def _curves(n: int, rng: np.random.Generator) -> FloatArray:
    """Points along one to three closed curves r(φ) = 1 + Σ a_f cos(f φ + b_f), with a width."""
    number = int(rng.integers(1, 4))
    own, phase = rng.integers(number, size=n), rng.uniform(0.0, TWO_PI, n)
    frequency = np.arange(2, 5)
    size = rng.uniform(0.0, 0.25, (number, 3))
    shift = rng.uniform(0.0, TWO_PI, (number, 3))
    waves = size[own] * np.cos(frequency * phase[:, None] + shift[own])
    radius = 1.0 + waves.sum(axis=1) + rng.uniform(0.01, 0.2) * rng.standard_normal(n)
    around = radius[:, None] * np.stack([np.cos(phase), np.sin(phase)], axis=1)
    return around + rng.uniform(0.0, 2.0, (number, 2))[own]


def _holed(n: int, rng: np.random.Generator) -> FloatArray:
    """Uniform points of a rectangle without a disc (n, 2)."""
    sides = np.array([1.0, rng.uniform(0.3, 1.0)])
    centre, radius = rng.random(2) * sides, rng.uniform(0.1, 0.4) * sides[1]
    points = np.empty((0, 2))
    while len(points) < n:
        more = rng.random((2 * n, 2)) * sides
        points = np.concatenate([points, more[np.linalg.norm(more - centre, axis=1) > radius]])
    return points[:n]


_CLOUDS: tuple[Callable[[int, np.random.Generator], FloatArray], ...] = (_clusters, _curves, _holed)
