"""Angles and closures fitted together: every edge is judged by all the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gnnsync.angles import TWO_PI
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.methods.robust.closures.density import posterior, relative_density
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import NORMAL_MEDIAN, Scales
from gnnsync.methods.robust.noise.law import SIGMA_FLOOR
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# Limits of the factor by which a scale changes per iteration, and the change, relative to 1, at
# which it has converged.
_LEAST_FACTOR, _MOST_FACTOR, _STEADY = 0.25, 1.4, 0.03
# Edges whose prediction by the others has a share of at least this in the residual tell about the
# noise; fewer of them than stated do not.
_REDUNDANT, _LEAST_TRUSTED, _LEAST_CLOSURES = 0.1, 50, 20
# Prior probability that a trusted edge is wrong after all, such as a wheel that slipped; and that
# it is right but noisier than others, by this factor: odometry has heavy tails.
BAD_TRUSTED = 1e-20
_NOISY_TRUSTED, _NOISIER = 0.002, 10.0
# What proposes closures is mostly right: prior of the outlier share, worth this many true closures.
_PRIOR_RIGHT, _MOST_WRONG = 20.0, 0.99
# Least weight, relative to an inlier, of a closure: 0 up to rounding; and of a trusted edge: a pose
# that no closure reaches stays with its odometry.
_NO_WEIGHT, _LEAST_TRUST = 1e-10, 1e-3
# Part of the new probabilities in each iteration; they have converged when all but a few edges, at
# most this share of the closures, change by less than the number stated. Single closures on the
# border of two verdicts can oscillate for ever.
_STEP, _CONVERGED, _OPEN_CLOSURES = 0.7, 0.03, 0.01
# Solves per iteration; residuals are wrapped again before each.
_SOLVES = 2
_LARGEST_LEVERAGE = 1.0 - 1e-9


@dataclass(frozen=True, eq=False)
class ClosureFit:
    """Angles, inlier probabilities and noise that agree with one another.

    Args:
        angles: (n,).
        probability: (m,) that each edge is an inlier.
        scales: the noise.
        evidence: log probability of the offsets, angles integrated out, edges at their more
            probable side.
        iterations: how many.
        converged: whether the probabilities stopped changing.
        admitted: (c,) closures whose prediction was tight enough to judge; all after `fit`.
        variance: (m,) of the noise of each edge, after `fit`.
    """

    angles: FloatArray
    probability: FloatArray
    scales: Scales
    evidence: float = -np.inf
    iterations: int = 0
    converged: bool = False
    admitted: BoolArray | None = None
    variance: FloatArray | None = None


def fit_closures(
    problem: ClosureProblem,
    angles: FloatArray,
    probability: FloatArray,
    scales: Scales,
    *,
    max_iterations: int = 15,
) -> ClosureFit:
    r"""Iterate least squares and the posterior of every edge given all the others.

    With weights p_e w_e, residual r and effective resistance R, an edge is predicted by the others
    with error r/(1 - h) and variance R/(1 - h), h = p w R (leave-one-out, exact for a linear
    model); the noise of the edge itself adds 1/w. Inliers are normal, outliers uniform with the
    share of outliers among neighbouring closures. The two scales follow the median of the
    standardised prediction errors.

    Args:
        problem: n nodes, m edges.
        angles: (n,) to start from.
        probability: (m,) to start from.
        scales: to start from.
        max_iterations: most iterations.
    """
    factor = problem.factor()
    believed = np.where(problem.trusted, 1.0, probability)
    precision = np.ones(len(believed))
    converged, most_open = False, _OPEN_CLOSURES * len(problem.closures)
    for iteration in range(1, max_iterations + 1):  # noqa: B007
        angles, error, variance = predict(problem, factor, angles, believed * precision, scales)
        share = edge_shares(problem, believed)
        density, precision = _inlier_density(problem, error, variance, scales)
        new = posterior(density, share)
        open_edges = int((np.abs(new - believed) > _CONVERGED).sum())
        believed = _STEP * new + (1.0 - _STEP) * believed
        before, scales = scales, updated_scales(problem, scales, error, variance, believed)
        if open_edges <= most_open and abs(scales.closure / before.closure - 1.0) < _STEADY:
            converged = True
            break
        if time_is_up():
            break
    fit = ClosureFit(angles, believed, scales, iterations=iteration, converged=converged)
    return _with_evidence(problem, factor, fit, precision)


def _inlier_density(
    problem: ClosureProblem, error: FloatArray, variance: FloatArray, scales: Scales
) -> tuple[FloatArray, FloatArray]:
    """Relative density (m,) of the errors if inliers, and the precision (m,) of each edge.

    A trusted edge is normal, or rarely normal with ten times the standard deviation; its precision
    is the mean of the two, relative to the first.
    """
    density, precision = relative_density(error, variance), np.ones(len(error))
    trusted = problem.trusted
    extra = (_NOISIER**2 - 1.0) * scales.variance(problem)[trusted]
    wide = _NOISY_TRUSTED * relative_density(error[trusted], variance[trusted] + extra)
    plain = (1.0 - _NOISY_TRUSTED) * density[trusted]
    density[trusted] = plain + wide
    noisy = wide / np.maximum(density[trusted], np.finfo(float).tiny)
    precision[trusted] = 1.0 - noisy + noisy / _NOISIER**2
    return density, precision


def predict(
    problem: ClosureProblem,
    factor: LaplacianFactor,
    angles: FloatArray,
    believed: FloatArray,
    scales: Scales,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Least-squares angles (n,), and error and variance (m,) of each edge given the others."""
    noise = scales.variance(problem)
    weight = believed_weight(problem, believed) / noise
    factor.update(weight)
    for _ in range(_SOLVES):
        angles = angles + factor.least_squares(problem.residual(angles))
    resistance = factor.resistance()
    rest = 1.0 - np.minimum(weight * resistance, _LARGEST_LEVERAGE)
    error = problem.residual(angles) / rest
    # A prediction that is off by more than half a turn cannot be told from a smaller one.
    error = np.where(np.abs(error) > np.pi, np.pi, error)
    return angles, error, noise + resistance / rest


def believed_weight(problem: ClosureProblem, believed: FloatArray) -> FloatArray:
    """Weight (m,) of each edge relative to an inlier."""
    return np.maximum(believed, np.where(problem.trusted, _LEAST_TRUST, _NO_WEIGHT))


def edge_shares(problem: ClosureProblem, believed: FloatArray) -> FloatArray:
    """Prior probability (m,) that an edge is an outlier."""
    share = np.full(len(believed), BAD_TRUSTED)
    share[problem.closures] = problem.outlier_share(believed[problem.closures])
    return share


def updated_scales(
    problem: ClosureProblem,
    scales: Scales,
    error: FloatArray,
    variance: FloatArray,
    believed: FloatArray,
) -> Scales:
    """Scales at which the median standardised error of the believed edges is that of a normal."""
    z = np.abs(error) / np.sqrt(variance)
    redundant = scales.variance(problem) / variance > _REDUNDANT
    inlier = believed > 0.5
    closures = inlier & ~problem.trusted
    closures = closures & redundant if (closures & redundant).sum() > _LEAST_CLOSURES else closures
    trusted = inlier & problem.trusted & redundant
    # Without trusted edges all edges are of one kind, and any redundancy tells about it.
    if closures.sum() <= (_LEAST_CLOSURES if problem.trusted.any() else 2):
        return scales
    # The root, for the share of believed edges changes with the scale: both would oscillate.
    factor = _ratio(z[closures])
    own = _ratio(z[trusted]) if trusted.sum() > _LEAST_TRUSTED else factor
    return replace(
        scales,
        closure=max(scales.closure * factor, SIGMA_FLOOR),
        trusted=max(scales.trusted * own, SIGMA_FLOOR),
    )


def _ratio(z: FloatArray) -> float:
    return float(np.clip(np.sqrt(np.median(z) / NORMAL_MEDIAN), _LEAST_FACTOR, _MOST_FACTOR))


def _with_evidence(
    problem: ClosureProblem, factor: LaplacianFactor, fit: ClosureFit, precision: FloatArray
) -> ClosureFit:
    r"""The fit with angles for the believed edges alone, and its evidence.

    .. math:: \sum_{e \in I} \Bigl(\log(1 - η_e) + \tfrac12 \log\frac{w_e}{2π}
        - \tfrac12 w_e r_e^2\Bigr) + \sum_{e \notin I} \log\frac{η_e}{2π}
        + \tfrac12 \bigl((n - 1) \log 2π - \log\det L_I\bigr),

    I the edges more probably inliers than not and L_I their Laplacian.
    """
    inlier = fit.probability > 0.5
    share = edge_shares(problem, inlier.astype(float))
    weight = believed_weight(problem, inlier * precision) / fit.scales.variance(problem)
    factor.update(weight)
    angles = fit.angles
    for _ in range(_SOLVES):
        angles = angles + factor.least_squares(problem.residual(angles))
    squares = weight * problem.residual(angles) ** 2
    terms = np.where(
        inlier,
        np.log1p(-share) + 0.5 * np.log(weight / TWO_PI) - 0.5 * squares,
        np.log(share / TWO_PI),
    )
    wrong = min(1.0 - inlier[problem.closures].mean(), _MOST_WRONG) if len(problem.closures) else 0
    prior = _PRIOR_RIGHT * np.log1p(-wrong)
    volume = 0.5 * ((problem.graph.num_nodes - 1) * np.log(TWO_PI) - factor.log_determinant())
    return replace(
        fit,
        angles=angles,
        evidence=float(terms.sum() + volume + prior),
        # Noisy trusted edges have a larger one than the scales say.
        variance=fit.scales.variance(problem) / np.where(inlier, precision, 1.0),
    )
