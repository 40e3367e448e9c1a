"""The candidate that `auto` keeps, and what it reports of it."""

from __future__ import annotations

import logging

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import Estimate
from gnnsync.methods.robust.belief.propagation import Posterior
from gnnsync.methods.robust.noise.mixture import MixtureFit, coarse_likelihood

log = logging.getLogger(__name__)

Candidate = tuple[str, MixtureFit]
"""Name of what proposed the angles, and the fit of the noise model to them."""

# Noise at which candidates are compared a second time (see `choose`), and the log likelihood per
# edge that must be gained there.
_COARSE_SIGMA, _COARSE_GAIN = 0.1, 0.05


def choose(graph: MeasurementGraph, candidates: list[Candidate]) -> Candidate:
    """The candidate of greatest evidence, unless another explains far more at coarse noise.

    Exactness is worth so much likelihood that a few offsets which agree exactly could outweigh a
    majority that agrees up to noise. With noise of at least 0.1 rad they do not.
    """
    best = max(candidates, key=evidence_of)
    coarse = {name: coarse_likelihood(graph, fit, _COARSE_SIGMA) for name, fit in candidates}
    for name, fit in candidates:
        log.debug("auto: %s: evidence %.1f, coarse %.1f", name, fit.evidence, coarse[name])
    widest = max(candidates, key=lambda candidate: coarse[candidate[0]])
    margin = _COARSE_GAIN * graph.num_edges
    return widest if coarse[widest[0]] > coarse[best[0]] + margin else best


def evidence_of(candidate: Candidate) -> float:
    """The evidence of a candidate: the logarithm of its marginal likelihood."""
    return candidate[1].evidence


def so_far(name: str, fit: MixtureFit) -> Estimate:
    """The estimate of the best candidate at the time limit, without what would have followed."""
    return Estimate(
        fit.angles,
        converged=False,
        iterations=fit.iterations,
        stop_reason=f"{name} is the best candidate so far",
        edge_confidence=fit.edge_confidence,
        diagnostics=figures_of(fit, None),
    )


def figures_of(fit: MixtureFit, posterior: Posterior | None) -> dict[str, float]:
    """The estimated noise: share of outliers, σ, evidence, law; with the posterior if computed."""
    figures = {
        "eta": fit.eta,
        "sigma": fit.sigma,
        "evidence": fit.evidence,
        "normal_noise": float(np.isinf(fit.dof)),
    }
    if np.isfinite(fit.dof):
        figures["dof"] = fit.dof
    if posterior is not None:
        # Estimated with the angles integrated out: less biased than at the best angles.
        figures.update(eta=float(1.0 - posterior.share.sum()), sigma=posterior.sigma)
    return figures
