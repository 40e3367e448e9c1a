"""Plain sweeps of belief propagation with given noise: what the network is compared with."""

from __future__ import annotations

import torch
from torch import Tensor

from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.circle import Circle
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.propagation import (
    LEAST_SHARE,
    Noise,
    State,
    blocks,
    bounded,
    expected_cosine,
    messages,
    next_state,
)

# Part of the old message that stays, against oscillation.
_DAMPING = 0.2


def told_propagation(
    network: UnrolledPropagation,
    batch: GraphBatch,
    eta: Tensor,
    sigma: Tensor,
    sweeps: int | None = None,
) -> State:
    """Belief propagation from the network's own start, with the true noise and nothing learned.

    Args:
        network: gives the bins, the first beliefs and the number of sweeps.
        batch: G graphs.
        eta: (G,) true share of outliers.
        sigma: (G,) true noise; 32 bins resolve it from 0.1 on.
        sweeps: by default as many as the network takes.
    """
    circle = network.circle
    state, turns = network.start(batch), circle.turns(batch.residual)
    share = ((1.0 - eta) / batch.k)[:, None].expand(-1, batch.k)
    noise = _noise(share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE), sigma)
    for _ in range(sweeps or network.num_sweeps(batch)):
        state = _sweep(state, batch, noise, circle, turns)
    return state


def _noise(share: Tensor, sigma: Tensor) -> Noise:
    """Noise of given shares (G, k) and σ (G,), with messages neither sharpened nor flattened."""
    ones = torch.ones_like(sigma, dtype=share.dtype)
    log_sigma = bounded(torch.log(sigma.to(share.dtype).clamp_min(LEAST_SHARE)))
    return Noise(share, log_sigma, ones, _DAMPING * ones)


def _sweep(state: State, batch: GraphBatch, noise: Noise, circle: Circle, turns: Tensor) -> State:
    parts = []
    for block in blocks(state, batch, noise, circle, turns):
        new = messages(block, circle, block.odds)
        new = torch.lerp(new, state.log_message[:, block.edges], _DAMPING)
        parts.append((new, block.fit, expected_cosine(block, circle)))
    return next_state(parts, batch, noise, circle)
