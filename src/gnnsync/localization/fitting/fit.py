"""Positions of the largest likelihood near a start, and the law of the noise fitted with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.localization.fitting.equations import PairEnergy, PairEquations
from gnnsync.localization.fitting.noise import DistanceNoise
from gnnsync.localization.fitting.reach import ReachLaw, missing_pairs
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import time_is_up

# It has not converged while the deviation still falls below this part in one step.
_SETTLED = 0.5
# Steps in which the law of the noise may still change its form, and the least number of steps.
_FREE_STEPS, _LEAST_STEPS = 10, 4
# Steps in which the law of the reach may change.
_REACH_STEPS = 20
# The distances are stretched after so many, and no more than this.
_SIZE_STEPS, _MOST_STRETCH = 3, 0.1
# Missing pairs count up to so many widths beyond the reach, and up to this part of it.
_NEAR_WIDTHS, _LEAST_MARGIN = 6.0, 0.15
# The width of the reach is at least this part of the relative deviation of the distances, which is
# about the error of the lengths on the map, and is not held at more than the second number.
_WIDTH_PER_NOISE, _MOST_LEAST_WIDTH = 0.3, 0.1


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
        reach: the law of which pairs are measured; None if there was nothing to fit.
    """

    points: FloatArray
    noise: DistanceNoise | None
    confidence: FloatArray
    used: BoolArray
    iterations: int
    converged: bool
    reach: ReachLaw | None = None

    def log_likelihood(self, network: DistanceNetwork) -> float:
        """Of the used distances, and of which pairs are measured."""
        if self.noise is None:
            return 0.0
        return float(self.component_log_likelihoods(network, self.points).sum())

    def component_log_likelihoods(self, network: DistanceNetwork, points: FloatArray) -> FloatArray:
        """The same of any positions (n, 2) by the laws of this fit, for each component (c,)."""
        assert self.noise is not None
        assert self.reach is not None
        count, component = network.num_components, network.component
        own = component[network.pairs[0][self.used]]
        length = lengths(points, network)[self.used]
        value = self.noise.log_likelihood(length)
        placed = np.asarray(np.isfinite(points).all(axis=1))
        missing = missing_pairs(network, points, placed, self.reach.farthest)
        apart = self.reach.missing_energy(_lengths(points, missing)).value
        value = value - self.reach.measured_energy(length).value
        total = np.bincount(own, value, count) - np.bincount(component[missing[0]], apart, count)
        return np.asarray(total, dtype=np.float64)


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
    *,
    shaped: bool = False,
    laws: Fit | None = None,
) -> Fit:
    """The fit near `points`.

    Newton steps on the energy of `DistanceNoise` and `ReachLaw` alternate with the estimation of
    their parameters.

    Args:
        network: the distances.
        points: (n, 2) start; NaN marks points that take no part.
        held: (n,) points that stay where they are.
        iterations: most steps.
        tolerance: stop when no coordinate changes by more, relative to the median distance.
        shaped: whether a second fit follows with the shape of the noise that the first one shows.
        laws: another fit, of which this network may be a part, whose laws are held.
    """
    placed = np.asarray(np.isfinite(points).all(axis=1))
    used = np.asarray(placed[network.pairs].all(axis=0))
    pairs = network.pairs[:, used]
    free = placed & ~held & (np.bincount(pairs.ravel(), minlength=len(placed)) > 0)
    if not free.any():
        return Fit(points, None, used.astype(np.float64), used, 0, True)
    deviation = None if network.deviation is None else network.deviation[used]
    place = np.where(placed[:, None], points, 0.0)
    distance = network.distance[used]
    if laws is None or laws.noise is None or laws.reach is None:
        law = DistanceNoise.first(lengths(place, network)[used], distance, deviation)
        steps = _Steps(network, used, free, law, ReachLaw.first(distance))
    else:
        law = replace(laws.noise, distance=distance, deviation=deviation)
        steps = _Steps(network, used, free, law, laws.reach, held=True)
    place = steps.run(place, placed, iterations, tolerance)
    if shaped:
        steps.law = steps.law.shaped(lengths(place, network)[used], steps.unknowns)
        place = steps.run(place, placed, iterations - steps.number, tolerance)
    confidence = np.zeros(network.num_edges)
    confidence[used] = steps.law.confidence(lengths(place, network)[used])
    place = np.where(placed[:, None], place, np.nan)
    return Fit(place, steps.law, confidence, used, steps.number, steps.converged, steps.reach)


class _Steps:
    """Newton steps and the laws that go with them, on the distances `used` (m,)."""

    def __init__(
        self,
        network: DistanceNetwork,
        used: BoolArray,
        free: BoolArray,
        law: DistanceNoise,
        reach: ReachLaw,
        held: bool = False,
    ) -> None:
        self.law, self.reach = law, reach
        self.number, self.converged = 0, False
        self.unknowns = 2 * int(free.sum())
        self._network, self._used, self._free, self._held = network, used, free, held
        self._m, self._stretch = int(used.sum()), 0.0

    def run(
        self, place: FloatArray, placed: BoolArray, iterations: int, tolerance: float
    ) -> FloatArray:
        """The positions (n, 2) after at most so many steps."""
        pairs, m = self._network.pairs[:, self._used], self._m
        if not self._held:
            self._fit_reach(place, missing_pairs(self._network, place, placed, self.reach.farthest))
        more = missing_pairs(self._network, place, placed, self._near())
        pairs = np.concatenate([pairs, more], axis=1)
        equations = PairEquations(pairs, self._free)
        least = tolerance * float(np.median(self._network.distance[self._used]))
        self.converged = False
        for count in range(1, iterations + 1):
            sigma, self.number = self.law.sigma, self.number + 1
            length = _lengths(place, pairs)
            if not self._held:
                self._fit_laws(place, length, pairs[:, m:], count)
            moved, _ = equations.step(place, partial(self._energy, self.law.scale(length[:m])))
            change = float(np.abs(moved - place).max())
            place = moved
            settled = self.law.sigma > _SETTLED * sigma and count >= _LEAST_STEPS
            self.converged = settled and change <= least
            if self.converged or time_is_up():
                break
        return place

    def _fit_laws(
        self, place: FloatArray, length: FloatArray, missing: IntArray, count: int
    ) -> None:
        m = self._m
        self.law = self.law.fitted(length[:m], self.unknowns, fixed=count > _FREE_STEPS)
        if count <= _REACH_STEPS:
            self._fit_reach(place, missing)
        if _SIZE_STEPS < count <= _REACH_STEPS:
            self._fit_size(length[:m])

    def _near(self) -> float:
        """Length up to which missing pairs are held in the equations."""
        width = max(_NEAR_WIDTHS * self.reach.width, _LEAST_MARGIN * self.reach.reach)
        return min(self.reach.reach + width, self.reach.farthest)

    def _fit_reach(self, place: FloatArray, missing: IntArray) -> None:
        pairs = self._network.pairs[:, self._used]
        length = _lengths(place, pairs)
        relative = self.law.sigma * float(np.median(self.law.scale(length) / length))
        self.reach = self.reach.fitted(
            length, _lengths(place, missing), min(_WIDTH_PER_NOISE * relative, _MOST_LEAST_WIDTH)
        )

    def _fit_size(self, length: FloatArray) -> None:
        r"""One step towards the stretch δ with which the size of the map is that of the distances.

        The reach is free, so that which pairs are measured tells nothing of the size of the map.
        But the width of the law is that of a map with errors, and a larger map needs less of it.
        The distances count as (1 + δ) d, and δ is such that their likelihood alone would neither
        shrink nor stretch the map.
        """
        energy = self.law.energy(length, self.law.scale(length))
        excess = float(energy.slope @ length) / float(energy.stiffness @ length**2)
        self._stretch = float(np.clip(self._stretch - excess, -_MOST_STRETCH, _MOST_STRETCH))

    def _energy(self, scale: FloatArray, length: FloatArray) -> PairEnergy:
        m = self._m
        stretched = replace(self.law, distance=(1.0 + self._stretch) * self.law.distance)
        noise = stretched.energy(length[:m], scale)
        near = self.reach.measured_energy(length[:m])
        missing = self.reach.missing_energy(length[m:])
        return PairEnergy(
            *(
                np.concatenate([getattr(noise, key) + getattr(near, key), getattr(missing, key)])
                for key in ("value", "slope", "curvature", "stiffness")
            )
        )


def _lengths(place: FloatArray, pairs: IntArray) -> FloatArray:
    step = place[pairs[0]] - place[pairs[1]]
    return np.hypot(step[:, 0], step[:, 1])
