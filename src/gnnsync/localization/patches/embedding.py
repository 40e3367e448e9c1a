"""Positions of the points of each patch, from the distances among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import check_integer, check_real
from gnnsync.localization.base import LocalPatches
from gnnsync.localization.patches.local_fit import fit_patches
from gnnsync.localization.repair.presence import point_reach
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import advance, check_time

# Entries of the dense matrices (patches × size × size) that are worked on at a time.
_ENTRIES_PER_CHUNK = 1 << 18
# Points without a distance are probably farther apart than this part of their reach.
_NEAR = 0.9
# Columns, steps and seed of the subspace iteration.
_SUBSPACE, _POWER_STEPS, _SEED = 4, 10, 0


@dataclass(frozen=True)
class StressEmbedding:
    """Classical scaling of shortest paths, then the fit of the distances, patch by patch.

    A measured distance that is longer than a path counts as the path, so that distances that are
    grossly too long do little harm (multidimensional scaling as in MDS-MAP, Shang et al. 2003).
    Damped Gauss-Newton steps follow on the energy of `DistanceNoise`, with one law for all patches
    of a chunk. Patches whose residuals stay far above those of the others are dropped.

    Args:
        iterations: Gauss-Newton steps.
        largest_deviation: patches whose deviation is more than this multiple of the median are
            dropped.
    """

    iterations: int = 15
    largest_deviation: float = 3.0

    def __post_init__(self) -> None:
        check_integer("iterations", self.iterations, 0)
        check_real("largest_deviation", self.largest_deviation, 1)

    def __call__(
        self, network: DistanceNetwork, patches: LocalPatches, *, seed: int = 0
    ) -> LocalPatches:
        """The patches with positions and deviations."""
        position = np.zeros((len(patches.member), 2))
        deviation = np.zeros(len(patches))
        done, reach = 0, point_reach(network)
        for chosen, members, valid in padded(patches):
            check_time()
            measured, sigma = local_distances(network, members, valid)
            start = self.start(network, members, valid, measured)
            apart = _NEAR * np.minimum(reach[members][:, :, None], reach[members][:, None, :])
            placed, spread = fit_patches(start, measured, sigma, apart, valid, self.iterations)
            places = patches.indptr[chosen][:, None] + np.arange(members.shape[1])
            position[places[valid]] = placed[valid]
            deviation[chosen] = spread
            done += len(chosen)
            advance(done / len(patches))
        return self._good(patches, position, deviation)

    def start(
        self, network: DistanceNetwork, members: IntArray, valid: BoolArray, measured: FloatArray
    ) -> FloatArray:
        """Positions (b, k, 2) to begin with, of b patches of at most k points.

        Args:
            network: holds the distances.
            members: (b, k) numbers of the points.
            valid: (b, k) which of them exist.
            measured: (b, k, k) distances, inf where there is none.
        """
        return scaled(shortest_paths(measured), valid)

    def _good(
        self, patches: LocalPatches, position: FloatArray, deviation: FloatArray
    ) -> LocalPatches:
        """Without patches that do not fit."""
        limit = self.largest_deviation * float(np.median(deviation)) if len(deviation) else 0.0
        good = (deviation <= limit) | (deviation <= _GOOD_DEVIATION)
        sizes = np.diff(patches.indptr)
        kept = np.repeat(good, sizes)
        bad = int((~good).sum())
        dropped = patches.dropped | ({"large residuals": bad} if bad else {})
        return LocalPatches(
            np.concatenate([[0], np.cumsum(sizes[good])]).astype(np.int64),
            patches.member[kept],
            position[kept],
            deviation[good],
            dropped,
        )


# A patch of this deviation relative to the distances is good, whatever that of others is.
_GOOD_DEVIATION = 1e-4


def padded(patches: LocalPatches) -> Iterator[tuple[IntArray, IntArray, BoolArray]]:
    """Chunks of patches of similar size: their numbers (b,), members (b, k) and which are valid."""
    sizes = np.diff(patches.indptr)
    order = np.argsort(sizes, kind="stable")
    start = 0
    while start < len(order):
        # As many as fit, by the size of the largest of them.
        stop, largest = start, 0
        while stop < len(order):
            largest = int(sizes[order[stop]])
            if stop > start and (stop - start + 1) * largest**2 > _ENTRIES_PER_CHUNK:
                break
            stop += 1
        chosen = order[start:stop]
        width = int(sizes[chosen].max())
        valid = np.arange(width) < sizes[chosen][:, None]
        members = np.zeros((len(chosen), width), dtype=np.int64)
        members[valid] = np.concatenate([patches.members(a) for a in chosen.tolist()])
        yield chosen, members, valid
        start = stop


def local_distances(
    network: DistanceNetwork, members: IntArray, valid: BoolArray
) -> tuple[FloatArray, FloatArray | None]:
    """Measured distances (b, k, k), inf where there is none, and their deviations."""
    n = network.num_points
    low, high = np.sort(network.pairs, axis=0)
    key = low * n + high
    order = np.argsort(key)
    key = key[order]
    i, j = members[:, :, None], members[:, None, :]
    wanted = np.minimum(i, j) * n + np.maximum(i, j)
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    found = (key[place] == wanted) & valid[:, :, None] & valid[:, None, :]
    edge = order[place]
    measured = np.where(found, network.distance[edge], np.inf)
    if network.deviation is None:
        return measured, None
    return measured, np.where(found, network.deviation[edge], 1.0)


def shortest_paths(measured: FloatArray) -> FloatArray:
    """Lengths (b, k, k) of the shortest paths along measured distances (Floyd and Warshall)."""
    path = measured.copy()
    k = path.shape[1]
    path[:, np.arange(k), np.arange(k)] = 0.0
    for via in range(k):
        np.minimum(path, path[:, :, via, None] + path[:, via, None, :], out=path)
    return path


def scaled(path: FloatArray, valid: BoolArray) -> FloatArray:
    """Positions (b, k, 2) by classical scaling of distances (b, k, k) between valid points."""
    both = valid[:, :, None] & valid[:, None, :]
    square: NDArray[np.float64] = np.where(both & np.isfinite(path), path, 0.0) ** 2
    count = valid.sum(axis=1)[:, None]
    rows = square.sum(axis=2) / count
    total = rows.sum(axis=1)[:, None] / count
    centred = -0.5 * (square - rows[:, :, None] - rows[:, None, :] + total[:, :, None])
    return _leading(np.where(both, centred, 0.0))


def _leading(matrix: FloatArray) -> FloatArray:
    """√λ v (b, k, 2) of the two largest eigenvalues, by subspace iteration: it is a start only."""
    k = matrix.shape[1]
    columns = min(_SUBSPACE, k)
    basis = np.random.default_rng(_SEED).standard_normal((k, columns))
    basis = np.broadcast_to(basis, (len(matrix), k, columns))
    for _ in range(_POWER_STEPS):
        basis = np.linalg.qr(matrix @ basis)[0]
    small = basis.transpose(0, 2, 1) @ matrix @ basis
    value, vector = np.linalg.eigh(small)
    return np.asarray(basis @ vector[:, :, -2:] * np.sqrt(np.maximum(value[:, None, -2:], 0.0)))
