"""Which distances are wrong, and how the errors of the others grow with the distance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gnnsync.localization.fitting.equations import PairEnergy
from gnnsync.typing import FloatArray

# Powers of the length that the deviation may be proportional to.
POWERS = (0.0, 1.0)
# Lengths below this part of the median distance count as so long: the deviation of a distance
# between points that nearly coincide is not nearly 0.
_LEAST_LENGTH = 0.05
# Degrees of freedom left by a fit are at least this share of the distances.
_LEAST_FREEDOM = 0.1
# The deviation is at least this part of the distances: rounding.
_LEAST_SIGMA = 1e-12
# In one step the deviation falls no further, or points that converge slowly would be rejected.
_MOST_FALL = 0.2
# Shares of gross errors to begin with, and the largest.
_FIRST_SHORT, _FIRST_LONG, _MOST_ERRORS = 0.01, 0.05, 0.4
# Gross errors that count before any is seen, among as many distances: no share reaches 0.
_PRIOR_ERRORS, _PRIOR_DISTANCES = 0.5, 50.0
# Median of the absolute value of a standard normal number.
_MEDIAN_NORMAL = 0.6745
# The first law is wider by this factor, or points that start badly would be rejected.
_WIDER = 3.0
# Largest log-odds: beyond these a probability is 0 or 1.
_MOST_ODDS = 700.0


@dataclass(frozen=True, eq=False)
class DistanceNoise:
    r"""Residuals r = l - d as a mixture of normal noise and gross errors of either sign.

    .. math:: p(r) = (1 - \pi_- - \pi_+) N(r; 0, \sigma^2 s^2) + \pi_{\mathrm{sign}(-r)} / D,

    with s the stated deviation, or l^γ if none is stated, and D the largest distance.

    Args:
        distance: (m,) measured distances d.
        deviation: (m,) stated deviations, if any.
        sigma: σ.
        power: γ, if no deviations are stated.
        too_short: π₋, share of distances that are grossly too short.
        too_long: π₊, share of distances that are grossly too long.
    """

    distance: FloatArray
    deviation: FloatArray | None
    sigma: float
    power: float = 1.0
    too_short: float = _FIRST_SHORT
    too_long: float = _FIRST_LONG

    @classmethod
    def first(
        cls, length: FloatArray, distance: FloatArray, deviation: FloatArray | None
    ) -> DistanceNoise:
        """A law for a first fit, with σ by the median of the absolute residuals."""
        law = cls(distance, deviation, 1.0)
        scale = law.scale(length)
        sigma = _WIDER * float(np.median(np.abs(length - distance) / scale)) / _MEDIAN_NORMAL
        return replace(law, sigma=max(sigma, law._least_sigma(scale)))

    def scale(self, length: FloatArray) -> FloatArray:
        """s (m,) at these lengths."""
        return self._scale(length, self.power)

    def confidence(self, length: FloatArray) -> FloatArray:
        """Posterior probability (m,) that a distance is no gross error."""
        inlier, outlier = self._log_densities(length - self.distance, self.scale(length))
        odds = np.clip(outlier - inlier, -_MOST_ODDS, _MOST_ODDS)
        return np.asarray(1.0 / (1.0 + np.exp(odds)))

    def log_likelihood(self, length: FloatArray) -> FloatArray:
        """log p(r) (m,)."""
        return np.logaddexp(*self._log_densities(length - self.distance, self.scale(length)))

    def energy(self, length: FloatArray, scale: FloatArray) -> PairEnergy:
        """-log p(r), with s held at `scale` (m,): a quasi-likelihood, without bias by dσ/dl."""
        residual = length - self.distance
        inlier, outlier = self._log_densities(residual, scale)
        p = 1.0 / (1.0 + np.exp(np.clip(outlier - inlier, -_MOST_ODDS, _MOST_ODDS)))
        precision = (self.sigma * scale) ** -2.0
        stiffness = p * precision
        return PairEnergy(
            -np.logaddexp(inlier, outlier),
            stiffness * residual,
            stiffness * (1.0 - (1.0 - p) * precision * residual**2),
            stiffness,
        )

    def fitted(self, length: FloatArray, unknowns: int, fixed: bool = False) -> DistanceNoise:
        """The law after one step of expectation maximisation at these lengths.

        Args:
            length: (m,) lengths on the map.
            unknowns: number of coordinates fitted to the distances, for the degrees of freedom.
            fixed: leave γ as it is; else it is chosen by the likelihood of the inliers.
        """
        residual = length - self.distance
        p = self.confidence(length)
        total, m = float(p.sum()), len(p)
        freedom = max(total - unknowns, _LEAST_FREEDOM * total)
        short, long = (float((1.0 - p)[side].sum()) for side in (residual >= 0, residual < 0))
        best: list[tuple[float, float, float]] = []
        square = p * residual**2
        for power in (self.power,) if fixed or self.deviation is not None else POWERS:
            scale = self._scale(length, power)
            sigma = float(np.sqrt((square / scale**2).sum() / freedom))
            sigma = max(sigma, self._least_sigma(scale))
            best.append((total * np.log(sigma) + float(p @ np.log(scale)), power, sigma))
        _, power, sigma = min(best)
        if power == self.power:
            sigma = max(sigma, _MOST_FALL * self.sigma)
        shares = [
            min((found + _PRIOR_ERRORS) / (m + _PRIOR_DISTANCES), _MOST_ERRORS)
            for found in (short, long)
        ]
        return replace(self, sigma=sigma, power=power, too_short=shares[0], too_long=shares[1])

    def _scale(self, length: FloatArray, power: float) -> FloatArray:
        if self.deviation is not None:
            return self.deviation
        least = _LEAST_LENGTH * float(np.median(self.distance))
        return np.asarray(np.maximum(length, least) ** power)

    def _least_sigma(self, scale: FloatArray) -> float:
        return _LEAST_SIGMA * float(self.distance.max() / scale.max())

    def _log_densities(
        self, residual: FloatArray, scale: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Logarithms (m,) of the two terms of p(r)."""
        spread = self.sigma * scale
        inlier = np.log((1.0 - self.too_short - self.too_long) / np.sqrt(2.0 * np.pi))
        share = np.where(residual < 0.0, self.too_long, self.too_short)
        return (
            inlier - np.log(spread) - 0.5 * (residual / spread) ** 2,
            np.log(share / self.distance.max()),
        )
