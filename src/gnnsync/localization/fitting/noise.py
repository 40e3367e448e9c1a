"""Which distances are wrong, and how the errors of the others grow with the distance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from gnnsync.localization.fitting.equations import PairEnergy
from gnnsync.typing import FloatArray

# Powers of the length that the deviation may be proportional to.
POWERS = (0.0, 1.0)
# Lengths on a map have errors, of about this multiple of the deviation of a typical distance. They
# enter the scale, or a length that comes out too short would have a weight that is too large.
_LENGTH_ERROR = 2.0
# Relative deviations beyond this are those of a map that does not fit yet.
_MOST_RELATIVE = 0.5
# The scale is at least that of this part of the median distance.
_LEAST_LENGTH = 0.05
# The shapes of the noise: of normal noise, and the largest. For noise with sharp ends larger
# shapes are no better, with two to four distances for each unknown.
NORMAL_SHAPE, MOST_SHAPE = 2.0, 4.0
# The excess is found only if it is below that of normal noise by so many standard errors.
_SURE = 1.5
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
# The first law is wider by this factor, and no narrower than this part of the distances, or points
# that start badly would be rejected.
_WIDER, _LEAST_FIRST = 3.0, 1e-3
# Curvature that steps assume at least, in units of the noise: for β > 2 that at 0 is 0.
_LEAST_STIFFNESS = 0.1
# Largest log-odds: beyond these a probability is 0 or 1.
_MOST_ODDS = 700.0


@dataclass(frozen=True, eq=False)
class DistanceNoise:
    r"""Residuals r = l - d as a mixture of ordinary noise and gross errors of either sign.

    .. math:: p(r) = (1 - \pi_- - \pi_+) f_\beta(r / \sigma s) / \sigma s
        + \pi_{\mathrm{sign}(-r)} / D,

    with :math:`f_\beta(z) \propto e^{-|z / a|^\beta}` of variance 1, which is normal for β = 2 and
    nearer to uniform for larger β, s the stated deviation, or
    :math:`(l^2 + (2 \sigma_1 \bar d)^2)^{\gamma/2}` if none is stated, and D the largest distance;
    σ₁ is the relative deviation of the median distance.

    Args:
        distance: (m,) measured distances d.
        deviation: (m,) stated deviations, if any.
        sigma: σ.
        power: γ, if no deviations are stated.
        too_short: π₋, share of distances that are grossly too short.
        too_long: π₊, share of distances that are grossly too long.
        shape: β ≥ 2.
    """

    distance: FloatArray
    deviation: FloatArray | None
    sigma: float
    power: float = 1.0
    too_short: float = _FIRST_SHORT
    too_long: float = _FIRST_LONG
    shape: float = NORMAL_SHAPE

    @classmethod
    def first(
        cls, length: FloatArray, distance: FloatArray, deviation: FloatArray | None
    ) -> DistanceNoise:
        """A law for a first fit, with σ by the median of the absolute residuals."""
        law = cls(distance, deviation, 1.0)
        scale = law.scale(length)
        sigma = _WIDER * float(np.median(np.abs(length - distance) / scale)) / _MEDIAN_NORMAL
        least = _LEAST_FIRST * float(np.median(distance / scale))
        return replace(law, sigma=max(sigma, least, law._least_sigma(scale)))

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
        unit, shape = self._unit * self.sigma * scale, self.shape
        size = np.abs(residual) / unit
        power = shape * size ** (shape - 2.0) / unit
        slope = power * residual / unit
        curvature = (shape - 1.0) * power / unit
        return PairEnergy(
            -np.logaddexp(inlier, outlier),
            p * slope,
            p * (curvature - (1.0 - p) * slope**2),
            p * np.maximum(curvature, _LEAST_STIFFNESS / unit**2),
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

    def shaped(self, length: FloatArray, unknowns: int) -> DistanceNoise:
        r"""The law with the shape β whose kurtosis is that of the errors, at a least-squares fit.

        Residuals are the errors times a projection that leaves a share f of the degrees of freedom,
        and their excess kurtosis is about f² times that of the errors, for its entries are nearly
        diagonal.
        """
        p, m = self.confidence(length), len(length)
        z = (length - self.distance) / self.scale(length)
        total = float(p.sum())
        freedom = max((total - unknowns) / m, _LEAST_FREEDOM)
        square = float(p @ z**2) / total
        if self.sigma <= 10.0 * self._least_sigma(self.scale(length)):
            return self  # rounding
        excess = float(p @ z**4) / total / square**2 - 3.0
        excess += _SURE * float(np.sqrt(24.0 / m))
        shapes = np.linspace(NORMAL_SHAPE, MOST_SHAPE, 41)
        wanted = min(excess / freedom**2, 0.0)
        return replace(self, shape=float(np.interp(-wanted, -_excess(shapes), shapes)))

    @property
    def _unit(self) -> float:
        """a: the scale of the density of variance 1."""
        return float(np.exp(0.5 * (gammaln(1.0 / self.shape) - gammaln(3.0 / self.shape))))

    def _scale(self, length: FloatArray, power: float) -> FloatArray:
        if self.deviation is not None:
            return self.deviation
        typical = float(np.median(self.distance))
        relative = self.sigma if self.power else self.sigma / typical
        error = max(_LENGTH_ERROR * min(relative, _MOST_RELATIVE), _LEAST_LENGTH) * typical
        return np.asarray((length**2 + error**2) ** (0.5 * power))

    def _least_sigma(self, scale: FloatArray) -> float:
        return _LEAST_SIGMA * float(self.distance.max() / scale.max())

    def _log_densities(
        self, residual: FloatArray, scale: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Logarithms (m,) of the two terms of p(r)."""
        spread = self.sigma * scale
        peak = np.log(self.shape / (2.0 * self._unit)) - gammaln(1.0 / self.shape)
        inlier = np.log(1.0 - self.too_short - self.too_long) + peak
        share = np.where(residual < 0.0, self.too_long, self.too_short)
        return (
            inlier - np.log(spread) - np.abs(residual / (self._unit * spread)) ** self.shape,
            np.log(share / self.distance.max()),
        )


def _excess(shape: FloatArray) -> FloatArray:
    """Excess kurtosis of the generalised normal laws of these shapes."""
    logs = gammaln(5.0 / shape) + gammaln(1.0 / shape) - 2.0 * gammaln(3.0 / shape)
    return np.asarray(np.exp(logs) - 3.0)
