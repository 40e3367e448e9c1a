"""Posterior of the angles by loopy belief propagation, with the noise learned by EM."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.belief.messages import Messages, point_estimates
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.methods.robust.noise.placement import angle_density, place_open_nodes, two_core
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import advance, advance_towards, loop, time_is_up

log = logging.getLogger(__name__)

# Bins of a message in the first stages, and the fewest allowed.
FIRST_BINS = 32
# Below this σ the bins are too coarse to compare angles; local search does it exactly.
FINE_SIGMA = 0.05
# Bins that σ must span for the posterior mean to be free of discretisation error.
RESOLVED_BINS = 0.9

# Noise levels of the stages in which the messages sharpen before σ is estimated, a factor of about
# 0.7 apart, and sweeps at each.
_ANNEALING = (0.7, 0.5, 0.35, 0.25, 0.18, 0.13)
_SWEEPS_PER_STAGE = 6
# Sweeps before the noise that EM finds may end the stages: the angles take shape in them.
_LEAST_ANNEALING = 18
# Share of inliers assumed at first.
_FIRST_INLIER_SHARE = 0.5
# Concentration of the first messages: weak around an initialisation, strong around a fit.
_WEAK, _STRONG = 2.0, 8.0
# Least σ of messages that start from a fit.
_LEAST_FIT_SIGMA = 0.02
# An EM step for the noise follows every third sweep; the density of angles is estimated after six.
_SWEEPS_PER_EM = 3
_SWEEPS_BEFORE_DENSITY = 6
# Relative change of σ in an EM step below which it counts as converged, in units of the tolerance
# of the messages.
_SIGMA_TOLERANCE = 4.0
# Mean resultant length of a marginal above which its mode counts as known for the density.
_KNOWN_LENGTH = 0.8
# Mean resultant length above which a marginal is narrow enough to keep the fitted angle, if that is
# within the marginal's width and at least this many σ of the mean.
_NARROW_LENGTH, _NEAR_SIGMAS = 0.95, 1.5
# Movement of the mean angles in a sweep, in root mean square and in units of the marginals' widths
# (at least a bin), below which they are at rest. Where bins hardly resolve σ (.05 to .08) EM for σ
# never ends, and the means go on moving by up to .06 of a bin.
_AT_REST = 0.1
# Limits that keep the logarithm and the root of a resultant length finite.
_LEAST_LENGTH, _LEAST_VARIANCE = 1e-9, 1e-12
# Entries of one message table (some 100 MB) above which the bins stay coarse and the sweeps few.
_LARGE_TABLE = 20_000_000
_LARGE_TABLE_SWEEPS = 12


@dataclass(frozen=True, eq=False)
class Posterior:
    """Marginal distributions of the angles.

    Args:
        marginals: (n, k, B) probabilities of B bins, relative to `origin`.
        origin: (n, k) angles that the bins are relative to.
        share: (k,) fraction of edges in each group.
        sigma: noise of an edge of mean weight.
        sweeps: sweeps taken.
        converged: whether messages and σ met their tolerance, or the mean angles moved by less
            than a tenth of the widths of their marginals in the last sweep.
    """

    marginals: FloatArray
    origin: FloatArray
    share: FloatArray
    sigma: float
    sweeps: int
    converged: bool = True

    def mass_near(self, angles: FloatArray, half: float) -> FloatArray:
        """Probability (n, k) of each node's angle being within `half` of that given (n, k)."""
        bins = self.marginals.shape[2]
        at = wrap(angles - self.origin)[..., None] - TWO_PI * np.arange(bins) / bins
        inside = np.clip((half - np.abs(wrap(at))) / (TWO_PI / bins) + 0.5, 0.0, 1.0)
        return np.minimum((self.marginals * inside).sum(axis=2), 1.0)

    def modes(self) -> FloatArray:
        """The most probable angle (n, k) of each marginal."""
        return point_estimates(self.marginals, self.origin)[0]


def propagate(
    graph: MeasurementGraph,
    start: FloatArray,
    *,
    bins: int = 64,
    sweeps: int = 40,
    tol: float = 1e-3,
    like: MixtureFit | None = None,
    known: BoolArray | None = None,
) -> Posterior:
    """Posterior of the angles by belief propagation from `start` (n, k).

    Args:
        graph: the measurements.
        start: (n, k) angles around which the first messages are centred.
        bins: most bins of a message.
        sweeps: most sweeps at the estimated noise.
        tol: stop when messages change by less than this on average and σ has converged.
        like: a fit that `start` belongs to. Its noise is then used from the first sweep, without
            annealing, and the density of angles is estimated from the nodes.
        known: (n, k) which starting angles are reliable; messages of the others start uniform.
    """
    if _is_large(graph):
        log.info("belief: %d edges, so %d bins and fewer sweeps", graph.num_edges, FIRST_BINS)
        bins = FIRST_BINS
    sweeps = most_sweeps(graph, sweeps)
    sure = np.ones(start.shape) if known is None else known.astype(np.float64)
    if like is None:
        with loop("annealing"):
            messages, done = _annealed(graph, start, sure, bins)
    else:
        messages, done = _like_fit(graph, start, sure, bins, like), 0
    with loop("sweeps"):
        taken, converged = _settle(messages, sweeps, tol, estimate_density=like is not None)
    marginals = messages.marginals()
    return Posterior(marginals, start, messages.share, messages.sigma, done + taken, converged)


def table_size(graph: MeasurementGraph, bins: int = 64) -> int:
    """Entries of the table of messages of one group."""
    return 2 * graph.num_edges * (FIRST_BINS if _is_large(graph) else bins)


def most_sweeps(graph: MeasurementGraph, sweeps: int) -> int:
    """Most sweeps at the estimated noise, of so many that are wanted."""
    return min(sweeps, _LARGE_TABLE_SWEEPS) if _is_large(graph) else sweeps


def _is_large(graph: MeasurementGraph) -> bool:
    return 2 * graph.num_edges * FIRST_BINS > _LARGE_TABLE


def _settle(
    messages: Messages, sweeps: int, tol: float, *, estimate_density: bool
) -> tuple[int, bool]:
    """Sweeps at the estimated noise, until messages and σ stand still; their number, and whether.

    Messages of a few open nodes may go on changing long after the angles have come to rest: at the
    last sweep the movement of the mean angles decides.
    """
    drift, first, before = np.inf, 0.0, None
    for sweep in range(1, sweeps + 1):
        if sweep == sweeps:
            before = _mean_angles(messages)
        change = messages.sweep()
        if sweep % _SWEEPS_PER_EM == 0:
            sigma = messages.sigma
            messages.learn(noise=True)
            drift = abs(np.log(messages.sigma / sigma))
            if estimate_density and sweep == _SWEEPS_BEFORE_DENSITY:
                messages.set_prior(_densities(messages))
                drift = np.inf
        if change < tol and drift < _SIGMA_TOLERANCE * tol:
            return sweep, True
        first = max(first, change)
        advance(sweep / sweeps)
        advance_towards(tol, first, change)
        if time_is_up():
            return sweep, False
    assert before is not None
    _, mean, length = point_estimates(messages.marginals(), messages.origin)
    moved = np.abs(wrap(mean - before)) / np.maximum(_width(length), TWO_PI / messages.bins)
    return sweeps, float(np.sqrt(np.square(moved).mean())) < _AT_REST


def _mean_angles(messages: Messages) -> FloatArray:
    """Mean directions (n, k) of the marginals."""
    return point_estimates(messages.marginals(), messages.origin)[1]


def _width(length: FloatArray) -> FloatArray:
    """Circular standard deviation of marginals with these mean resultant lengths."""
    log_length = np.log(np.clip(length, _LEAST_LENGTH, 1.0))
    return np.sqrt(np.maximum(-2.0 * log_length, _LEAST_VARIANCE))


def final_angles(
    graph: MeasurementGraph, fit: MixtureFit, posterior: Posterior | None
) -> FloatArray:
    """Angles (n, k) of least expected MSE: fitted where certain, posterior mean elsewhere."""
    if fit.sigma < FINE_SIGMA or posterior is None:
        known = np.stack([two_core(graph, fit, group) for group in range(fit.share.size)], axis=1)
        return place_open_nodes(graph, fit, known)
    _, mean, length = point_estimates(posterior.marginals, posterior.origin)
    if fit.sigma >= RESOLVED_BINS * TWO_PI / posterior.marginals.shape[2]:
        return mean
    # The mean adds nothing within a fraction of the marginal's width.
    near = np.abs(wrap(mean - fit.angles)) < np.maximum(_width(length), _NEAR_SIGMAS * fit.sigma)
    return np.where(near & (length > _NARROW_LENGTH), fit.angles, mean)


def _annealed(
    graph: MeasurementGraph, start: FloatArray, sure: FloatArray, bins: int
) -> tuple[Messages, int]:
    """Messages after the stages of falling σ, and the sweeps they took."""
    k = start.shape[1]
    share = np.full(k, _FIRST_INLIER_SHARE / k)
    messages = Messages(graph, start, share, _ANNEALING[0], FIRST_BINS)
    messages.start(_WEAK * sure)
    done = 0
    for sigma in _ANNEALING:
        while sigma < 2 * messages.least_sigma and 2 * messages.bins <= bins:
            messages.refine_bins()
        messages.sigma = max(sigma, messages.least_sigma)
        advance(done / (len(_ANNEALING) * _SWEEPS_PER_STAGE))
        for sweep in range(1, _SWEEPS_PER_STAGE + 1):
            if time_is_up():
                return messages, done + sweep - 1
            messages.sweep()
            if sweep % _SWEEPS_PER_EM == 0:
                messages.learn(noise=sweep == _SWEEPS_PER_STAGE)
        done += _SWEEPS_PER_STAGE
        if messages.sigma > sigma and done >= _LEAST_ANNEALING:
            break  # EM raises the noise again: the stages below it are skipped
    return messages, done


def _like_fit(
    graph: MeasurementGraph, start: FloatArray, sure: FloatArray, bins: int, fit: MixtureFit
) -> Messages:
    """Messages concentrated around `start`, with the noise of the fit."""
    messages = Messages(graph, start, fit.share, max(fit.sigma, _LEAST_FIT_SIGMA), bins)
    messages.start(_STRONG * sure)
    return messages


def _densities(messages: Messages) -> list[FloatArray]:
    """Density of the angles of each group, from nodes whose marginal is narrow."""
    mode, _, length = point_estimates(messages.marginals(), messages.origin)
    known = (length > _KNOWN_LENGTH).astype(np.float64)
    return [angle_density(mode[:, g], known[:, g]) for g in range(messages.k)]
