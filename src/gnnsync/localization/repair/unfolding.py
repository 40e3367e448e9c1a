"""Maps with folds taken out: near points without a distance push each other apart."""

from __future__ import annotations

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.localization.fitting.equations import PairEnergy, PairEquations
from gnnsync.localization.repair.presence import point_reach, two_steps_apart
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# Residuals relative to the distance beyond which the pull of a distance falls (Geman-McClure), and
# lengths in median distances below which it does not grow.
_CUTOFF, _LEAST_LENGTH = 0.5, 0.1
# Points without a distance push each other within this part of their reach, this strongly.
_NEAR, _PUSH = 0.9, 0.3
# Springs that draw the third coordinate to 0, one after another, per squared median distance.
_SPRINGS = (0.0, 0.02, 0.06, 0.2, 0.6, 2.0, 20.0)
# No division by 0.
_LEAST = 1e-300
# Newton steps for each spring, and the change in median distances that ends them early.
_STEPS, _LEAST_CHANGE = 8, 1e-3


class Unfolding:
    r"""Positions drawn out of folds, in the plane or through the third dimension.

    The energy is

    .. math:: \sum_{e} \rho\Bigl(\frac{|p_i - p_j| - d_e}{d_e}\Bigr)
        + \frac{\kappa}{2} \sum_{ij} \max\Bigl(0, 1 - \frac{|p_i - p_j|}{r_{ij}}\Bigr)^2,

    with ρ of Geman and McClure over the distances, and over pairs with a common neighbour but no
    distance a push within nearly their reach. With a random third coordinate, parts that lie
    folded on each other in the plane can pass; springs of growing strength then flatten the map.

    Args:
        network: the distances.
        held: (n,) points that do not move.
    """

    def __init__(self, network: DistanceNetwork, held: BoolArray) -> None:
        self._network, self._held = network, held
        self._size = float(np.median(network.distance))
        missing, reach = two_steps_apart(network), point_reach(network)
        self._pairs = np.concatenate([network.pairs, missing], axis=1)
        self._reach = _NEAR * reach[missing].min(axis=0)
        self._scale = np.maximum(network.distance, _LEAST_LENGTH * self._size)

    def __call__(
        self, points: FloatArray, height: float, seed: int, smoothing: int = 0
    ) -> FloatArray:
        """Unfolded positions (n, 2).

        Args:
            points: (n, 2) without NaN.
            height: standard deviation of the third coordinate in median distances; 0 to stay in
                the plane.
            seed: of the third coordinates.
            smoothing: how often each third coordinate is averaged with those around, so that larger
                parts are lifted as a whole.
        """
        free = ~self._held & (self._network.degree > 0)
        place = points
        if height > 0.0:
            third = height * self._size * self._smooth_field(len(points), smoothing, seed)
            place = np.column_stack([points, np.where(self._held, 0.0, third)])
        equations = PairEquations(self._pairs, free, place.shape[1])
        for spring in _SPRINGS if height > 0.0 else (0.0,):
            for _ in range(_STEPS):
                moved, _ = equations.step(place, self._energy, spring / self._size**2)
                change = float(np.abs(moved - place).max())
                place = moved
                if change <= _LEAST_CHANGE * self._size or time_is_up():
                    break
        return place[:, :2].copy()

    def _smooth_field(self, n: int, smoothing: int, seed: int) -> FloatArray:
        """A random number (n,) at each point, of variance 1, alike at near points."""
        value = np.random.default_rng(seed).standard_normal(n)
        i, j = self._network.pairs
        degree = np.maximum(self._network.degree, 1)
        for _ in range(smoothing):
            around = np.bincount(i, value[j], n) + np.bincount(j, value[i], n)
            value = 0.5 * (value + around / degree)
        value -= value.mean()
        return np.asarray(value / max(float(value.std()), _LEAST))

    def _energy(self, length: FloatArray) -> PairEnergy:
        m = self._network.num_edges
        z = (length[:m] - self._network.distance) / self._scale
        falling = 1.0 / (1.0 + (z / _CUTOFF) ** 2)
        gap = np.maximum(1.0 - length[m:] / self._reach, 0.0)
        push = _PUSH * (gap > 0.0) / self._reach**2
        return PairEnergy(
            np.concatenate([0.5 * z**2 * falling, 0.5 * _PUSH * gap**2]),
            np.concatenate([z * falling**2 / self._scale, -_PUSH * gap / self._reach]),
            np.concatenate([falling**2 * (4.0 * falling - 3.0) / self._scale**2, push]),
            np.concatenate([falling**2 / self._scale**2, push]),
        )
