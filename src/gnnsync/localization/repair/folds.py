"""Search for a better map: folds taken out, as long as the likelihood rises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError, check_integer, check_real
from gnnsync.localization.fitting.fit import Fit, fit_points, lengths
from gnnsync.localization.fitting.frames import anchored, held_anchors
from gnnsync.localization.fitting.reach import missing_pairs
from gnnsync.localization.repair.hinges import reflected_parts
from gnnsync.localization.repair.scaling import landmark_map
from gnnsync.localization.repair.unfolding import Unfolding
from gnnsync.localization.synchronization.joining import join_bodies
from gnnsync.rigidity import Rigidity
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# A likelihood has to rise by more: less is rounding.
_LEAST_GAIN = 1e-3
# Steps and tolerance of the fits that are compared.
_STEPS, _TOLERANCE = 60, 1e-4
# A component of fewer points has one map, up to a motion.
_LEAST_POINTS = 4
# Near pairs without a distance, and rejected distances of a point, are more than usual by so many
# standard errors and a few. Pairs within the reach by so many widths are near.
_SURE, _FEW, _SURE_WIDTHS = 3.0, 2, 4.0
# Points of the plane are determined by paths to so many.
_LEAST_LANDMARKS = 3
# Distances of less confidence, or with a residual of so many deviations, count as rejected; points
# with so many of them are placed again, unless they are more than this share of all.
_LEAST_CONFIDENCE, _LARGE_RESIDUAL, _LEAST_REJECTED, _MOST_RELOCATED = 0.5, 2.5, 2, 0.5


@dataclass(frozen=True)
class FoldRepair:
    """Maps unfolded in several ways and fitted; the most likely one is kept.

    The likelihood is that of the distances (`DistanceNoise`) times that of which pairs were
    measured at all (`ReachLaw`), which tells a folded map from a plain one even if the distances
    fit either. The starts are fitted as a whole, and the best one of each component is kept. Then
    each component is searched by itself, with the laws of the noise and the reach held.

    Args:
        rounds: most rounds of trials for a component; the search ends after one without gain.
        lifts: one trial each: the height of the third coordinate in median distances and its
            smoothing, see `Unfolding`; only where the map shows that it is folded.
        landmarks: a further start is the scaling of the shortest paths to so many points
            (`landmark_map`), which knows nothing of patches; 0 for none.
        reflections: so many maps with a part reflected at a narrow place are tried in each round,
            see `reflected_parts`.
    """

    rounds: int = 6
    lifts: Sequence[Sequence[float]] = ((0.0, 0), (0.3, 0), (1.0, 5), (1.0, 20))
    landmarks: int = 500
    reflections: int = 40

    def __post_init__(self) -> None:
        check_integer("rounds", self.rounds, 0)
        check_integer("landmarks", self.landmarks, 0)
        check_integer("reflections", self.reflections, 0)
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
        maps = [_fitted(network, anchored(network, start)) for start in starts]
        best = _best(network, maps)
        if best.fit.noise is None or not self.rounds:
            return np.asarray(best.fit.points)
        points = best.fit.points.copy()
        for c in range(network.num_components):
            own = np.flatnonzero(network.component == c)
            if len(own) >= _LEAST_POINTS:
                part, _ = network.subnetwork(own)
                others = [found.fit.points[own] for found in maps]
                points[own] = self._best_of(part, points[own], others, best.fit, seed)
        return points

    def _best_of(
        self,
        network: DistanceNetwork,
        points: FloatArray,
        others: list[FloatArray],
        laws: Fit,
        seed: int,
    ) -> FloatArray:
        """The best map (n, 2) from one start, and from others while it is folded."""
        best = self._searched(network, points, laws, seed)
        for other in others:
            if not is_folded(network, best.fit) or time_is_up():
                break
            best = max(best, self._searched(network, other, laws, seed), key=_score)
        return np.asarray(best.fit.points)

    def _searched(
        self, network: DistanceNetwork, points: FloatArray, laws: Fit, seed: int
    ) -> _Scored:
        """The best map of a connected network that is found from this one."""
        held = held_anchors(network)
        best = _fitted(network, points, laws)
        unfold: Unfolding | None = None
        for number in range(self.rounds):
            before = best.score
            for trial in self._trials(network, best.fit, held):
                best = max(best, _fitted(network, trial, laws), key=_score)
                if best.score > before + _LEAST_GAIN or time_is_up():
                    break
            lifts = enumerate(self.lifts) if is_folded(network, best.fit) else ()
            for place, (height, smoothing) in lifts:
                if time_is_up():
                    break
                unfold = unfold or Unfolding(network, held)
                draw = seed + len(self.lifts) * number + place
                moved = unfold(best.fit.points, height, draw, int(smoothing))
                best = max(best, _fitted(network, moved, laws), key=_score)
            if best.score <= before + _LEAST_GAIN or time_is_up():
                break
        return best

    def _trials(self, network: DistanceNetwork, fit: Fit, held: BoolArray) -> Iterator[FloatArray]:
        """Maps with some points or a part in another place."""
        for placing in (relocated, rejoined):
            moved = placing(network, fit)
            if moved is not None:
                yield moved
        assert fit.reach is not None
        reach = fit.reach.reach
        for found in reflected_parts(network, fit.points, reach, held, self.reflections):
            yield found.points


def is_folded(network: DistanceNetwork, fit: Fit) -> bool:
    """Whether more pairs are near without a distance, or more distances rejected, than is usual.

    Pairs that lie within the reach by some widths have a distance with probability c, the ceiling
    of `ReachLaw`. Gross errors are spread over the points; where they gather, the map is wrong.
    """
    if fit.reach is None:
        return False
    law = fit.reach
    least = law.reach - _SURE_WIDTHS * law.width
    if least > 0.0:
        placed = np.asarray(np.isfinite(fit.points).all(axis=1))
        absent = missing_pairs(network, fit.points, placed, least).shape[1]
        inside = int((lengths(fit.points, network) < least).sum()) + absent
        usual = (1.0 - law.ceiling) * inside
        if absent > usual + _SURE * np.sqrt(usual) + _FEW:
            return True
    rejected = fit.confidence < _LEAST_CONFIDENCE
    share = float(rejected.mean())
    count = np.bincount(network.pairs[:, rejected].ravel(), minlength=network.num_points)
    usual_count = share * network.degree
    return bool((count > usual_count + _SURE * np.sqrt(usual_count) + _FEW).any())


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
        *(one.component_log_likelihoods(network, fit.points) for fit in (other, one))
    )
    better = gain > _LEAST_GAIN
    taken = better[network.component]
    if not taken.any() or taken[network.pairs[0]].all():
        return None
    return np.where(taken[:, None], other.points, one.points)


def _fitted(network: DistanceNetwork, points: FloatArray, laws: Fit | None = None) -> _Scored:
    """The map fitted near positions (n, 2)."""
    fit = fit_points(network, points, held_anchors(network), _STEPS, _TOLERANCE, laws=laws)
    return _Scored(fit.log_likelihood(network), fit)


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
