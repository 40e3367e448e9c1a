"""Positions of the largest likelihood near a start, and the law of the noise fitted with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.localization.fitting.equations import PairEquations
from gnnsync.localization.fitting.noise import DistanceNoise
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# It has not converged while the deviation still falls below this part in one step.
_SETTLED = 0.5
# Steps in which the law of the noise may still change its form, and the least number of steps.
_FREE_STEPS, _LEAST_STEPS = 10, 4


@dataclass(frozen=True, eq=False)
class Fit:
    """Positions fitted to distances.

    Args:
        points: (n, 2); NaN where the start has none.
        noise: the law of the residuals of `used`; None if there was nothing to fit.
        confidence: (m,) that each distance is no gross error; 0 where an end has no position.
        used: (m,) distances between points with positions.
        iterations: steps taken.
        converged: whether the last step was small.
    """

    points: FloatArray
    noise: DistanceNoise | None
    confidence: FloatArray
    used: BoolArray
    iterations: int
    converged: bool

    def log_likelihood(self, network: DistanceNetwork) -> float:
        """Of the residuals of the used distances."""
        if self.noise is None:
            return 0.0
        length = lengths(self.points, network)[self.used]
        return float(self.noise.log_likelihood(length).sum())


def lengths(points: FloatArray, network: DistanceNetwork) -> FloatArray:
    """Distances (m,) between the positions of the measured pairs."""
    step = points[network.pairs[0]] - points[network.pairs[1]]
    return np.hypot(step[:, 0], step[:, 1])


def fit_points(
    network: DistanceNetwork,
    points: FloatArray,
    held: BoolArray,
    iterations: int,
    tolerance: float,
    noise: DistanceNoise | None = None,
) -> Fit:
    """The fit near `points`.

    Newton steps on the energy of `DistanceNoise` alternate with expectation maximisation of its
    parameters.

    Args:
        network: the distances.
        points: (n, 2) start; NaN marks points that take no part.
        held: (n,) points that stay where they are.
        iterations: most steps.
        tolerance: stop when no coordinate changes by more, relative to the median distance.
        noise: a law that is held; None to fit it.
    """
    placed = np.asarray(np.isfinite(points).all(axis=1))
    used = np.asarray(placed[network.pairs].all(axis=0))
    pairs, distance = network.pairs[:, used], network.distance[used]
    free = placed & ~held & (np.bincount(pairs.ravel(), minlength=len(placed)) > 0)
    confidence = np.zeros(network.num_edges)
    if not free.any():
        confidence[used] = 1.0
        return Fit(points, noise, confidence, used, 0, True)
    place = np.where(placed[:, None], points, 0.0)
    length = lengths(place, network)[used]
    deviation = None if network.deviation is None else network.deviation[used]
    law = DistanceNoise.first(length, distance, deviation) if noise is None else noise
    equations = PairEquations(pairs, free)
    unknowns, least = 2 * int(free.sum()), tolerance * float(np.median(distance))
    converged, number = False, 0
    for number in range(1, iterations + 1):
        sigma = law.sigma
        if noise is None:
            law = law.fitted(length, unknowns, fixed=number > _FREE_STEPS)
        scale, now = law.scale(length), law
        moved, _ = equations.step(place, partial(now.energy, scale=scale))
        change = float(np.abs(moved - place).max())
        place = moved
        length = lengths(place, network)[used]
        converged = number >= _LEAST_STEPS and change <= least and law.sigma > _SETTLED * sigma
        if converged or time_is_up():
            break
    confidence[used] = law.confidence(length)
    place = np.where(placed[:, None], place, np.nan)
    return Fit(place, law, confidence, used, number, converged)
