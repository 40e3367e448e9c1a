"""From the network's beliefs to final angles: a local search, then the density of the angles."""

from __future__ import annotations

import numpy as np
import torch

from gnnsync.graph import MeasurementGraph
from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.propagation import State
from gnnsync.learn.inductive.reference import fixed_noise, plain_sweep
from gnnsync.methods.base import Estimate
from gnnsync.methods.robust.belief.propagation import FINE_SIGMA, Posterior, final_angles
from gnnsync.methods.robust.confidence.node_confidence import node_confidence
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.methods.robust.noise.placement import angle_density, cell_of
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray

# Sweeps in which the density of the angles acts; the messages have converged before.
_PRIOR_SWEEPS = 4
# Mean resultant length of a marginal above which its mode counts as known for the density.
_KNOWN_LENGTH = 0.8
# EM iterations for the noise at the final angles, which are not moved any more.
_FINAL_ITERATIONS = 1


def polished(
    graph: MeasurementGraph,
    network: UnrolledPropagation,
    state: State,
    batch: GraphBatch,
    found: Posterior,
    rng: np.random.Generator,
) -> Estimate:
    """Angles fitted by EM from the modes of the beliefs, and posterior means where they are wide.

    With the noise of the fit and the density of the angles, estimated from the nodes that are
    known, a few plain sweeps go on from the network's messages. Nodes whose marginal is narrow
    take the fitted angle, the others the mean of their marginal.
    """
    fit = local_search(graph, found.modes())
    better = None
    if fit.sigma >= FINE_SIGMA:
        better = _with_density(network, state, batch, fit, found)
    angles = final_angles(graph, fit, better)
    final = fit_mixture(graph, angles, like=fit, move=False, max_iterations=_FINAL_ITERATIONS)
    mass = None
    if better is not None:
        mass = better.mass_near(angles, NODE_TOLERANCE).prod(axis=1)
    return Estimate(
        angles,
        converged=fit.converged,
        iterations=found.sweeps + fit.iterations,
        stop_reason="network, then EM",
        edge_confidence=final.edge_confidence,
        node_confidence=node_confidence(
            graph, final, rng, evidence=fit.evidence, mass=mass, resample=False
        ),
        diagnostics={"eta": fit.eta, "sigma": fit.sigma, "evidence": fit.evidence},
    )


def _with_density(
    network: UnrolledPropagation,
    state: State,
    batch: GraphBatch,
    fit: MixtureFit,
    found: Posterior,
) -> Posterior:
    """The posterior after some sweeps with the noise of the fit and the density of the angles."""
    circle, device = network.circle, batch.residual.device
    density = torch.as_tensor(_log_density(found), dtype=torch.float32, device=device)
    share = torch.as_tensor(fit.share, dtype=torch.float32, device=device)[None]
    noise = fixed_noise(share, torch.tensor([fit.sigma], device=device))
    with torch.inference_mode():
        turns = circle.turns(batch.residual)
        state.log_belief = state.log_belief + density
        for _ in range(_PRIOR_SWEEPS):
            state = plain_sweep(state, batch, noise, circle, turns, density)
        marginals = torch.softmax(state.log_belief, dim=-1).double().cpu().numpy()
    marginals /= marginals.sum(axis=2, keepdims=True)
    return Posterior(marginals, found.origin, fit.share, fit.sigma, found.sweeps, 0.0)


def _log_density(found: Posterior) -> FloatArray:
    """Log density (n, k, B) of the angles at the bins, from the nodes that are known."""
    n, k, bins = found.marginals.shape
    length = np.abs(found.marginals @ np.exp(2j * np.pi * np.arange(bins) / bins))
    grid = found.origin[..., None] + 2.0 * np.pi * np.arange(bins) / bins
    modes, result = found.modes(), np.empty((n, k, bins))
    for group in range(k):
        known = (length[:, group] > _KNOWN_LENGTH).astype(np.float64)
        density = angle_density(modes[:, group], known)
        result[:, group] = np.log(density)[cell_of(grid[:, group], len(density))]
    return result
