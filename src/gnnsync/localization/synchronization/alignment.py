"""Which motion brings one patch onto another, by their common points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import check_integer
from gnnsync.localization.base import LocalPatches, PatchAlignments
from gnnsync.topology import minimum_spanning_edges
from gnnsync.typing import ComplexArray, FloatArray, IntArray

# Common points that fix a motion and its reflection.
_LEAST_COMMON = 3
# Residual squares below this part of the squared size of the common points are rounding.
_ROUNDING = 1e-14
# Degrees of freedom of the residuals of three points, and fewer by the weights.
_LEAST_FREEDOM = 0.5
# Points whose residual is this many times the root mean square get a quarter of the weight
# (Geman-McClure).
_CUTOFF = 2.0
# No division by 0.
_LEAST = 1e-300
# Precisions of rotations differ from the median by no more than this factor.
_MOST_RATIO = 100.0


@dataclass(frozen=True)
class RobustAlignment:
    r"""Rotation and reflection between patches by closed-form Procrustes with robust weights.

    With positions z, w of the common points as complex numbers, less their weighted mean, the best
    rotation is the argument of Σ ω z w̄ and that with reflection the argument of Σ ω z w; the larger
    modulus decides. The weights ω = 1/(1 + r²/(cσ)²)² of Geman and McClure follow from the
    residuals r of the better fit and their root mean square σ.

    Args:
        min_common: least number of common points.
        most_pairs: each patch is aligned to at most as many others of its choice, those with most
            common points; 0 aligns all.
        rounds: of weights.
    """

    min_common: int = 3
    most_pairs: int = 12
    rounds: int = 3

    def __post_init__(self) -> None:
        check_integer("min_common", self.min_common, _LEAST_COMMON)
        check_integer("most_pairs", self.most_pairs, 0)
        check_integer("rounds", self.rounds, 0)

    def __call__(self, patches: LocalPatches) -> PatchAlignments:
        """Motions of the pairs with enough common points."""
        pairs = self._pairs(patches)
        owner, here, there = _common_points(patches, pairs)
        assert patches.position is not None
        place = patches.position[:, 0] + 1j * patches.position[:, 1]
        z, w = place[here], place[there]
        e = pairs.shape[1]
        weight, square = np.ones(len(owner)), np.zeros(len(owner))
        common = np.bincount(owner, minlength=e)
        for number in range(self.rounds + 1):
            if number:
                mean = _mean(owner, weight, square, e)
                ratio = square / np.maximum(mean, _LEAST)[owner]
                weight = (1.0 + ratio / _CUTOFF**2) ** -2.0
            a, b = _centred(owner, z, weight, e), _centred(owner, w, weight, e)
            straight = _complex_sum(owner, weight * a * b.conj(), e)
            mirrored = _complex_sum(owner, weight * a * b, e)
            same = np.abs(straight) >= np.abs(mirrored)
            turn = np.angle(np.where(same, straight, mirrored))
            other = np.where(same[owner], b, b.conj())
            square = np.abs(a - np.exp(1j * turn)[owner] * other) ** 2
        size = _sum(owner, weight * (np.abs(a) ** 2 + np.abs(b) ** 2), e)
        best = np.maximum(np.abs(straight), np.abs(mirrored))
        worse = np.minimum(np.abs(straight), np.abs(mirrored))
        left = np.maximum(size - 2.0 * best, 0.0)
        freedom = np.maximum(_sum(owner, weight, e) - 2.0, _LEAST_FREEDOM)
        variance = _variance(left / freedom, _ROUNDING * size + _LEAST)
        return PatchAlignments(
            pairs,
            np.where(same, 1, -1).astype(np.int64),
            turn,
            _limited(best / variance),
            (best - worse) / variance,
            common.astype(np.int64),
        )

    def _pairs(self, patches: LocalPatches) -> IntArray:
        """Pairs (2, e) of patches, sorted."""
        p, n = len(patches), int(patches.member.max(initial=-1)) + 1
        inside = sp.csr_array(
            (np.ones(len(patches.member)), patches.member, patches.indptr), shape=(p, n)
        )
        common = (inside @ inside.T).tocoo()
        able = (common.data >= self.min_common) & (common.row < common.col)
        pairs = np.stack([common.row[able], common.col[able]]).astype(np.int64)
        count = common.data[able].astype(np.int64)
        if self.most_pairs and len(count):
            chosen = self._chosen(pairs, count, p)
            pairs = pairs[:, chosen]
        return pairs[:, np.lexsort((pairs[1], pairs[0]))]

    def _chosen(self, pairs: IntArray, count: IntArray, p: int) -> IntArray:
        """The pairs of most common points of each patch, and of a tree that joins all patches."""
        order = np.argsort(-count, kind="stable")
        tree = minimum_spanning_edges(pairs, p, order)
        ends = pairs.ravel()
        number = np.tile(np.arange(len(count)), 2)
        # A draw among equal overlaps, the same for both ends.
        tie = (pairs.sum(axis=0) * 7919 % 1009)[number]
        sequence = np.lexsort((tie, -count[number], ends))
        own = ends[sequence]
        rank = np.arange(len(own)) - np.searchsorted(own, np.arange(p))[own]
        return np.union1d(tree, number[sequence][rank < self.most_pairs])


def _common_points(patches: LocalPatches, pairs: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each common point of each pair: the pair, and its places in the first and the second."""
    sizes = np.diff(patches.indptr)
    p, n = len(patches), int(patches.member.max(initial=-1)) + 1
    key = np.repeat(np.arange(p), sizes) * n + patches.member
    order = np.argsort(key)
    key = key[order]
    a, b = pairs
    owner = np.repeat(np.arange(pairs.shape[1]), sizes[a])
    first = np.cumsum(sizes[a]) - sizes[a]
    here = np.arange(len(owner)) - first[owner] + patches.indptr[a][owner]
    wanted = b[owner] * n + patches.member[here]
    place = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    found = key[place] == wanted if len(key) else np.zeros(0, dtype=bool)
    return owner[found], here[found], order[place[found]]


def _variance(own: FloatArray, least: FloatArray) -> FloatArray:
    """Variance (e,) of the positions of each pair: its own, and at least the usual one.

    Few common points may agree by chance.
    """
    usual = float(np.median(own)) if len(own) else 0.0
    return np.asarray(np.maximum(np.maximum(own, usual), least))


def _limited(precision: FloatArray) -> FloatArray:
    """Precisions within a factor of their median: without noise they are rounding."""
    middle = float(np.median(precision)) if len(precision) else 1.0
    return np.clip(precision / middle, 1.0 / _MOST_RATIO, _MOST_RATIO)


def _centred(owner: IntArray, z: ComplexArray, weight: FloatArray, e: int) -> ComplexArray:
    total = np.maximum(_sum(owner, weight, e), _LEAST)
    return np.asarray(z - (_complex_sum(owner, weight * z, e) / total)[owner])


def _mean(owner: IntArray, weight: FloatArray, value: FloatArray, e: int) -> FloatArray:
    return np.asarray(_sum(owner, weight * value, e) / np.maximum(_sum(owner, weight, e), _LEAST))


def _sum(owner: IntArray, value: FloatArray, e: int) -> FloatArray:
    return np.asarray(np.bincount(owner, value, e), dtype=np.float64)


def _complex_sum(owner: IntArray, value: ComplexArray, e: int) -> ComplexArray:
    return np.asarray(np.bincount(owner, value.real, e) + 1j * np.bincount(owner, value.imag, e))
