"""From the network's beliefs to final angles: a local search, then the posterior at its noise."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import Estimate
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.propagation import (
    Posterior,
    final_angles,
    propagate,
)
from gnnsync.methods.robust.confidence.node_confidence import node_confidence
from gnnsync.methods.robust.geometric.rotation import rotate_regions
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.solution import NODE_TOLERANCE

# σ from which the bins of the posterior resolve the noise: below it, on Erdős–Rényi and
# preferential graphs with σ = .05 and .06, the posterior mean is no better than the fit.
_RESOLVED_SIGMA = 0.07
# Most sweeps and tolerance of the posterior. 9 sweeps suffice at σ = .1; at σ = .3 on preferential
# graphs the MSE is .177 after 21 sweeps (tolerance 3e-3), .304 after 11 (5e-3), .173 after 40.
_SWEEPS, _TOLERANCE = 24, 3e-3
# Evidence per angle below which regions of an extended graph are rotated: sparse geometric graphs,
# where the MSE fell from .68 to .10 and from .94 to .07; dense ones have 9 and gain nothing.
_WEAK_EVIDENCE = 6.0
# Evidence per angle below which the bootstrap, half a second at 3,000 edges, is worth its time:
# above it 98 % of the nodes and more were right on geometric graphs, maps and small worlds.
_DOUBTFUL_EVIDENCE = 3.0
# Mean resultant length of a marginal with one mode only (those of geometric graphs are wide, since
# errors are shared), and distance in radians within which its mean agrees with the fitted angle.
_ONE_MODE_LENGTH, _AGREEMENT = 0.8, 0.1
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

    Exact inliers give exact angles. With noise, belief propagation on finer bins goes on from the
    fit, with its noise and with the density of the angles; nodes whose marginal is narrow keep the
    fitted angle, the others take the mean of their marginal. If all marginals of the network have
    one mode and agree with the fit, nothing is left to find out.

    Args:
        graph: the measurements.
        found: the beliefs of the network.
        rng: for the cuts into regions and the confidence.
        extended: whether regions of the graph may be rotated against one another; for k = 1 they
            are then rotated where the evidence is weak.
    """
    fit = local_search(graph, found.modes())
    weak = fit.evidence < _WEAK_EVIDENCE * fit.angles.size
    if extended and weak and fit.share.size == 1:
        fit = rotate_regions(graph, fit, rng)
    posterior, mass = None, None
    if fit.sigma >= _RESOLVED_SIGMA:
        posterior = found
        if not _settled(fit, found):
            posterior = propagate(graph, fit.angles, like=fit, sweeps=_SWEEPS, tol=_TOLERANCE)
    angles = fit.angles if posterior is found else final_angles(graph, fit, posterior)
    final = fit_mixture(graph, angles, like=fit, move=False, max_iterations=_FINAL_ITERATIONS)
    if posterior is not None:
        mass = posterior.mass_near(angles, NODE_TOLERANCE).prod(axis=1)
    doubtful = fit.evidence < _DOUBTFUL_EVIDENCE * fit.angles.size
    confidence = node_confidence(
        graph, final, rng, evidence=fit.evidence, mass=mass, resample=doubtful
    )
    return Estimate(
        angles,
        converged=fit.converged,
        iterations=found.sweeps + fit.iterations,
        stop_reason="the network, then EM",
        edge_confidence=final.edge_confidence,
        node_confidence=confidence,
        diagnostics={"eta": fit.eta, "sigma": fit.sigma, "evidence": fit.evidence},
    )


def _settled(fit: MixtureFit, found: Posterior) -> bool:
    """Whether every marginal has one mode, with its mean near the fitted angle."""
    _, mean, length = point_estimates(found.marginals, found.origin)
    near = np.abs(wrap(mean - fit.angles)) < _AGREEMENT
    return bool((near & (length > _ONE_MODE_LENGTH)).all())
