"""The noise model of the robust methods: k groups of inliers and uniform outliers, fitted by EM.

Similar estimates elsewhere differ for a reason: `metrics.estimate_outliers` describes the residuals
of any solution, without groups, weights or a solver; `cycles.paths.cycle_noise` has sums of cycles,
whose variance grows with their length; in `noisy_nodes` every node has its own share of inliers;
`learn.noise` is differentiable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import gauss_newton_step
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.convergence import is_negligible
from gnnsync.methods.robust.noise.law import SIGMA_FLOOR, SIGMA_MAX, law_density, shrinkage
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import advance, advance_towards, loop, time_is_up

# The shares of the groups and η are kept above this: at exactly 0 EM could not raise them again.
_LEAST_SHARE = 1e-4
# The same for the shares EM starts from, which are coarser.
_LEAST_FIRST_SHARE = 1e-3
# Scales from which the first noise level is taken, whichever fits the residuals best: about three
# per decade between measurement error and uniform.
_SCALES = (0.01, 0.03, 0.1, 0.3, 0.8)
# First guess of the inlier share, and EM iterations for the shares alone.
_FIRST_INLIER_SHARE = 0.5
_SHARE_ITERATIONS = 10
# Edges that give a first guess of the noise when there is no time for all.
_FEW_EDGES = 10_000
# Degrees of freedom left for σ are at least this part of the inliers: a sparse graph has hardly
# more inliers than angles, and σ would otherwise diverge.
_LEAST_FREEDOM = 0.3
# Stands for no freedom at all, where no edge is an inlier; σ is then clipped to its largest.
_NO_FREEDOM = 1e-9
# Weights below this part of the largest are set to 0: their squares would underflow.
_NEGLIGIBLE_WEIGHT = 1e-14
# Outlier odds of a trusted edge, relative to others: it is let go if its residual is out of reach.
_TRUSTED_DOUBT = 1e-9
# Conjugate gradient steps per least squares solve and their relative accuracy. The next EM
# iteration continues from there: the error falls by this factor in each, faster than EM converges.
_SOLVE_STEPS, _SOLVE_ACCURACY = 200, 1e-2
# Predictions within this many σ of each other agree: 99 % of normal noise.
AGREEMENT_WIDTH = 2.5
# η is taken for at least this much in odds π/η.
LEAST_ETA = 1e-3
# Exponents are limited to these, far from the overflow of `exp` at 709.
_MOST_RIVALS_EXPONENT, _MOST_LOG_ODDS = 50.0, 500.0
# Inliers that a node has at least in its posterior width: one without any is open on the circle.
_LEAST_INLIERS = 1e-3


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
        evidence: the same with the angles integrated out by Laplace's method.
        iterations: EM iterations taken.
        converged: whether EM met its tolerance, or would move the angles by a negligible part of
            σ from here on.
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

    def odds(self, group: int) -> float:
        """π/η: prior odds of an edge to be an inlier of the group rather than an outlier."""
        return float(self.share[group] / max(self.eta, LEAST_ETA))

    def unexplained(self, group: int) -> FloatArray:
        """Probability (m,) that no other group explains the edge."""
        return 1.0 - (self.membership.sum(axis=1) - self.membership[:, group])


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
    r"""EM for offsets that measure one of k groups of angles, or nothing.

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
    weight, prior = relative_weight(graph), EdgePrior.of(graph)
    residual = _residual(graph, angles)
    if like is None:
        share, sigma = _first_noise(residual, weight, dof, prior)
    else:
        share, sigma = like.share, max(like.sigma, SIGMA_FLOOR)
    state = _State(angles, residual, share, sigma)
    operator = EdgeOperator(graph) if move else None
    with loop("EM"):
        first = 0.0
        while state.iterations < max_iterations and not state.met:
            state = _iterate(graph, state, operator, weight, dof, prior, tol)
            first = max(first, state.change)
            advance_towards(tol, first, state.change)
            advance(state.iterations / max_iterations)
            if time_is_up():
                break
    angles, residual, share, sigma = state.angles, state.residual, state.share, state.sigma
    converged = state.met or (move and is_negligible(*state.steps, sigma))
    member, log_density = _membership(residual, weight, share, sigma, dof, prior)
    likelihood = float(log_density.sum())
    evidence = likelihood + _log_posterior_width(graph, member * weight[:, None], sigma)
    return MixtureFit(
        angles, share, sigma, dof, member, likelihood, evidence, state.iterations, converged
    )


@dataclass(frozen=True, eq=False)
class _State:
    """Angles, residuals and noise of EM, and how much its last iterations changed.

    Args:
        angles: (n, k).
        residual: (m, k).
        share: (k,).
        sigma: σ.
        iterations: taken so far.
        change: of shares, log σ and angles together, in the last iteration.
        steps: root mean square movement of the angles in the last iteration and the one before.
        met: whether the change is below the tolerance.
    """

    angles: FloatArray
    residual: FloatArray
    share: FloatArray
    sigma: float
    iterations: int = 0
    change: float = np.inf
    steps: tuple[float, float] = (np.inf, np.inf)
    met: bool = False


def _iterate(
    graph: MeasurementGraph,
    state: _State,
    operator: EdgeOperator | None,
    weight: FloatArray,
    dof: float,
    prior: EdgePrior,
    tol: float,
) -> _State:
    """One iteration of EM; the angles stay if there is no operator."""
    angles, residual, share, sigma = state.angles, state.residual, state.share, state.sigma
    member = _membership(residual, weight, share, sigma, dof, prior)[0]
    trust = member * shrinkage(residual, weight, sigma, dof) * weight[:, None]
    trust[trust < _NEGLIGIBLE_WEIGHT * trust.max()] = 0.0
    moved, size = 0.0, 0.0
    if operator is not None:
        step = gauss_newton_step(
            operator, trust, residual, max_iterations=_SOLVE_STEPS, tol=_SOLVE_ACCURACY
        )
        angles = wrap(angles + step)
        moved, size = float(np.abs(step).max()), float(np.sqrt(np.square(step).mean()))
        residual = _residual(graph, angles)
    new_share, new_sigma = _noise(residual, member, trust, graph.num_nodes, prior)
    change = float(np.abs(new_share - share).max() + abs(np.log(new_sigma / sigma)) + moved)
    return _State(
        angles,
        residual,
        new_share,
        new_sigma,
        state.iterations + 1,
        change,
        (size, state.steps[0]),
        change < tol,
    )


def coarse_likelihood(graph: MeasurementGraph, fit: MixtureFit, sigma: float) -> float:
    """Log likelihood of the fit's angles with noise of at least `sigma`, shares fitted to it."""
    residual, weight = _residual(graph, fit.angles), relative_weight(graph)
    width, prior = max(fit.sigma, sigma), EdgePrior.of(graph)
    found = _fit_share(residual, weight, fit.share, width, fit.dof, _LEAST_SHARE, prior)
    return float(found[1].sum())


def node_trust(graph: MeasurementGraph, fit: MixtureFit) -> FloatArray:
    """Probability (n, k) that a node's angle is right, given those of its neighbours.

    A wrong angle is one that some other agreement of the node's edges explains. With s edges that
    agree on the angle (posterior mass) out of d, a chance agreement of s among d independent
    uniform predictions within the same window has about d·Poisson(≥ s - 1; d·h/π) candidates,
    h = 2.5 σ; the odds of the angle are the likelihood ratio of its agreement to a chance one.
    """
    groups = fit.share.size
    window = min(AGREEMENT_WIDTH * max(fit.sigma, SIGMA_FLOOR), np.pi)
    gain = np.log1p(fit.share.sum() / max(fit.eta, LEAST_ETA) * np.pi / window / groups)
    result = np.empty((graph.num_nodes, groups))
    for group, mass in enumerate(fit.membership.T):
        support = sum_at_nodes(graph, mass)
        rivals = np.maximum(sum_at_nodes(graph, fit.unexplained(group)) - support, 0.0)
        # Best of `rivals` single predictions, in units of `gain`, against `support` of them.
        exponent = np.minimum(rivals * window / np.pi, _MOST_RIVALS_EXPONENT)
        against = np.log1p(rivals * np.exp(exponent)) - gain * (support - 1.0)
        against = np.clip(against, -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
        result[:, group] = 1.0 / (1.0 + np.exp(against))
    return result


def limit_share(share: FloatArray, least: float) -> FloatArray:
    """Shares (k,) of at least `least` each, that leave at least `least` for outliers."""
    share = np.clip(share, least, None)
    return share * min(1.0, (1.0 - least) / share.sum())


def relative_weight(graph: MeasurementGraph) -> FloatArray:
    """Edge weights (m,) scaled to mean 1."""
    return graph.edge_weight / graph.edge_weight.mean()


@dataclass(frozen=True, eq=False)
class EdgePrior:
    """What is known of the edges before their residuals are seen.

    Args:
        doubt: (m,) factor of the outlier share: next to nothing for trusted edges, 1 for others;
            the number 1 if no edge is trusted.
        judged: (m,) edges that tell about shares and noise: not trusted, and on a cycle, for angles
            can always be fitted to the others; None if these are all edges.
    """

    doubt: FloatArray | float
    judged: BoolArray | None

    @classmethod
    def of(cls, graph: MeasurementGraph) -> EdgePrior:
        """The prior of the edges of a graph."""
        judged = ~(graph.bridges | graph.edge_trusted)
        few = judged.any() and not judged.all()
        trusted = graph.trusted
        doubt = 1.0 if trusted is None else np.where(trusted, _TRUSTED_DOUBT, 1.0)
        return cls(doubt, judged if few else None)

    def every(self, step: int) -> EdgePrior:
        """The prior of every `step`-th edge."""
        doubt = self.doubt if isinstance(self.doubt, float) else self.doubt[::step]
        return EdgePrior(doubt, None if self.judged is None else self.judged[::step])

    def shares(self, member: FloatArray) -> FloatArray:
        """Fraction (k,) of the judged edges in each group, from posteriors (m, k)."""
        return (member if self.judged is None else member[self.judged]).mean(axis=0)


def sum_at_nodes(graph: MeasurementGraph, value: FloatArray) -> FloatArray:
    """Sum (n,) of an edge quantity (m,) over the edges at each node."""
    n = graph.num_nodes
    total = np.zeros(n)
    total += np.bincount(graph.src, weights=value, minlength=n)
    total += np.bincount(graph.dst, weights=value, minlength=n)
    return total


def _residual(graph: MeasurementGraph, angles: FloatArray) -> FloatArray:
    """Residuals (m, k), group after group in memory: sums over edges and groups are then fast."""
    return np.asfortranarray(graph.residual(angles))


def _membership(
    residual: FloatArray,
    weight: FloatArray,
    share: FloatArray,
    sigma: float,
    dof: float,
    prior: EdgePrior,
) -> tuple[FloatArray, FloatArray]:
    """Posterior (m, k) of the groups and log density (m,) relative to uniform."""
    root = np.sqrt(weight)[:, None]
    part = share * law_density(residual * root, sigma, dof) * root
    total = part.sum(axis=1) + prior.doubt * (1.0 - share.sum())
    return part / total[:, None], np.log(total)


def _fit_share(
    residual: FloatArray,
    weight: FloatArray,
    share: FloatArray,
    sigma: float,
    dof: float,
    least: float,
    prior: EdgePrior,
) -> tuple[FloatArray, FloatArray]:
    """EM for the shares (k,) alone, and the log density (m,) before its last iteration."""
    for _ in range(_SHARE_ITERATIONS):
        member, log_density = _membership(residual, weight, share, sigma, dof, prior)
        share = limit_share(prior.shares(member), least)
    return share, log_density


def _noise(
    residual: FloatArray,
    member: FloatArray,
    trust: FloatArray,
    num_nodes: int,
    prior: EdgePrior,
) -> tuple[FloatArray, float]:
    """M-step for shares and σ; fitting n - 1 angles per group used up that many residuals."""
    k = member.shape[1]
    inliers = float(member.sum())
    judged = inliers if prior.judged is None else float(member[prior.judged].sum())
    freedom = max(inliers - k * (num_nodes - 1), _LEAST_FREEDOM * judged, _NO_FREEDOM)
    sigma = np.sqrt(float((trust * residual**2).sum()) / freedom)
    share = limit_share(prior.shares(member), _LEAST_SHARE)
    return share, float(np.clip(sigma, SIGMA_FLOOR, SIGMA_MAX))


def _first_noise(
    residual: FloatArray, weight: FloatArray, dof: float, prior: EdgePrior
) -> tuple[FloatArray, float]:
    """Shares and σ that fit given residuals best, over a few scales.

    If the time limit is reached, those of a sample of the edges.
    """
    k = residual.shape[1]
    if len(residual) > _FEW_EDGES and time_is_up():
        step = len(residual) // _FEW_EDGES
        residual, weight, prior = residual[::step], weight[::step], prior.every(step)
    first = np.full(k, _FIRST_INLIER_SHARE / k)
    best = (-np.inf, first, _SCALES[-1])
    for sigma in _SCALES:
        share, log_density = _fit_share(
            residual, weight, first, sigma, dof, _LEAST_FIRST_SHARE, prior
        )
        if log_density.sum() > best[0]:
            best = (float(log_density.sum()), share, sigma)
    return best[1], best[2]


def _log_posterior_width(graph: MeasurementGraph, member: FloatArray, sigma: float) -> float:
    """Σ over nodes and groups of log(posterior width / 2π): Laplace's factor of the evidence.

    Without it an angle that fits one edge exactly would count as explaining it: a spanning tree
    can be fitted without residual whatever the offsets. With it such an edge gains nothing.
    """
    total = 0.0
    for mass in member.T:
        precision = np.maximum(sum_at_nodes(graph, mass), _LEAST_INLIERS) / sigma**2
        total += float(np.log(np.minimum(np.sqrt(TWO_PI / precision) / TWO_PI, 1.0)).sum())
    return total
