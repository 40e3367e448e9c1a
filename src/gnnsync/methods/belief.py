"""Belief propagation on the circle with estimated noise."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.belief.messages import Messages, point_estimates
from gnnsync.methods.robust.confidence.node_confidence import node_confidence
from gnnsync.methods.robust.initialisation import start_angles
from gnnsync.methods.robust.noise.local_search import settle
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.methods.robust.noise.placement import angle_density, certified, place_open_nodes
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray

log = logging.getLogger(__name__)


# Noise levels through which the messages sharpen before σ is left to the data.
_LADDER = (0.7, 0.5, 0.35, 0.25, 0.18, 0.13)
_SWEEPS_PER_RUNG = 6
# Relative change of σ in an EM step below which it counts as settled.
_DRIFT = 0.004
_FIRST_BINS = 32
# Below this σ the bins are too coarse to judge agreement; votes do it exactly.
FINE_SIGMA = 0.05
# Bins that σ must span for the posterior to be free of the error of binning.
_RESOLVED_BINS = 0.9
# Entries of one message table beyond which the bins stay coarse and the sweeps few.
_LARGE_TABLE = 20_000_000


@dataclass(frozen=True, eq=False)
class Posterior:
    """Marginals (n, k, B) relative to `origin` (n, k), and the noise they were found with."""

    marginals: FloatArray
    origin: FloatArray
    share: FloatArray
    sigma: float
    sweeps: int
    change: float

    def mass_near(self, angles: FloatArray, half: float) -> FloatArray:
        """Probability (n, k) of each node's angle being within `half` of that given (n, k)."""
        bins = self.marginals.shape[2]
        at = wrap(angles - self.origin)[..., None] - TWO_PI * np.arange(bins) / bins
        inside = np.clip((half - np.abs(wrap(at))) / (TWO_PI / bins) + 0.5, 0.0, 1.0)
        return np.minimum((self.marginals * inside).sum(axis=2), 1.0)


@dataclass(frozen=True)
class Belief(ClassicalMethod):
    """Loopy belief propagation with uniform outliers, η and σ learned by EM.

    Starts from the (unmixed) spectral solution; the kernel sharpens in stages, then follows the
    estimated σ. The modes are settled under the mixture model by least squares, so that exact
    inliers give exact angles; nodes whose posterior is wide take its mean, for which the density
    of the angles themselves is learned from the nodes that are known.

    Args:
        bins: most bins B of a message; the first stages use fewer.
        sweeps: most sweeps at the estimated noise.
        tol: stop when messages (relative to uniform) change by less than this on average.
    """

    any_k = True

    bins: int = 64
    sweeps: int = 40
    tol: float = 1e-3

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("bins", self.bins, _FIRST_BINS)
        check_integer("sweeps", self.sweeps, 1)
        check_real("tol", self.tol, 0, open_low=True)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k)."""
        start = start_angles(graph, k, rng)
        posterior = propagate(graph, start, bins=self.bins, sweeps=self.sweeps, tol=self.tol)
        fit = settle(graph, point_estimates(posterior.marginals, posterior.origin)[0])
        angles = final_angles(graph, fit, posterior)
        done = fit_mixture(graph, angles, like=fit, move=False, max_iterations=5)
        return Estimate(
            angles,
            converged=posterior.change < self.tol,
            iterations=posterior.sweeps,
            stop_reason="messages settled" if posterior.change < self.tol else "sweep limit",
            edge_confidence=done.edge_confidence,
            node_confidence=node_confidence(
                graph,
                done,
                rng,
                evidence=fit.evidence,
                mass=posterior.mass_near(angles, NODE_TOLERANCE).prod(axis=1),
            ),
            diagnostics={"eta": fit.eta, "sigma": fit.sigma, "evidence": fit.evidence},
        )


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

    With `known` (n, k) the first messages of other nodes say nothing.

    With `like`, a fit that `start` belongs to, the stages are left out: its noise is used at once
    and the density of angles is learned from its nodes.
    """
    k = start.shape[1]
    if 2 * graph.num_edges * _FIRST_BINS > _LARGE_TABLE:
        log.info("belief: %d edges, so %d bins and fewer sweeps", graph.num_edges, _FIRST_BINS)
        bins, sweeps = _FIRST_BINS, min(sweeps, 12)
    done = 0
    sure = np.ones(start.shape) if known is None else known.astype(np.float64)
    if like is None:
        messages = Messages(graph, start, np.full(k, 0.5 / k), _LADDER[0], _FIRST_BINS)
        messages.start(2.0 * sure)
        for sigma in _LADDER:
            while sigma < 2 * messages.least_sigma and 2 * messages.bins <= bins:
                messages.refine_bins()
            messages.sigma = max(sigma, messages.least_sigma)
            for sweep in range(_SWEEPS_PER_RUNG):
                messages.sweep()
                if sweep % 3 == 2:
                    messages.learn(noise=False)
            done += _SWEEPS_PER_RUNG
    else:
        messages = Messages(graph, start, like.share, max(like.sigma, 0.02), bins)
        messages.start(8.0 * sure)
    change = drift = np.inf
    for sweep in range(sweeps):
        change = messages.sweep()
        done += 1
        if sweep % 3 == 2:
            sigma = messages.sigma
            messages.learn(noise=True)
            drift = abs(np.log(messages.sigma / sigma))
            if like is not None and sweep == 5:
                messages.set_prior(_densities(messages))
                drift = np.inf
        if change < tol and drift < _DRIFT:
            break
    return Posterior(
        messages.marginals(), start, messages.share, messages.sigma, done, float(change)
    )


def final_angles(
    graph: MeasurementGraph, fit: MixtureFit, posterior: Posterior | None
) -> FloatArray:
    """Angles (n, k) of least expected MSE: fitted where certain, posterior mean where not."""
    known = np.stack([certified(graph, fit, group) for group in range(fit.share.size)], axis=1)
    if fit.sigma < FINE_SIGMA or posterior is None:
        return place_open_nodes(graph, fit, known)
    _, mean, length = point_estimates(posterior.marginals, posterior.origin)
    if fit.sigma >= _RESOLVED_BINS * TWO_PI / posterior.marginals.shape[2]:
        return mean
    # Circular standard deviation of the marginal: the mean is no news within a fraction of it.
    width = np.sqrt(np.maximum(-2.0 * np.log(np.clip(length, 1e-9, 1.0)), 1e-12))
    same = (np.abs(wrap(mean - fit.angles)) < np.maximum(width, 1.5 * fit.sigma)) & (length > 0.95)
    return np.where(same, fit.angles, mean)


def _densities(messages: Messages) -> list[FloatArray]:
    mode, _, length = point_estimates(messages.marginals(), messages.origin)
    return [
        angle_density(mode[:, g], (length[:, g] > 0.8).astype(np.float64))
        for g in range(messages.k)
    ]
