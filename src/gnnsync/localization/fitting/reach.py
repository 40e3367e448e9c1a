"""Which pairs are measured at all: near ones, up to a reach that is fitted with the positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import cKDTree
from scipy.special import expit

from gnnsync.distance_network import DistanceNetwork
from gnnsync.localization.fitting.equations import PairEnergy
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Lengths are counted in this many bins for each reach, up to this multiple of it.
_BINS_PER_REACH, _FARTHEST = 100, 1.6
# The first reach: this quantile of the distances, of which few are grossly too long.
_REACH_QUANTILE = 0.85
# First width relative to the reach, and bounds of reach and width relative to the first reach.
_FIRST_WIDTH, _LEAST_REACH, _MOST_REACH, _LEAST_WIDTH, _MOST_WIDTH = 0.1, 0.3, 1.5, 5e-3, 2.0
# Bounds of the ceiling: of near pairs some may be missing for other reasons.
_LEAST_CEILING, _MOST_CEILING = 0.05, 1.0 - 1e-3
# At most so many missing pairs for each distance are looked at; a map so crowded is folded.
_MOST_MISSING = 8
# No logarithm of 0.
_LEAST = 1e-300


@dataclass(frozen=True)
class ReachLaw:
    r"""Probability that a pair of points at distance l is measured.

    .. math:: q(l) = \frac{c}{1 + e^{(l - R)/w}}

    For instruments with a range, missing pairs then say that two points are farther apart than R,
    which noisy distances alone do not tell. Where the choice of the pairs has nothing to do with
    their distance, w is large and q says nothing.

    Args:
        reach: R.
        width: w.
        ceiling: c, the share of near pairs that are measured.
    """

    reach: float
    width: float
    ceiling: float

    @classmethod
    def first(cls, distance: FloatArray) -> ReachLaw:
        """A law for a first search of the missing pairs."""
        reach = float(np.quantile(distance, _REACH_QUANTILE)) / np.sqrt(_REACH_QUANTILE)
        return cls(reach, _FIRST_WIDTH * reach, _MOST_CEILING)

    @property
    def farthest(self) -> float:
        """Missing pairs at this distance, and beyond, say nothing."""
        return _FARTHEST * self.reach

    def fitted(self, measured: FloatArray, missing: FloatArray, least_width: float) -> ReachLaw:
        """The most likely law for lengths (m,) of measured pairs and (q,) of missing ones.

        Args:
            measured: (m,) lengths.
            missing: (q,) lengths.
            least_width: the width is at least so much, in units of the reach: lengths on a map
                have errors.
        """
        size = self.reach
        bins = np.linspace(0.0, _FARTHEST, int(_FARTHEST * _BINS_PER_REACH) + 1)
        inside = np.minimum(measured / size, _FARTHEST)
        found, absent = (np.histogram(value, bins)[0] for value in (inside, missing / size))
        middle = 0.5 * (bins[1:] + bins[:-1])

        def loss(values: FloatArray) -> tuple[float, FloatArray]:
            reach, width, ceiling = values
            e = (middle - reach) / width
            near = expit(-e)
            gap = 1.0 - ceiling * near
            value = -found @ (np.log(ceiling) + _log_expit(-e)) - absent @ np.log(gap)
            by_e = found * (1.0 - near) - absent * ceiling * near * (1.0 - near) / gap
            by_ceiling = -found.sum() / ceiling + absent @ (near / gap)
            gradient = [-by_e.sum() / width, -(by_e @ e) / width, by_ceiling]
            return float(value), np.array(gradient)

        narrow = min(max(least_width, _LEAST_WIDTH), _MOST_WIDTH)
        bounds = [
            (_LEAST_REACH, _MOST_REACH),
            (narrow, _MOST_WIDTH),
            (_LEAST_CEILING, _MOST_CEILING),
        ]
        start = [1.0, max(self.width / size, narrow), self.ceiling]
        best = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
        reach, width, ceiling = best.x.tolist()
        return ReachLaw(size * reach, size * width, ceiling)

    def measured_energy(self, length: FloatArray) -> PairEnergy:
        """-log q (m,) of measured pairs."""
        e = (length - self.reach) / self.width
        far = expit(e)
        stiffness = far * (1.0 - far) / self.width**2
        value = -np.log(self.ceiling) - _log_expit(-e)
        return PairEnergy(value, far / self.width, stiffness, stiffness)

    def missing_energy(self, length: FloatArray) -> PairEnergy:
        """-log(1 - q) (q,) of missing pairs."""
        near = expit((self.reach - length) / self.width)
        gap = 1.0 - self.ceiling * near
        part = self.ceiling * near * (1.0 - near) / gap
        slope = -part / self.width
        curvature = part * (1.0 - near - near * (1.0 - self.ceiling) / gap) / self.width**2
        stiffness = near * (1.0 - near) / self.width**2
        return PairEnergy(-np.log(np.maximum(gap, _LEAST)), slope, curvature, stiffness)


def missing_pairs(
    network: DistanceNetwork, points: FloatArray, placed: BoolArray, farthest: float
) -> IntArray:
    """Pairs (2, q) of points of one component, near on the map and without a distance."""
    n, own = network.num_points, np.flatnonzero(placed)
    tree = cKDTree(points[own])
    most = 2 * _MOST_MISSING * network.num_edges + len(own)
    while tree.count_neighbors(tree, farthest) > most:
        farthest *= 0.9
    pairs = own[tree.query_pairs(farthest, output_type="ndarray")].T
    pairs = pairs[:, network.component[pairs[0]] == network.component[pairs[1]]]
    low, high = np.sort(network.pairs, axis=0)
    i, j = np.sort(pairs, axis=0)
    missing = ~np.isin(i * n + j, low * n + high)
    order = np.lexsort((j[missing], i[missing]))
    return np.stack([i[missing][order], j[missing][order]]).astype(np.int64)


def _log_expit(x: FloatArray) -> FloatArray:
    return -np.logaddexp(0.0, -x)
