"""The noise model of the robust methods: k groups of inliers and uniform outliers, fitted by EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf, gammaln, stdtr

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.typing import FloatArray

# Stands for degrees of freedom of the inlier noise where that is Laplace's law.
LAPLACE = 0.0

# Smallest noise level that is told from zero: above rounding, below any instrument.
SIGMA_FLOOR = 1e-7
# Largest: a normal law of this width is all but uniform on the circle.
SIGMA_MAX = 1.5
# Scales from which the first noise level is taken, whichever fits the residuals best.
_SCALES = (0.01, 0.03, 0.1, 0.3, 0.8)
# Degrees of freedom left for σ are at least this share of the inliers (see `_noise`).
_LEAST_FREEDOM = 0.3
# Trust below this part of the greatest is none: its square would underflow.
_NOTHING = 1e-14
# Part of σ below which Laplace's law is rounded off.
_CUSP = 0.01
# Conjugate gradient steps per least squares solve; the next EM iteration starts where it ended.
_SOLVE_STEPS = 200


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """Angles with the noise they imply.

    Args:
        angles: (n, k).
        share: (k,) fraction of edges in each group; η = 1 - Σ share.
        sigma: scale σ of the inlier noise (of an edge of mean weight).
        dof: degrees of freedom ν of the inlier noise, Student's t; infinite for normal, LAPLACE
            (0) for Laplace's law.
        membership: (m, k) posterior probability that an edge measures each group.
        log_likelihood: Σ_e log density, relative to all edges being outliers.
        evidence: the same, with the angles integrated out (see `evidence`).
        iterations: EM iterations taken.
        converged: whether EM stopped by itself.
    """

    angles: FloatArray
    share: FloatArray
    sigma: float
    dof: float
    membership: FloatArray
    log_likelihood: float
    evidence: float
    iterations: int
    converged: bool

    @property
    def eta(self) -> float:
        """Estimated fraction of outliers."""
        return float(1.0 - self.share.sum())

    @property
    def edge_confidence(self) -> FloatArray:
        """Posterior probability (m,) that an edge is an inlier of some group."""
        return np.clip(self.membership.sum(axis=1), 0.0, 1.0)


def fit_mixture(
    graph: MeasurementGraph,
    angles: FloatArray,
    *,
    dof: float = np.inf,
    like: MixtureFit | None = None,
    max_iterations: int = 40,
    tol: float = 1e-9,
    move: bool = True,
) -> MixtureFit:
    r"""EM for offsets that measure one of k sets of angles, or nothing.

    .. math:: p(a_e) = \frac{η}{2π} + \sum_l π_l\, f_{σ_e}(r_{e,l}), \qquad
              r_{e,l} = θ_{s,l} - θ_{t,l} - a_e, \quad σ_e = σ/\sqrt{w_e},

    f Student's t with ν = `dof`, truncated to the circle, and w scaled to mean 1. The M-step for
    the angles is exact weighted least squares on the residuals, so exact inliers end at zero.

    Args:
        graph: the measurements.
        angles: (n, k) to start from.
        dof: ν; infinite for normal noise, LAPLACE for Laplace's law.
        like: a fit whose shares and σ to start from; found from the residuals if not given.
        max_iterations: most EM iterations.
        tol: stop when shares, log σ and angles move less than this.
        move: whether angles are fitted; if not, the noise alone.
    """
    operator = EdgeOperator(graph)
    weight = graph.edge_weight / graph.edge_weight.mean()
    residual = graph.residual(angles)
    if like is None:
        share, sigma = _first_noise(residual, weight, dof)
    else:
        share, sigma = like.share, max(like.sigma, SIGMA_FLOOR)
    iteration, converged = 0, False
    for iteration in range(1, max_iterations + 1):  # noqa: B007
        member = _membership(residual, weight, share, sigma, dof)[0]
        trust = member * _shrinkage(residual, weight, sigma, dof) * weight[:, None]
        trust[trust < _NOTHING * trust.max()] = 0.0
        moved = 0.0
        if move:
            steps = [
                least_squares_shift(operator, u, -r, max_iterations=_SOLVE_STEPS)
                for u, r in zip(trust.T, residual.T, strict=True)
            ]
            # A step of more than a radian comes from a nearly detached part: take it in portions.
            step = np.clip(np.stack(steps, axis=1), -1.0, 1.0)
            angles = wrap(angles + step)
            moved = float(np.abs(step).max())
            residual = graph.residual(angles)
        new_share, new_sigma = _noise(residual, member, trust, graph.num_nodes)
        change = np.abs(new_share - share).max() + abs(np.log(new_sigma / sigma)) + moved
        share, sigma = new_share, new_sigma
        if change < tol:
            converged = True
            break
    member, log_density = _membership(residual, weight, share, sigma, dof)
    likelihood = float(log_density.sum())
    return MixtureFit(
        angles,
        share,
        sigma,
        dof,
        member,
        likelihood,
        likelihood + _volume(graph, member * weight[:, None], sigma),
        iteration,
        converged,
    )


def coarse_likelihood(graph: MeasurementGraph, fit: MixtureFit, sigma: float) -> float:
    """Log likelihood of the fit's angles with a noise of at least `sigma` and fitting shares."""
    residual = graph.residual(fit.angles)
    weight = graph.edge_weight / graph.edge_weight.mean()
    share, width = fit.share, max(fit.sigma, sigma)
    for _ in range(10):
        member, log_density = _membership(residual, weight, share, width, fit.dof)
        share = np.clip(member.mean(axis=0), 1e-4, None)
        share = share * min(1.0, (1.0 - 1e-4) / share.sum())
    return float(log_density.sum())


def vote_trust(graph: MeasurementGraph, fit: MixtureFit) -> FloatArray:
    """Probability (n, k) that a node's angle is right, given those of its neighbours.

    A wrong angle is one that some other agreement of the node's edges explains. With s edges that
    agree on the angle (posterior mass) out of d, a chance agreement of s among d independent
    uniform votes within the same window has about d·Poisson(≥ s - 1; d·h/π) candidates, h = 2.5 σ;
    the odds of the angle are the likelihood ratio of its agreement to a chance one.
    """
    window = min(2.5 * max(fit.sigma, SIGMA_FLOOR), np.pi)
    n = graph.num_nodes
    gain = np.log1p(fit.share.sum() / max(fit.eta, 1e-3) * np.pi / window / fit.share.size)
    result = np.empty((n, fit.share.size))
    for group, mass in enumerate(fit.membership.T):
        free = 1.0 - (fit.membership.sum(axis=1) - mass)
        support = _at_nodes(graph, mass)
        rivals = np.maximum(_at_nodes(graph, free) - support, 0.0)
        # Best of `rivals` single votes, in units of `gain`, against `support` of them.
        chance = np.log1p(rivals * np.exp(np.minimum(rivals * window / np.pi, 50.0)))
        result[:, group] = 1.0 / (1.0 + np.exp(np.clip(chance - gain * (support - 1.0), -500, 500)))
    return result


def _at_nodes(graph: MeasurementGraph, value: FloatArray) -> FloatArray:
    """Sum (n,) of an edge quantity (m,) over the edges at each node."""
    n = graph.num_nodes
    total = np.zeros(n)
    total += np.bincount(graph.src, weights=value, minlength=n)
    total += np.bincount(graph.dst, weights=value, minlength=n)
    return total


def law_density(scaled: FloatArray, sigma: float, dof: float) -> FloatArray:
    """2π·f(scaled): the noise law of scale σ truncated to the circle, relative to uniform."""
    if dof == LAPLACE:
        return np.pi / sigma / -np.expm1(-np.pi / sigma) * np.exp(-np.abs(scaled) / sigma)
    z2 = (scaled / sigma) ** 2
    if np.isinf(dof):
        peak = np.sqrt(TWO_PI) / sigma / erf(np.pi / sigma / np.sqrt(2.0))
        return peak * np.exp(-0.5 * z2)
    norm = np.exp(gammaln((dof + 1) / 2) - gammaln(dof / 2)) / np.sqrt(dof * np.pi)
    inside = 2.0 * stdtr(dof, np.pi / sigma) - 1.0
    return TWO_PI * norm / (sigma * inside) * (1.0 + z2 / dof) ** (-(dof + 1) / 2)


def _shrinkage(residual: FloatArray, weight: FloatArray, sigma: float, dof: float) -> FloatArray:
    """EM weight of an inlier's square: (ν + 1)/(ν + r²/σ²) for t, σ/|r| for Laplace's law."""
    if dof == LAPLACE:
        return sigma / np.sqrt(weight[:, None] * residual**2 + (_CUSP * sigma) ** 2)
    if np.isinf(dof):
        return np.ones_like(residual)
    return (dof + 1.0) / (dof + weight[:, None] * (residual / sigma) ** 2)


def _membership(
    residual: FloatArray, weight: FloatArray, share: FloatArray, sigma: float, dof: float
) -> tuple[FloatArray, FloatArray]:
    """Posterior (m, k) of the groups and log density (m,) relative to uniform."""
    root = np.sqrt(weight)[:, None]
    part = share * law_density(residual * root, sigma, dof) * root
    total = part.sum(axis=1) + (1.0 - share.sum())
    return part / total[:, None], np.log(total)


def _noise(
    residual: FloatArray, member: FloatArray, trust: FloatArray, num_nodes: int
) -> tuple[FloatArray, float]:
    """M-step for shares and σ; fitting n - 1 angles per group used up that many residuals."""
    m, k = member.shape
    inliers = float(member.sum())
    freedom = max(inliers - k * (num_nodes - 1), _LEAST_FREEDOM * inliers, 1e-9)
    sigma = np.sqrt(float((trust * residual**2).sum()) / freedom)
    share = np.clip(member.sum(axis=0) / m, 1e-4, None)
    # Never certain: an η of 0 could not become anything else.
    share = share * min(1.0, (1.0 - 1e-4) / share.sum())
    return share, float(np.clip(sigma, SIGMA_FLOOR, SIGMA_MAX))


def _first_noise(residual: FloatArray, weight: FloatArray, dof: float) -> tuple[FloatArray, float]:
    """Shares and σ that fit given residuals best, over a few scales."""
    k = residual.shape[1]
    best = (-np.inf, np.full(k, 0.5 / k), _SCALES[-1])
    for sigma in _SCALES:
        share = np.full(k, 0.5 / k)
        for _ in range(10):
            member, log_density = _membership(residual, weight, share, sigma, dof)
            share = np.clip(member.mean(axis=0), 1e-3, None)
            share = share * min(1.0, 0.999 / share.sum())
        if log_density.sum() > best[0]:
            best = (float(log_density.sum()), share, sigma)
    return best[1], best[2]


def _volume(graph: MeasurementGraph, member: FloatArray, sigma: float) -> float:
    """Σ over nodes and groups of log(posterior width / 2π): Laplace's factor of the evidence.

    Without it an angle that fits one edge exactly would count as explaining it: a spanning tree
    can be fitted without residual whatever the offsets. With it such an edge gains nothing.
    """
    total = 0.0
    for mass in member.T:
        precision = np.maximum(_at_nodes(graph, mass), 1e-3) / sigma**2
        total += float(np.log(np.minimum(np.sqrt(TWO_PI / precision) / TWO_PI, 1.0)).sum())
    return total
