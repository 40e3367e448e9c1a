"""Families of graphs and laws of angles that training never draws: for the test set only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.data.priors import Prior
from gnnsync.data.stream.families import Family, ring_lattice
from gnnsync.data.stream.laws import InlierLaw, StudentNoise
from gnnsync.data.stream.pairs import distinct_pairs, joined, nearest_pairs, sampled, wanted_pairs
from gnnsync.errors import check_integer, check_real
from gnnsync.typing import FloatArray, IntArray

# A matching of stubs is repaired this often; what is left of repeated pairs is dropped.
_REPAIRS = 100


@dataclass(frozen=True)
class RandomRegular:
    """Every node has the same degree, rounded (one less for a few nodes): a random matching.

    Each node has `degree` stubs, and a random matching of the stubs gives the pairs; stubs of
    loops and repeated pairs are matched again together with as many others.
    """

    spatial: ClassVar[bool] = False

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        stubs = rng.permutation(np.repeat(np.arange(n), min(max(round(degree), 1), n - 1)))
        half = len(stubs) // 2
        i, j = stubs[:half].copy(), stubs[half : 2 * half].copy()
        for _ in range(_REPAIRS):
            key = np.where(i == j, -1 - np.arange(half), np.minimum(i, j) * n + np.maximum(i, j))
            good = np.zeros(half, dtype=bool)
            good[np.unique(key, return_index=True)[1]] = True
            bad = np.flatnonzero(~(good & (i != j)))
            if not len(bad):
                break
            mixed = np.unique(np.concatenate([bad, rng.integers(half, size=len(bad) + 1)]))
            j[mixed] = j[rng.permutation(mixed)]
        return joined(distinct_pairs(i, j, n), n, rng)


@dataclass(frozen=True)
class Communities:
    """Stochastic block model: equal communities, pairs within one `ratio` times as likely."""

    communities: int = 5
    ratio: float = 12.0
    spatial: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_integer("communities", self.communities, 1)
        check_real("ratio", self.ratio, 1)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        own = np.arange(n) % self.communities
        count = wanted_pairs(n, degree)
        found = np.empty((2, 0), dtype=np.int64)
        while found.shape[1] < count:
            i, j = rng.integers(n, size=(2, 4 * count))
            kept = (own[i] == own[j]) | (rng.random(len(i)) * self.ratio < 1.0)
            i, j = np.concatenate([found, np.stack([i, j])[:, kept][:, :count]], axis=1)
            found = distinct_pairs(i, j, n)
        return joined(sampled(found, count, rng), n, rng)


@dataclass(frozen=True)
class RingLattice:
    """Nodes on a ring, each joined to the nearest ones on either side."""

    spatial: ClassVar[bool] = True

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        return joined(ring_lattice(n, degree, rng), n, rng)


@dataclass(frozen=True)
class Bipartite:
    """Random pairs between two sides, as cameras and landmarks: no triangles.

    `share` of the nodes is on the first side. A link that joins a lone component may lie within a
    side; such links are rare from a mean degree of ten on.
    """

    share: float = 0.4
    spatial: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_real("share", self.share, 0, 1, open_low=True, open_high=True)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        first = min(max(round(self.share * n), 1), n - 1)
        possible = first * (n - first)
        count = min(wanted_pairs(n, degree), possible)
        number = rng.choice(possible, count, replace=False)
        i, j = np.divmod(number, n - first)
        return joined(distinct_pairs(i, first + j, n), n, rng)


@dataclass(frozen=True)
class NearestNeighbours:
    """Uniform points of the unit cube joined to their nearest neighbours."""

    dimension: int = 3
    spatial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)

    def __call__(self, n: int, degree: float, rng: np.random.Generator) -> IntArray:
        """Pairs (2, m)."""
        return nearest_pairs(rng.random((n, self.dimension)), wanted_pairs(n, degree), rng)


@dataclass(frozen=True)
class VonMisesMixtureAngles:
    """Each set of angles is a mixture of von Mises laws with random directions.

    `components` directions uniform on the circle, equal weights, concentration κ.
    """

    components: int = 3
    concentration: float = 8.0

    def __post_init__(self) -> None:
        check_integer("components", self.components, 1)
        check_real("concentration", self.concentration, 0)

    def __call__(self, n: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k)."""
        direction = rng.uniform(-np.pi, np.pi, (self.components, k))
        own = rng.integers(self.components, size=(n, k))
        centre = np.take_along_axis(direction, own, axis=0)
        return reduce_angle(centre + rng.vonmises(0.0, self.concentration, (n, k)))


UNSEEN_FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "random_regular": RandomRegular(),
        "communities": Communities(),
        "ring_lattice": RingLattice(),
        "bipartite": Bipartite(),
        "nearest_neighbours_3d": NearestNeighbours(),
    }
)
"""Families of the test set by name."""

UNSEEN_INLIER_LAWS: Mapping[str, InlierLaw] = MappingProxyType(
    {"student_2": StudentNoise(degrees_of_freedom=2.0)}
)
"""Laws of inliers of the test set by name."""

UNSEEN_PRIORS: Mapping[str, Prior] = MappingProxyType({"von_mises": VonMisesMixtureAngles()})
"""Laws of angles of the test set by name."""
