"""One sweep of belief propagation on the circle over a batch of graphs, in torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.circle import Circle

# Concentration of the belief of an anchor.
_CERTAIN = 200.0
# Logarithm of the factor of a trusted edge's outlier odds.
_TRUSTED = -12.0
# Limits of the shares and of σ: below 0.1 the harmonics of 32 bins are cut off.
LEAST_SHARE, LEAST_SIGMA, MOST_SIGMA = 1e-3, 0.1, 1.5
# Least density of an offset: harmonics that are cut off can make it negative.
_LEAST_FIT = 1e-3
# Limits of the probability that an edge measures something else.
_LEAST_BACKGROUND, _MOST_BACKGROUND = 1e-4, 1.0 - 1e-6
_TINY = 1e-12
# Entries of a message table that are worked on at a time without gradients: they fit a cache.
_BLOCK = 1 << 17


@dataclass
class State:
    """Where the propagation stands.

    Args:
        log_message: (2, m, k, B) log messages to the sources and to the destinations.
        log_belief: (n, k, B) their sums at the nodes.
        share: (G, k) estimated share of each group's edges.
        log_sigma: (G,) logarithm of the estimated noise.
        membership: (m, k) posterior of the groups.
    """

    log_message: Tensor
    log_belief: Tensor
    share: Tensor
    log_sigma: Tensor
    membership: Tensor


@dataclass(frozen=True)
class Noise:
    """What a sweep assumes of every graph.

    Args:
        share: (G, k) share of each group's edges; the rest are outliers.
        log_sigma: (G,) logarithm of σ of an edge of mean weight.
        temperature: (G,) exponent of the beliefs that are sent.
        damping: (G,) part of the old log message in the new one.
    """

    share: Tensor
    log_sigma: Tensor
    temperature: Tensor
    damping: Tensor


@dataclass(frozen=True)
class Block:
    """Some of a batch's edges, and what the beliefs of their ends imply.

    Args:
        edges: which edges.
        ends: (2, e).
        graph: (e,) number of each edge's graph.
        cavity: (2, e, k, H) harmonics of the beliefs of the far ends (destinations, then sources),
            without the message across the edge itself.
        arrived: (2, e, k, H) the same, moved along the edge.
        overlap: (e, k, H) harmonics of the noise that the edge has under the beliefs of its ends.
        variance: (e, 1) σ²/w; (1, 1) if it is the same for all edges.
        blur: (e, 1, H) or (1, 1, H) harmonics of the noise law.
        fit: (e, k) density of the offset under the beliefs, relative to uniform.
        odds: (e, k) log odds that the edge measures an outlier or another group.
    """

    edges: slice
    ends: Tensor
    graph: Tensor
    cavity: Tensor
    arrived: Tensor
    overlap: Tensor
    variance: Tensor
    blur: Tensor
    fit: Tensor
    odds: Tensor


def blocks(
    state: State, batch: GraphBatch, noise: Noise, circle: Circle, turns: Tensor
) -> Iterator[Block]:
    """The edges of a batch in portions: all at once if gradients are needed."""
    size = batch.ends.shape[1]
    if not torch.is_grad_enabled():
        size = max(_BLOCK // (batch.k * circle.bins), 1)
    for start in range(0, batch.ends.shape[1], size):
        edges = slice(start, start + size)
        ends, graph = batch.ends[:, edges], batch.edge_graph[edges]
        far = state.log_belief[ends.flip(0)] - state.log_message[:, edges].flip(0)
        far = far * noise.temperature[_of_edges(graph, batch)][:, None, None]
        cavity = circle.harmonics(torch.softmax(far, dim=-1))
        arrived = cavity * turns[:, edges]
        # What arrives at the source against what the source believes without this edge.
        overlap = circle.product(arrived[0], cavity[1])
        variance = _variance(noise.log_sigma, batch, edges)
        blur = circle.blur(variance)
        fit = (1.0 + (overlap * blur).sum(-1)).clamp_min(_LEAST_FIT)
        odds = _background_odds(fit, noise.share[graph], batch.trusted[edges])
        yield Block(edges, ends, graph, cavity, arrived, overlap, variance, blur, fit, odds)


def messages(block: Block, circle: Circle, odds: Tensor, power: Tensor | None = None) -> Tensor:
    """Log messages (2, e, k, B) of a block, log (c + (1 - c)·carried), times a power.

    Args:
        block: the edges.
        circle: the bins.
        odds: (2, e, k) or (e, k) log odds of c.
        power: (2, e, k) exponent of the messages.
    """
    background = torch.sigmoid(odds).clamp(_LEAST_BACKGROUND, _MOST_BACKGROUND).unsqueeze(-1)
    carried = circle.density(block.arrived, block.blur).clamp_min(0.0)
    message = torch.log(torch.addcmul(background, 1.0 - background, carried))
    return message if power is None else power.unsqueeze(-1) * message


def expected_cosine(block: Block, circle: Circle) -> Tensor:
    """E[cos δ] (e, k) of the noise δ, times the density of the offset."""
    # The Fourier coefficients of cos(δ)·N(δ) are the means of the neighbouring ones of N.
    tilted = 0.5 * (circle.blur(block.variance, -1) + circle.blur(block.variance, 1))
    return torch.exp(-0.5 * block.variance) + (block.overlap * tilted).sum(-1)


def next_state(
    parts: list[tuple[Tensor, Tensor, Tensor]],
    batch: GraphBatch,
    noise: Noise,
    circle: Circle,
) -> State:
    """The state after a sweep, from log messages, fits and cosines of all blocks.

    Beliefs are sums of log messages; shares and σ come from one EM step.
    """
    log_message, fit, cosine = (
        _joined(list(part), dim)
        for part, dim in zip(zip(*parts, strict=True), (1, 0, 0), strict=True)
    )
    belief = log_message.new_zeros((batch.num_nodes, *log_message.shape[2:]))
    for end, part in zip(batch.ends, log_message, strict=True):
        belief = belief.index_add(0, end, part)
    belief = anchored(belief, batch, circle)
    return State(log_message, belief, *_learned_noise(fit, cosine, noise.share, batch))


def anchored(log_belief: Tensor, batch: GraphBatch, circle: Circle) -> Tensor:
    """Log beliefs (n, k, B) in which anchors are certain."""
    certain = circle.bump(log_belief.new_tensor(_CERTAIN))
    return torch.where(batch.known.unsqueeze(-1) > 0, certain, log_belief)


def bounded(log_sigma: Tensor) -> Tensor:
    """A logarithm of σ within its limits."""
    low, high = (torch.log(log_sigma.new_tensor(v)) for v in (LEAST_SIGMA, MOST_SIGMA))
    return torch.minimum(torch.maximum(log_sigma, low), high)


def _of_edges(graph: Tensor, batch: GraphBatch) -> Tensor | slice:
    """Index of the edges' graphs in a quantity (G, ...); a single graph needs no copies of it."""
    return slice(None) if batch.num_graphs == 1 else graph


def _variance(log_sigma: Tensor, batch: GraphBatch, edges: slice) -> Tensor:
    """σ²/w (e, 1) of the noise of edges, or (1, 1)."""
    variance = torch.exp(2.0 * log_sigma)[_of_edges(batch.edge_graph[edges], batch)]
    if batch.weighted:
        variance = variance / batch.weight[edges]
    return variance[:, None]


def _joined(parts: list[Tensor], dim: int) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=dim)


def _outlier_share(share: Tensor, trusted: Tensor) -> Tensor:
    """Share (e, 1) of outliers among edges like each one."""
    outlier = (1.0 - share.sum(1, keepdim=True)).clamp_min(LEAST_SHARE)
    return outlier * torch.exp(_TRUSTED * trusted)[:, None]


def _background_odds(fit: Tensor, share: Tensor, trusted: Tensor) -> Tensor:
    """Log odds (e, k) that an edge measures an outlier or another group instead of this one."""
    part = share * fit
    others = (part.sum(1, keepdim=True) - part).clamp_min(0.0) + _outlier_share(share, trusted)
    return torch.log(others + _TINY) - torch.log(share)


def _learned_noise(
    fit: Tensor, cosine: Tensor, share: Tensor, batch: GraphBatch
) -> tuple[Tensor, Tensor, Tensor]:
    """EM step: shares (G, k), log σ (G,) and memberships (m, k) from densities (m, k)."""
    shares = share[batch.edge_graph]
    part = shares * fit
    membership = part / (part.sum(1, keepdim=True) + _outlier_share(shares, batch.trusted))
    new = batch.graph_mean(membership).clamp_min(LEAST_SHARE)
    new = new * ((1.0 - LEAST_SHARE) / new.sum(1, keepdim=True)).clamp_max(1.0)
    # R = E cos δ over the inliers, and σ² = -2 log R for wrapped normal noise.
    lost = membership * (1.0 - cosine / fit) * batch.weight[:, None]
    total = batch.graph_mean(torch.stack([lost.sum(1), membership.sum(1)], dim=1))
    mean = (1.0 - total[:, 0] / total[:, 1].clamp_min(_TINY)).clamp(1e-6, 1.0 - 1e-6)
    return new, bounded(0.5 * torch.log(-2.0 * torch.log(mean))), membership
