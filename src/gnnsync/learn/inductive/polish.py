"""From the network's beliefs to final angles: a local search, then the posterior of open nodes."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import Estimate
from gnnsync.methods.robust import LARGE_GRAPH_EDGES
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.open_nodes import open_nodes_posterior
from gnnsync.methods.robust.belief.propagation import Posterior, final_angles, propagate
from gnnsync.methods.robust.confidence.assessment import assess
from gnnsync.methods.robust.confidence.node_confidence import Support
from gnnsync.methods.robust.cycles.certificate import certified_estimate, certify
from gnnsync.methods.robust.geometric.rotation import rotate_regions
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray

# σ from which the bins of the posterior resolve the noise: below it, on Erdős–Rényi and
# preferential graphs with σ = .05 and .06, the posterior mean is no better than the fit.
_RESOLVED_SIGMA = 0.07
# Most sweeps and tolerance of the posterior of open nodes, and of all nodes for k > 1.
_SWEEPS, _TOLERANCE = 12, 3e-3
_SWEEPS_OF_GROUPS = 24
# Evidence per angle below which regions of an extended graph are rotated: sparse geometric graphs,
# where the MSE fell from .68 to .10 and from .94 to .07; dense ones have 9 and gain nothing.
_WEAK_EVIDENCE = 6.0
# Evidence per angle below which the bootstrap, half a second at 3,000 edges, is worth its time:
# above it 98 % of the nodes and more were right on geometric graphs, maps and small worlds.
_DOUBTFUL_EVIDENCE = 3.0
# Mean resultant length above which a marginal has one mode, and distance in radians within which
# its mean agrees with the fitted angle. At .8 in place of .9 the MSE rose from .157 to .162 on
# preferential graphs with η = .75; at .95 it was the same.
_ONE_MODE_LENGTH, _AGREEMENT = 0.9, 0.1
# Mean confidence of the nodes below which closed cycles are searched for a second start. On 20
# sparse geometric graphs with exact inliers the MSE was .04 to .29 above it, and up to 3.2 below.
_DOUBT = 0.95
# Share of angles that cycles must certify for a second start.
_CERTIFIED = 0.3
# EM iterations for the noise at the final angles, which are not moved any more.
_FINAL_ITERATIONS = 1


def polished(
    graph: MeasurementGraph,
    found: Posterior,
    rng: np.random.Generator,
    *,
    extended: bool = False,
) -> Estimate:
    """Angles fitted by EM from the modes of the beliefs, and posterior means where they are wide.

    Exact inliers give exact angles. With noise, nodes whose belief is wide or disagrees with the
    fit take the mean of their posterior on finer bins, given the others and the density of the
    angles. If many nodes are still in doubt, the network may have started from noise, or regions
    of a sparse extended graph may have wrong rotations. Where inliers are exact, closed cycles
    certify angles all the same: these are a second start, and the fit of greater evidence is kept.

    Args:
        graph: the measurements.
        found: the beliefs of the network.
        rng: for the cuts into regions and the confidence.
        extended: whether regions of the graph may be rotated against one another; for k = 1 they
            are then rotated where the evidence is weak.
    """
    fit = _fitted(graph, found.modes(), rng, extended=extended)
    estimate = _finished(graph, fit, found, rng)
    if not _in_doubt(graph, fit, estimate):
        return estimate
    certificate = certify(graph, fit.share.size)
    if certificate is None or certificate[1].mean() <= _CERTIFIED:
        return estimate
    if fit.share.size > 1:
        # The evidence cannot decide which group a detached region belongs to.
        return certified_estimate(graph, *certificate, rng)
    start = np.where(certificate[1], certificate[0], fit.angles)
    other = _fitted(graph, start, rng, extended=extended)
    return estimate if other.evidence <= fit.evidence else _finished(graph, other, found, rng)


def _fitted(
    graph: MeasurementGraph, start: FloatArray, rng: np.random.Generator, *, extended: bool
) -> MixtureFit:
    """Local search from angles (n, k); regions of an extended graph are rotated if k = 1."""
    fit = local_search(graph, start)
    weak = fit.evidence < _WEAK_EVIDENCE * fit.angles.size
    if extended and weak and fit.share.size == 1:
        fit = rotate_regions(graph, fit, rng)
    return fit


def _finished(
    graph: MeasurementGraph, fit: MixtureFit, found: Posterior, rng: np.random.Generator
) -> Estimate:
    """Final angles of a fit, with confidences."""
    angles, mass = _final_angles(graph, fit, found)
    final = fit_mixture(graph, angles, like=fit, move=False, max_iterations=_FINAL_ITERATIONS)
    doubtful = fit.evidence < _DOUBTFUL_EVIDENCE * fit.angles.size
    assessed = assess(graph, final, rng, Support(fit.evidence, mass, doubtful))
    return Estimate(
        **assessed.fields,
        converged=fit.converged,
        iterations=found.sweeps + fit.iterations,
        stop_reason="the network, then EM",
        diagnostics={"eta": fit.eta, "sigma": fit.sigma, "evidence": fit.evidence},
    )


def _final_angles(
    graph: MeasurementGraph, fit: MixtureFit, found: Posterior
) -> tuple[FloatArray, FloatArray | None]:
    """Angles (n, k) of least expected error, and the posterior mass (n,) near them.

    The mass is None if the noise is too small for the bins.
    """
    if fit.sigma < _RESOLVED_SIGMA:
        return final_angles(graph, fit, None), None
    is_open = _open_nodes(fit, found)
    if not is_open.any():
        return fit.angles, _mass(found, fit.angles)
    if fit.share.size > 1:
        posterior = propagate(graph, fit.angles, like=fit, sweeps=_SWEEPS_OF_GROUPS, tol=_TOLERANCE)
        angles = final_angles(graph, fit, posterior)
        return angles, _mass(posterior, angles)
    posterior = open_nodes_posterior(graph, fit, is_open, sweeps=_SWEEPS, tol=_TOLERANCE)
    angles = final_angles(graph, fit, posterior)
    return angles, np.where(is_open, _mass(posterior, angles), _mass(found, angles))


def _mass(posterior: Posterior, angles: FloatArray) -> FloatArray:
    """Probability (n,) that all angles of a node are within the tolerance of those given (n, k)."""
    return posterior.mass_near(angles, NODE_TOLERANCE).prod(axis=1)


def _open_nodes(fit: MixtureFit, found: Posterior) -> BoolArray:
    """Nodes (n,) with a marginal that is wide, or whose mean is not near the fitted angle."""
    _, mean, length = point_estimates(found.marginals, found.origin)
    near = np.abs(wrap(mean - fit.angles)) < _AGREEMENT
    return np.asarray(~(near & (length > _ONE_MODE_LENGTH)).all(axis=1))


def _in_doubt(graph: MeasurementGraph, fit: MixtureFit, estimate: Estimate) -> bool:
    """Whether nodes are uncertain for another reason than noise that was measured."""
    noisy = fit.evidence > 0.0 and fit.sigma >= _RESOLVED_SIGMA
    if noisy or graph.num_edges > LARGE_GRAPH_EDGES or estimate.node_confidence is None:
        return False
    stated = estimate.node_confidence[np.isfinite(estimate.node_confidence)]
    return bool(len(stated) and stated.mean() < _DOUBT)
