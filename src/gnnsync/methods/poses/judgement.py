"""Inlier or outlier: the probability of a measured relative pose, given all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from gnnsync.typing import BoolArray, FloatArray

# Degrees of freedom of the t distribution of inliers. Its tails are a compromise: with 4, odometry
# bends for a false closure between near poses; a normal law loses closures of understated noise.
FREEDOM = 10.0
# Leverage (share of an edge in its own prediction) from which no other measurement predicts it.
_FULL_LEVERAGE = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class Prediction:
    """Residuals (c, 3) of c measurements against their prediction by the others.

    Args:
        residual: measured less predicted relative pose.
        covariance: (c, 3, 3) of the residual: of the prediction and of the measurement.
        unchecked: (c,) measurements that no other one predicts in any direction; none by default.
    """

    residual: FloatArray
    covariance: FloatArray
    unchecked: BoolArray | None = None

    def log_density(self) -> FloatArray:
        """log density (c,) of the residuals under the t distribution of inliers."""
        solved = np.linalg.solve(self.covariance, self.residual[:, :, None])[:, :, 0]
        square = np.maximum(np.einsum("ea,ea->e", self.residual, solved), 0.0)
        tail = 0.5 * (FREEDOM + 3.0) * np.log1p(square / FREEDOM)
        return _T_AT_ZERO - 0.5 * self._log_det() - tail

    def log_density_at_zero(self) -> FloatArray:
        """log density (c,) of a residual of 0: the higher, the sharper is the prediction."""
        return _T_AT_ZERO - 0.5 * self._log_det()

    def _log_det(self) -> FloatArray:
        return np.linalg.slogdet(self.covariance)[1]


_T_AT_ZERO = float(
    gammaln((FREEDOM + 3.0) / 2.0) - gammaln(FREEDOM / 2.0) - 1.5 * np.log(FREEDOM * np.pi)
)


def without_itself(
    residual: FloatArray,
    covariance: FloatArray,
    information: FloatArray,
    noise: FloatArray,
) -> Prediction:
    r"""Prediction of measurements that took part in the fit, as if each had not.

    With P the covariance of the fitted relative pose and W the information the measurement had in
    the fit, the linearised fit without it has the covariance :math:`(P^{-1} - W)^{-1}` and the
    residual :math:`(I - P W)^{-1} r`.

    Args:
        residual: (c, 3) r of the fit.
        covariance: (c, 3, 3) P.
        information: (c, 3, 3) W.
        noise: (c, 3, 3) covariance of the measurement itself.
    """
    root = np.linalg.cholesky(information)
    turned = root.transpose(0, 2, 1)
    leverage, axes = np.linalg.eigh(turned @ covariance @ root)
    unchecked = leverage[:, 0] >= _FULL_LEVERAGE
    leverage = np.clip(leverage, 0.0, _FULL_LEVERAGE)
    back = np.linalg.solve(turned, axes)
    spread = (back * (leverage / (1.0 - leverage))[:, None, :]) @ back.transpose(0, 2, 1)
    whitened = np.einsum("eba,eb->ea", root @ axes, residual) / (1.0 - leverage)
    return Prediction(np.einsum("eab,eb->ea", back, whitened), spread + noise, unchecked)


def log_outlier_density(poses: FloatArray, noise: FloatArray) -> float:
    """log density of an outlier's residual: any heading, any place on the map.

    Args:
        poses: (n, 3).
        noise: (m, 3, 3) covariances of the measurements: the map is no smaller than their
            typical ellipse.
    """
    extent = np.ptp(poses[:, :2], axis=0)
    ellipse = 2.0 * np.pi * np.sqrt(np.median(np.linalg.det(noise[:, :2, :2])))
    area = max(extent.prod(), _NARROW * extent.max() ** 2, float(ellipse))
    return -float(np.log(2.0 * np.pi * area))


def log_density_anywhere(prediction: Prediction, uniform: float) -> FloatArray:
    """log density (c,) of an outlier's residual where predictions may be vaguer than the map.

    An outlier is spread at least as widely as the ellipsoid of three standard deviations of the
    prediction, so that a residual of 0 never speaks against a measurement.

    Args:
        prediction: of c measurements.
        uniform: `log_outlier_density`.
    """
    return np.minimum(uniform, prediction.log_density_at_zero() - _AT_ZERO_OVER_ELLIPSOID)


# log of the density of inliers at 0 times the volume 4/3 π 3³ of that ellipsoid.
_AT_ZERO_OVER_ELLIPSOID = _T_AT_ZERO + float(np.log(36.0 * np.pi))
# A corridor counts as at least this wide, as a fraction of its length.
_NARROW = 0.1
