"""Find the loop closures that agree: from the surest predictions to the vaguest.

Given poses along the odometry, each round
1. fits the poses to the active measurements (Levenberg–Marquardt, a few steps),
2. predicts each measurement from the others, with the covariance of that prediction,
3. computes the odds that it is an inlier (t distribution around the prediction) rather than an
   outlier (any heading, any place on the map; or near the prediction, with ten times the noise),
4. estimates the scale of the stated information, apart for trusted measurements and the others,
5. takes the closures with odds above 1 among those with the sharpest predictions; the share that
   is admitted grows from round to round.
A short loop is judged when the drift along it is small; its closure then sharpens the prediction
of longer ones. A closure that later ones contradict is dropped again, and so is odometry that
other measurements contradict.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gnnsync.methods.poses.judgement import (
    FREEDOM,
    Prediction,
    log_density_anywhere,
    log_outlier_density,
    without_itself,
)
from gnnsync.methods.poses.normal_equations import NormalEquations
from gnnsync.methods.poses.optimise import optimise
from gnnsync.methods.poses.residual import RelativePoses
from gnnsync.topology import bridges, minimum_spanning_edges
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import advance, time_is_up

log = logging.getLogger(__name__)

MAX_ROUNDS = 40
# Share of the closures admitted in the first two rounds, and how much it grows in each other.
FIRST_ADMITTED, ADMITTED_STEP = 0.15, 0.15
# Closures predicted this sharply are admitted at once, and none that is vaguer than the second:
# density of a residual of 0 over the density of outliers.
SHARP, VAGUE = np.log(1e4), np.log(20.0)
# Noise of a poor measurement, an outlier near its prediction, in units of that of inliers or, if
# larger, of the stated one.
POOR = 10.0
# Shares of inliers, outliers anywhere and poor measurements at first, and what each has at least.
FIRST_SHARES = np.array([0.5, 0.499, 0.001])
LEAST_SHARES = np.array([0.05, 0.02, 1e-4])
# log odds at which a closure is taken until all are admitted and the set has settled: 20 to 1.
# Until then no odometry is dropped.
ENTRY = np.log(20.0)
# Odds of a trusted measurement before any is seen.
TRUSTED_ODDS = 999.0
_TRUSTED_SHARES = np.array([TRUSTED_ODDS, 0.5, 0.5]) / (TRUSTED_ODDS + 1.0)
# Draws from the posterior that estimate the covariance of predictions: relative error 20 %.
DRAWS = 48
# Common scales and shares of inliers that are tried first, and the standard deviation of log
# scale around the stated one. Only larger scales: the rounds find smaller ones by themselves,
# while understated noise would have them reject all closures.
_SCALES, _SHARES = (1.0, 2.0, 4.0, 8.0), (0.02, 0.1, 0.3, 0.6, 0.9, 0.98)
SCALE_PRIOR = np.log(3.0)
# Measurements' worth of the former scale in each new estimate.
SCALE_MEMORY = 10.0
# A round is calm if it contradicts at most this share of the active closures. Only then is the
# scale of the odometry estimated, which false closures bend, and are more closures admitted.
CALM = 0.01
# Least scale (exact measurements have residuals of 0), and largest.
LEAST_SCALE, LARGEST_SCALE = 1e-3, 10.0
# Relative change of the scales that counts as none; and the rounds without any change of the
# believed measurements after which the scales do not matter.
SAME_SCALE, REST = 0.05, 4
# A measurement dropped this often stays out.
MOST_DROPS = 3
# Rounds that a search usually takes, for the progress that is shown.
_USUAL_ROUNDS = 20
# Steps and tolerance of the fit within a round.
_STEPS, _TOLERANCE = 6, 1e-4
_LOG_ODDS_LIMIT = 50.0
# Largest log odds of a measurement that is not taken: a confidence just below 1/2.
_NOT_BELIEVED = -1e-6


@dataclass(frozen=True, eq=False)
class Selection:
    """Poses and the measurements they rest on.

    Args:
        poses: (n, 3).
        active: (m,) measurements believed.
        log_odds: (m,) that a measurement is an inlier.
        scale: standard deviations of trusted measurements and of others, in stated units.
        score: Σ log density of the measurements, each predicted from the others.
        iterations: Levenberg–Marquardt steps.
        converged: whether the set came to rest.
    """

    poses: FloatArray
    active: BoolArray
    log_odds: FloatArray
    scale: tuple[float, float]
    score: float
    iterations: int
    converged: bool


class ClosureSearch:
    """The rounds described above.

    Args:
        edges: m measurements with positive definite information.
        trusted: (m,) measurements with odds `TRUSTED_ODDS` to begin with.
        base: (m,) measurements that connect the graph; active from the beginning.
        held: (n,) poses that do not move, one in each component.
        rng: for the draws.
        scale: standard deviations of all measurements in stated units, to begin with.
    """

    def __init__(
        self,
        edges: RelativePoses,
        trusted: BoolArray,
        base: BoolArray,
        held: BoolArray,
        rng: np.random.Generator,
        scale: float = 1.0,
    ) -> None:
        self.edges, self.trusted, self.base, self.held, self.rng = edges, trusted, base, held, rng
        self.stated = np.asarray(np.linalg.inv(edges.information), dtype=np.float64)
        self.scale = np.full(2, scale)
        self.tail = np.ones(len(edges))
        self.shares = FIRST_SHARES
        self.drops = np.zeros(len(edges), dtype=np.int64)
        self.iterations = 0

    def run(self, poses: FloatArray, active: BoolArray | None = None) -> Selection:
        """All rounds from poses (n, 3); `active` (m,) admits all closures from the beginning."""
        share = FIRST_ADMITTED if active is None else 1.0
        self.active = self.base.copy() if active is None else active.copy()
        strict = active is None
        calm_rounds, converged = 0, False
        for number in range(MAX_ROUNDS):
            poses = self._fit(poses)
            outlier = log_outlier_density(poses, self._noise(slice(None)))
            prediction = self._predict(poses)
            admitted = self._admitted(prediction, outlier, share)
            odds = self._odds(prediction, outlier, admitted)
            new = self._choose(odds, admitted, strict, prediction.unchecked)
            before, calm = self.scale.copy(), self._calm(odds)
            self._rescale(poses, odds, calm)
            changed = int(((new != self.active) & (self.drops < MOST_DROPS)).sum())
            log.debug(
                "round %d: %d measurements admitted, %d believed, %d changed, scales %.3g and %.3g",
                *(number + 1, admitted.sum(), new.sum(), changed, *self.scale),
            )
            self._take(new)
            unchanged = not strict and not changed
            still = np.abs(np.log(self.scale / before)).sum() < SAME_SCALE
            calm_rounds = calm_rounds + 1 if unchanged else 0
            converged = bool(unchanged and still) or calm_rounds >= REST
            advance((number + 1) / _USUAL_ROUNDS)
            if converged or time_is_up():
                break
            settled = changed <= CALM * (self.active & ~self.trusted).sum()
            strict = strict and not (share >= 1.0 and calm and settled)
            if number and calm:
                share = min(1.0, share + ADMITTED_STEP)
        return Selection(
            poses,
            self.active,
            # What was dropped too often may look good again: it is not believed.
            np.where(self.active, odds, np.minimum(odds, _NOT_BELIEVED)),
            (float(self.scale[0]), float(self.scale[1])),
            self._score(prediction, outlier),
            self.iterations,
            converged,
        )

    def likely_scale(self, poses: FloatArray) -> float:
        """The common scale that fits best what the odometry predicts of the closures.

        By the likelihood of the sharpest predictions under inliers of any share and outliers,
        times a vague prior around the stated scale. False closures between near poses can look
        like true ones of understated noise, so that this is only a guess.

        Args:
            poses: (n, 3) along the odometry.
        """
        self.active, self.scale = self.base.copy(), np.ones(2)
        self.tail = np.ones(len(self.edges))
        poses = self._fit(poses)
        outlier = log_outlier_density(poses, self.stated)
        prediction = self._predict(poses)
        sharpness = prediction.log_density_at_zero() - outlier
        judged = np.flatnonzero(~self.base & (sharpness > VAGUE))
        best, chosen = -np.inf, 1.0
        for scale in _SCALES:
            covariance = scale**2 * prediction.covariance[judged]
            inlier = Prediction(prediction.residual[judged], covariance).log_density()
            for share in _SHARES:
                fit = np.logaddexp(np.log(share) + inlier, np.log(1.0 - share) + outlier).sum()
                fit -= 0.5 * (np.log(scale) / SCALE_PRIOR) ** 2
                if fit > best:
                    best, chosen = fit, scale
        return chosen

    def _noise(self, edges: slice | BoolArray) -> FloatArray:
        """Covariances of some measurements at the present scales."""
        return self.stated[edges] * self._variance(edges)[:, None, None]

    def _variance(self, edges: slice | BoolArray) -> FloatArray:
        """Squared scale of some measurements."""
        return np.where(self.trusted[edges], self.scale[0] ** 2, self.scale[1] ** 2)

    def _fit(self, poses: FloatArray) -> FloatArray:
        """Fit the active measurements; leaves the factorised system and their covariances."""
        self.part = self.edges.part(self.active)
        self.weight = self.tail[self.active] / self._variance(self.active)
        self.system = NormalEquations(self.part, self.held)
        found = optimise(
            self.part, poses, self.weight, self.system, tol=_TOLERANCE, max_iterations=_STEPS
        )
        self.iterations += found.iterations
        information = self.part.information * self.weight[:, None, None]
        self.system.linearise(found.poses, information)
        self.system.factorise()
        self.covariance = self.system.edge_covariance()
        return found.poses

    def _predict(self, poses: FloatArray) -> Prediction:
        """Every measurement predicted from the active ones without itself."""
        residual = self.edges.residual(poses)
        covariance = np.zeros((len(self.edges), 3, 3))
        own = without_itself(
            residual[self.active],
            self.covariance,
            self.part.information * self.weight[:, None, None],
            self._noise(self.active),
        )
        residual[self.active], covariance[self.active] = own.residual, own.covariance
        others = ~self.active
        if others.any():
            covariance[others] = self._drawn(poses, others) + self._noise(others)
        assert own.unchecked is not None
        unchecked = np.zeros(len(self.edges), bool)
        on_no_cycle = bridges(np.stack([self.part.start, self.part.end]), self.edges.num_poses)
        unchecked[self.active] = own.unchecked | on_no_cycle
        return Prediction(residual, covariance, unchecked)

    def _drawn(self, poses: FloatArray, chosen: BoolArray) -> FloatArray:
        """Covariance (c, 3, 3) of the relative poses of inactive measurements, from draws."""
        part = self.edges.part(chosen)
        start, end = part.jacobians(poses)
        total = np.zeros((len(part), 3, 3))
        for _ in range(DRAWS):
            draw = self.system.sample(self.rng)
            change = (start @ draw[part.start, :, None] + end @ draw[part.end, :, None])[:, :, 0]
            total += change[:, :, None] * change[:, None, :]
        return total / DRAWS

    def _admitted(self, prediction: Prediction, outlier: float, share: float) -> BoolArray:
        """Measurements (m,) predicted sharply enough to be judged in this round."""
        if share >= 1.0:
            return np.ones(len(self.edges), bool)
        sharpness = prediction.log_density_at_zero() - outlier
        judged = ~self.base
        if not judged.any():
            return self.active
        least = min(np.quantile(sharpness[judged], 1.0 - share), SHARP)
        return self.active | ((sharpness >= least) & (sharpness > VAGUE))

    def _odds(self, prediction: Prediction, outlier: float, admitted: BoolArray) -> FloatArray:
        """log odds (m,) of being an inlier; updates the shares of untrusted measurements.

        A measurement that no other one checks keeps the odds it has before any is seen.
        """
        densities = self._densities(prediction, outlier)
        densities[1] = log_density_anywhere(prediction, outlier)
        if prediction.unchecked is not None:
            densities[:, prediction.unchecked] = 0.0
        joint = densities + np.log(self.shares)[:, None]
        odds = joint[0] - np.logaddexp(joint[1], joint[2])
        seen = admitted & ~self.trusted
        if seen.sum() > SCALE_MEMORY:
            chance = np.exp(joint[:, seen] - np.logaddexp.reduce(joint[:, seen]))
            count = chance.sum(axis=1) + LEAST_SHARES * seen.sum()
            self.shares = count / count.sum()
        trusted = densities + np.log(_TRUSTED_SHARES)[:, None]
        known = trusted[0] - np.logaddexp(trusted[1], trusted[2])
        return np.clip(np.where(self.trusted, known, odds), -_LOG_ODDS_LIMIT, _LOG_ODDS_LIMIT)

    def _choose(
        self,
        odds: FloatArray,
        admitted: BoolArray,
        strict: bool,
        unchecked: BoolArray | None = None,
    ) -> BoolArray:
        """The next active measurements (m,)."""
        least = np.where(self.active, 0.0, ENTRY if strict else 0.0)
        new = admitted & (odds > least) & (self.drops < MOST_DROPS)
        if unchecked is not None:
            # Nothing contradicts them: no closure that comes in takes their place.
            new |= unchecked
        if strict:
            return new | self.base
        # Measurements that hold the graph together stay, the most credible ones first.
        index = np.stack([self.edges.start, self.edges.end])
        order = np.lexsort((-odds, ~new, ~self.base & ~new))
        new[minimum_spanning_edges(index, self.edges.num_poses, order)] = True
        return new

    def _calm(self, odds: FloatArray) -> bool:
        """Whether hardly any active closure is contradicted."""
        closures = odds[self.active & ~self.trusted]
        return bool((closures <= 0.0).sum() <= CALM * len(closures))

    def _rescale(self, poses: FloatArray, odds: FloatArray, calm: bool) -> None:
        """Scales and tail weights from the residuals of the fit.

        The expected sum of τ rᵀΩr over edges is σ² times their degrees of freedom, 3 per edge less
        its leverage; τ = (ν + 3)/(ν + E rᵀΩr/σ²) weighs down what is in the tails.
        """
        active, trusted = self.active, self.trusted[self.active]
        square = self.part.squares(poses)
        taken = np.einsum("eab,eba->e", self.part.information, self.covariance)
        tail, kept = self.tail[active], odds[active] > 0.0
        variance = self._variance(active)
        freedom = np.maximum(3.0 - taken * tail / variance, 0.0)
        old = self.scale.copy()
        for kind, members in enumerate((trusted & calm, ~trusted)):
            chosen = members & kept
            total = (tail * square)[chosen].sum() + SCALE_MEMORY * old[kind] ** 2
            scale = np.sqrt(total / (freedom[chosen].sum() + SCALE_MEMORY))
            self.scale[kind] = np.clip(scale, LEAST_SCALE, LARGEST_SCALE)
        self.tail[active] = (FREEDOM + 3.0) / (FREEDOM + (square + taken) / variance)

    def _take(self, new: BoolArray) -> None:
        dropped = self.active & ~new
        self.drops[dropped] += 1
        self.tail[dropped] = 1.0
        self.active = new

    def _score(self, prediction: Prediction, outlier: float) -> float:
        shares = np.where(self.trusted, _TRUSTED_SHARES[:, None], self.shares[:, None])
        joint = self._densities(prediction, outlier) + np.log(shares)
        return float(np.logaddexp.reduce(joint).sum())

    def _densities(self, prediction: Prediction, uniform: float) -> FloatArray:
        """log densities (3, m) of the residuals of inliers, outliers, and poor measurements."""
        # No less than stated: a file that states large errors does not call them false.
        variance = POOR**2 * np.maximum(self._variance(slice(None)), 1.0)
        noise = self.stated * variance[:, None, None]
        poor = Prediction(prediction.residual, prediction.covariance + noise)
        anywhere = np.full(len(self.edges), uniform)
        return np.stack([prediction.log_density(), anywhere, poor.log_density()])
