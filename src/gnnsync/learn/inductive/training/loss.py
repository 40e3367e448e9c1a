"""What the inductive network is trained for: the MSE after every layer, and honest beliefs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from gnnsync.angles import TWO_PI
from gnnsync.errors import check_real
from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.propagation import State

# Added to mean directions, so that the direction of a uniform belief has a gradient.
_NUDGE = 1e-6
# Least density, relative to uniform, that the negative log-likelihood counts.
_LEAST_DENSITY = 1e-4
# Edge probabilities are kept this far from 0 and 1 in the cross-entropy.
_LEAST_PROBABILITY = 1e-5


class Readout(Protocol):
    """The part of the network that reads beliefs off a state."""

    def marginals(self, state: State) -> Tensor:
        """Probabilities (n, k, B) of the bins, relative to the initial angles."""
        ...

    def mean_directions(self, state: State) -> Tensor:
        """Mean (n, k) of e^{ix} under the marginals, relative to the initial angles."""
        ...


class InductiveLoss(nn.Module):
    r"""Supervised loss of every graph, over all layers t = 1..T of the propagation.

    .. math::
        \sum_t w_t \log(\mathrm{MSE}_t + f)
        + c_1 \cdot \mathrm{NLL} + c_2 \cdot \mathrm{BCE},
        \qquad w_t \propto \Bigl(a + (1 - a)\frac{t - 1}{T - 1}\Bigr)^{p}.

    The logarithm gives easy and hard graphs the same say; the floor f is the MSE below which a
    graph counts as solved. NLL is the negative log-likelihood of the true angles under the final
    marginals, BCE the cross-entropy of the final inlier probabilities of the edges. Both make the
    reported confidences calibrated.

    Every term is a mean within each graph. The loss of a batch is the mean over its graphs, so
    that it does not depend on how graphs are divided among batches or devices.

    Args:
        floor: f.
        first: a, weight of the first layer relative to the last before the power.
        power: p.
        nll: c₁.
        bce: c₂.
    """

    def __init__(
        self,
        floor: float = 0.005,
        first: float = 0.1,
        power: float = 1.5,
        nll: float = 0.1,
        bce: float = 0.2,
    ) -> None:
        super().__init__()
        self.floor = check_real("floor", floor, 0, open_low=True)
        self.first = check_real("first", first, 0, 1)
        self.power = check_real("power", power, 0)
        self.nll = check_real("nll", nll, 0)
        self.bce = check_real("bce", bce, 0)

    def forward(
        self, states: Sequence[State], batch: GraphBatch, readout: Readout
    ) -> dict[str, Tensor]:
        """Terms (G,) of every graph by name: `loss`, and its parts `log_mse`, `nll`, `bce`, `mse`.

        Args:
            states: after every layer.
            batch: with true angles and groups.
            readout: the network.
        """
        found = [graph_mse(directions(readout, state), batch) for state in states]
        mse = torch.stack([of_layer[0] for of_layer in found])
        weight = self.layer_weights(len(states), mse.device).to(mse.dtype)
        log_mse = weight @ torch.log(mse.clamp_min(0.0) + self.floor)
        _, matching, agreement = found[-1]
        nll = negative_log_likelihood(
            readout.marginals(states[-1]), batch, matching, agreement.detach()
        )
        bce = inlier_cross_entropy(states[-1], batch)
        total = log_mse + self.nll * nll + self.bce * bce
        return {"loss": total, "log_mse": log_mse, "nll": nll, "bce": bce, "mse": mse[-1].detach()}

    def layer_weights(self, layers: int, device: torch.device | None = None) -> Tensor:
        """Weights (T,) of the layers; their sum is 1. A single layer has weight 1."""
        weight = torch.linspace(self.first, 1.0, layers, device=device) ** self.power
        weight[-1] = 1.0
        return weight / weight.sum()


def directions(readout: Readout, state: State) -> Tensor:
    """Unit mean directions (n, k) relative to the initial angles, with a gradient everywhere."""
    return torch.sgn(readout.mean_directions(state) + _NUDGE)


def group_agreement(direction: Tensor, batch: GraphBatch) -> Tensor:
    """Mean over nodes of e^{i(r_a - t_b)} (G, k, k), estimated groups a by true groups b.

    Args:
        direction: (n, k) unit complex numbers relative to the initial angles.
        batch: with true angles.
    """
    difference = batch.start.to(batch.truth.dtype)[:, :, None] - batch.truth[:, None, :]
    product = direction[:, :, None] * torch.polar(torch.ones_like(difference), difference)
    total = product.new_zeros((batch.num_graphs, *product.shape[1:]))
    total = total.index_add(0, batch.node_graph, product)
    nodes = torch.bincount(batch.node_graph, minlength=batch.num_graphs)
    return total / nodes[:, None, None]


def graph_mse(direction: Tensor, batch: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
    """MSE 4 - 4|mean e^{i(r - t)}| (G,) under the best matching of the groups, and that matching.

    Returns the MSE, the matching (G, k): true group of every estimated one, and the mean
    e^{i(r - t)} (G, k), whose phase is the rotation that separates them.
    """
    agreement = group_agreement(direction, batch)
    length = agreement.abs()
    k = batch.k
    orders = torch.tensor(list(itertools.permutations(range(k))), device=length.device)
    rows = torch.arange(k, device=length.device)
    of_order = length[:, rows, orders].mean(-1)
    best = orders[of_order.argmax(1)]
    graphs = torch.arange(len(best), device=length.device)
    chosen = agreement[graphs[:, None], rows, best]
    mse = (4.0 - 4.0 * chosen.abs()).mean(1)
    return mse, best, chosen


def negative_log_likelihood(
    marginals: Tensor, batch: GraphBatch, matching: Tensor, agreement: Tensor
) -> Tensor:
    """-log density (G,) of the true angles relative to uniform, mean over nodes and groups.

    The density between two bins is interpolated linearly. Each group is rotated as it fits best.

    Args:
        marginals: (n, k, B).
        batch: with true angles.
        matching: (G, k) true group of every estimated one.
        agreement: (G, k) mean e^{i(r - t)}.
    """
    bins = marginals.shape[-1]
    truth = batch.truth.gather(1, matching[batch.node_graph])
    shift = torch.angle(agreement)[batch.node_graph]
    place = (truth - batch.start.to(truth.dtype) + shift) % TWO_PI * (bins / TWO_PI)
    below = place.floor()
    part = place - below
    left = below.long() % bins
    right = (left + 1) % bins
    density = bins * torch.lerp(
        marginals.gather(2, left[..., None])[..., 0],
        marginals.gather(2, right[..., None])[..., 0],
        part,
    )
    loss = -torch.log(density + _LEAST_DENSITY).mean(1)
    return _mean_of_graphs(loss, batch.node_graph, batch.num_graphs)


def inlier_cross_entropy(state: State, batch: GraphBatch) -> Tensor:
    """Cross-entropy (G,) of the inlier probabilities of the edges, mean over each graph's edges."""
    probability = state.membership.sum(1).clamp(_LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    inlier = (batch.group >= 0).to(probability.dtype)
    loss = nn.functional.binary_cross_entropy(probability, inlier, reduction="none")
    return _mean_of_graphs(loss, batch.edge_graph, batch.num_graphs)


def _mean_of_graphs(value: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """Mean (G,) of values over the nodes or edges of each graph."""
    total = value.new_zeros(num_graphs).index_add(0, graph, value)
    return total / torch.bincount(graph, minlength=num_graphs).clamp_min(1)
