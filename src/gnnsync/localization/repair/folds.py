"""Search for a better map: folds taken out, as long as the likelihood rises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError, check_integer, check_real
from gnnsync.localization.fitting.fit import Fit, fit_points, lengths
from gnnsync.localization.fitting.frames import anchored, held_anchors
from gnnsync.localization.repair.presence import presence_log_likelihood
from gnnsync.localization.repair.scaling import landmark_map
from gnnsync.localization.repair.unfolding import Unfolding
from gnnsync.localization.synchronization.joining import join_bodies
from gnnsync.rigidity import Rigidity
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# A likelihood has to rise by more: less is rounding.
_LEAST_GAIN = 1e-3
# Steps and tolerance of the fits that are compared.
_STEPS, _TOLERANCE = 60, 1e-5
# Points of the plane are determined by paths to so many.
_LEAST_LANDMARKS = 3
# Distances of less confidence, or with a residual of so many deviations, count as rejected; points
# with so many of them are placed again, unless they are more than this share of all.
_LEAST_CONFIDENCE, _LARGE_RESIDUAL, _LEAST_REJECTED, _MOST_RELOCATED = 0.5, 2.5, 2, 0.5


@dataclass(frozen=True)
class FoldRepair:
    """Maps unfolded in several ways and fitted; the most likely one is kept.

    The likelihood is that of the distances (`DistanceNoise`) times that of which pairs were
    measured at all (`presence_log_likelihood`), which tells a folded map from a plain one even if
    the distances fit either.

    Args:
        rounds: most rounds; the first begins with every start, the others with the best map so
            far, and the search ends after one without gain.
        lifts: one trial each: the height of the third coordinate in median distances and its
            smoothing, see `Unfolding`.
        landmarks: a further start is the scaling of the shortest paths to so many points
            (`landmark_map`), which knows nothing of patches; 0 for none.
    """

    rounds: int = 6
    lifts: Sequence[Sequence[float]] = ((0.0, 0), (0.3, 0), (1.0, 5), (1.0, 20))
    landmarks: int = 500

    def __post_init__(self) -> None:
        check_integer("rounds", self.rounds, 0)
        check_integer("landmarks", self.landmarks, 0)
        if 0 < self.landmarks < _LEAST_LANDMARKS:
            raise ParameterError(
                "landmarks", self.landmarks, f"0 or at least {_LEAST_LANDMARKS}, to span the plane"
            )
        for height, smoothing in self.lifts:
            check_real("lifts", height, 0)
            check_integer("lifts", smoothing, 0)

    def __call__(
        self, network: DistanceNetwork, starts: Sequence[FloatArray], *, seed: int = 0
    ) -> FloatArray:
        """Positions (n, 2) from the best of several starts (n, 2) without NaN."""
        if not network.num_edges:
            return starts[0]
        if self.landmarks:
            starts = [*starts, landmark_map(network, self.landmarks, seed)]
        unfold = Unfolding(network, held_anchors(network))
        maps = _distinct([_fitted(network, anchored(network, start)) for start in starts])
        best = maps[0]
        for number in range(self.rounds):
            # Each start has a round: the map of a worse one may have fewer folds.
            maps = [self._round(network, unfold, found, seed, number) for found in maps]
            before, best = best.score, _best(network, maps)
            if best.score == before:
                break
            maps = [best]
        return np.asarray(best.fit.points)

    def _round(
        self, network: DistanceNetwork, unfold: Unfolding, best: _Scored, seed: int, number: int
    ) -> _Scored:
        """The best map after each trial once."""
        placings = (relocated, rejoined)
        count = len(placings) + len(self.lifts)
        for trial in range(count):
            if time_is_up():
                break
            if trial < len(placings):
                moved = placings[trial](network, best.fit)
            else:
                height, smoothing = self.lifts[trial - len(placings)]
                draw = seed + count * number + trial
                moved = unfold(best.fit.points, height, draw, int(smoothing))
            if moved is None:
                continue
            found = _fitted(network, moved)
            mixed = best_of_each(network, best.fit, found.fit)
            if mixed is not None:
                found = max(found, _fitted(network, mixed), key=_score)
            if found.score > best.score + _LEAST_GAIN:
                best = found
        return best


class _Scored(NamedTuple):
    """A fitted map and its log-likelihood, with that of which pairs were measured."""

    score: float
    fit: Fit


def _score(found: _Scored) -> float:
    return found.score


def _best(network: DistanceNetwork, maps: list[_Scored]) -> _Scored:
    """The most likely map, or one with better components of the others."""
    best = max(maps, key=_score)
    for other in maps:
        mixed = best_of_each(network, best.fit, other.fit)
        if mixed is not None:
            best = max(best, _fitted(network, mixed), key=_score)
    return best


def best_of_each(network: DistanceNetwork, one: Fit, other: Fit) -> FloatArray | None:
    """Each component (n, 2) from the map whose distances are likelier, by the law of the first.

    None if that is the same map for all components.
    """
    if network.num_components == 1 or one.noise is None:
        return None
    gain = np.subtract(
        *(one.noise.log_likelihood(lengths(fit.points, network)) for fit in (other, one))
    )
    own = network.component[network.pairs[0]]
    better = np.bincount(own, gain, network.num_components) > _LEAST_GAIN
    taken = better[network.component]
    if not taken.any() or taken[network.pairs[0]].all():
        return None
    return np.where(taken[:, None], other.points, one.points)


def _distinct(maps: list[_Scored]) -> list[_Scored]:
    """The most likely one first, without those of the same likelihood."""
    kept: list[_Scored] = []
    for found in sorted(maps, key=_score, reverse=True):
        if not kept or found.score < kept[-1].score - _LEAST_GAIN:
            kept.append(found)
    return kept


def _fitted(network: DistanceNetwork, points: FloatArray) -> _Scored:
    """The map fitted near positions (n, 2)."""
    fit = fit_points(network, points, held_anchors(network), _STEPS, _TOLERANCE)
    likelihood = fit.log_likelihood(network)
    return _Scored(likelihood + presence_log_likelihood(network, fit.points), fit)


def relocated(network: DistanceNetwork, fit: Fit) -> FloatArray | None:
    """The map with the points of rejected distances placed again by what remains.

    A point with at least two rejected distances is taken out of the map and put where its distances
    to the others are best kept. None if there are none such, or nearly all are.
    """
    rejected = _rejected(network, fit)
    count = np.bincount(network.pairs[:, rejected].ravel(), minlength=network.num_points)
    moved = (count >= _LEAST_REJECTED) & ~held_anchors(network)
    if not moved.any() or moved.mean() > _MOST_RELOCATED:
        return None
    kept = np.flatnonzero(~moved)
    bodies = [
        (own, fit.points[own])
        for own in (kept[network.component[kept] == c] for c in range(network.num_components))
        if len(own)
    ]
    return join_bodies(network, bodies)


def rejoined(network: DistanceNetwork, fit: Fit) -> FloatArray | None:
    """The map with each body placed again that the accepted distances keep globally rigid.

    Such bodies share at most two points, and a map can be folded between any two of them: the
    rejected distances then tell on which side each belongs. None if nothing is rejected, or if one
    body holds nearly all points.
    """
    rejected = _rejected(network, fit)
    if not rejected.any() or held_anchors(network).any():
        return None
    bodies = Rigidity(network.pairs[:, ~rejected], network.num_points).bodies
    if len(bodies) <= network.num_components:
        return None
    return join_bodies(network, [(own, fit.points[own]) for own in bodies])


def _rejected(network: DistanceNetwork, fit: Fit) -> BoolArray:
    """Distances (m,) that the fit does not believe, or hardly."""
    rejected = fit.confidence < _LEAST_CONFIDENCE
    if fit.noise is not None:
        length = lengths(fit.points, network)[fit.used]
        z = np.abs(length - fit.noise.distance) / (fit.noise.sigma * fit.noise.scale(length))
        rejected[fit.used] |= z > _LARGE_RESIDUAL
    return rejected
