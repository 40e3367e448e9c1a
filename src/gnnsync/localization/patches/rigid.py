"""Patches: small sets of points that the distances among them keep globally rigid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import check_integer
from gnnsync.localization.base import LocalPatches
from gnnsync.rigidity import neighbourhood_bodies
from gnnsync.typing import IntArray

# A point with distances to this many points of a globally rigid body is in the body.
_LATERATION = 3
# Points of the smallest globally rigid graph in which a distance checks another.
_LEAST_POINTS = 4


@dataclass(frozen=True)
class RigidNeighbourhoods:
    """Globally rigid parts of the neighbourhoods of points, grown by further points.

    The parts of a point and its neighbours are those of `gnnsync.rigidity.neighbourhood_bodies`.
    Points with distances to three or more points of a part are added to it, those with most
    distances first, which keeps it globally rigid (trilateration). Of the parts, as many are chosen
    as cover every point that is in any several times.

    Args:
        min_size: least number of points of a patch.
        max_size: parts grow up to this number of points.
        rounds: of growth: each adds points one distance farther away; 0 for the parts as they are.
        coverage: patches that each point is in before growth, if there are as many; 0 keeps all.
    """

    min_size: int = 5
    max_size: int = 40
    rounds: int = 2
    coverage: int = 4

    def __post_init__(self) -> None:
        check_integer("min_size", self.min_size, _LEAST_POINTS)
        check_integer("max_size", self.max_size, self.min_size)
        check_integer("rounds", self.rounds, 0)
        check_integer("coverage", self.coverage, 0)

    def __call__(self, network: DistanceNetwork) -> LocalPatches:
        """Patches without positions; sets that are too small or flexible are counted."""
        n = network.num_points
        found = neighbourhood_bodies(network.pairs, n, min_size=_LEAST_POINTS)
        bodies = [body for parts in found for body in parts]
        flexible = int(
            sum(
                not parts and degree >= _LATERATION
                for parts, degree in zip(found, network.degree.tolist(), strict=True)
            )
        )
        few = int((network.degree < _LATERATION).sum())
        indptr = np.concatenate([[0], np.cumsum([len(body) for body in bodies])]).astype(np.int64)
        member = np.concatenate([*bodies, np.zeros(0, np.int64)]).astype(np.int64)
        if self.coverage and len(bodies):
            indptr, member = self._covering(indptr, member, n)
        for _ in range(self.rounds):
            indptr, member = self._grown(indptr, member, network)
        large = np.diff(indptr) >= self.min_size
        small = int((~large).sum())
        kept = np.repeat(large, np.diff(indptr))
        sizes = np.diff(indptr)[large]
        reasons = {
            "fewer than three distances": few,
            "a flexible neighbourhood": flexible,
            f"fewer than {self.min_size} points": small,
        }
        return LocalPatches(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            member[kept],
            dropped={reason: count for reason, count in reasons.items() if count},
        )

    def _covering(self, indptr: IntArray, member: IntArray, n: int) -> tuple[IntArray, IntArray]:
        """Parts chosen largest first, unless all their points are covered often enough."""
        covered = np.zeros(n, dtype=np.int64)
        chosen = []
        for a in np.argsort(-np.diff(indptr), kind="stable").tolist():
            own = member[indptr[a] : indptr[a + 1]]
            if (covered[own] < self.coverage).any():
                covered[own] += 1
                chosen.append(a)
        parts = [member[indptr[a] : indptr[a + 1]] for a in sorted(chosen)]
        sizes = np.array([len(part) for part in parts])
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), np.concatenate(parts)

    def _grown(
        self, indptr: IntArray, member: IntArray, network: DistanceNetwork
    ) -> tuple[IntArray, IntArray]:
        """The parts and the points with enough distances to them, up to the largest size."""
        n, p = network.num_points, len(indptr) - 1
        i, j = network.pairs
        ends = np.concatenate([i, j]), np.concatenate([j, i])
        graph = sp.csr_array((np.ones(len(ends[0])), ends), shape=(n, n))
        inside = sp.csr_array((np.ones(len(member)), member, indptr), shape=(p, n))
        # Members count as negative: they are not added again.
        links = (inside @ graph - (1.0 + n) * inside).tocoo()
        able = links.data >= _LATERATION
        patch, point, count = links.row[able], links.col[able], links.data[able]
        order = np.lexsort((point, -count, patch))
        patch, point = patch[order].astype(np.int64), point[order].astype(np.int64)
        start = np.searchsorted(patch, np.arange(p))
        room = self.max_size - np.diff(indptr)
        fits = np.arange(len(patch)) - start[patch] < room[patch]
        patch, point = patch[fits], point[fits]
        owner = np.concatenate([np.repeat(np.arange(p), np.diff(indptr)), patch])
        every = np.concatenate([member, point])
        order = np.argsort(owner, kind="stable")
        sizes = np.bincount(owner, minlength=p)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), every[order]
