"""Unrolled belief propagation on the circle."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor, nn

from gnnsync.angles import TWO_PI
from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import edge_difference, gather_at
from gnnsync.learn.steps.base import Steps

# Messages are densities relative to uniform; never 0, so that their logarithms exist.
_LEAST_BACKGROUND = 1e-3
# A belief without direction (of a node without edges) leaves the angle where it is.
_STAY = 1e-4
# Concentration of the belief of a node whose angle is known.
_CERTAIN = 200.0


class BeliefSteps(Steps):
    r"""Γ sweeps of sum-product message passing; the mean directions of the beliefs are the angles.

    A message is a density over B bins of the circle, relative to the receiving node's angle before
    the steps; it crosses an edge by its residual r and is blurred by the noise:

    .. math::
        μ_{j \to i} = c + (1 - c)\, \bigl(b_{j \setminus i} * N_{σ_γ}\bigr)(\cdot + r), \qquad
        b_{j \setminus i} \propto \prod_{l \ne i} μ_{l \to j},

    where c is the probability that the edge measures something else: an outlier (probability η_γ)
    or, for k > 1, another group as the groups explain the edge after the last sweep. The
    convolution is a product of Fourier coefficients. σ and η are learned per sweep and replica; σ
    starts falling geometrically, which sharpens the messages in stages. `gnnsync.methods.Belief` is
    the classical peer, with more sweeps and noise from EM. The parts that touch edges cost O(m B
    log B).

    Args:
        replicas: R.
        count: Γ.
        bins: B, even.
        sigma: first σ, radians.
        last_sigma: last σ; bins resolve it from 2π/B on.
        eta: η at the start.
        concentration: of the von Mises densities about the angles that the first messages carry.
        damping: fraction of the old message that stays in the new one.
        trainable: learn σ and η.
        in_training: False takes the steps only after training.
    """

    order: Tensor
    grid: Tensor

    def __init__(
        self,
        replicas: int,
        count: int = 10,
        bins: int = 32,
        sigma: float = 0.7,
        last_sigma: float = 0.2,
        eta: float = 0.5,
        concentration: float = 2.0,
        damping: float = 0.3,
        trainable: bool = True,
        in_training: bool = True,
    ) -> None:
        super().__init__()
        self.count = check_integer("count", count, 1)
        self.bins = 2 * (check_integer("bins", bins, 8) // 2)
        self.sigma = check_real("sigma", sigma, 0, open_low=True)
        self.last_sigma = check_real("last_sigma", last_sigma, 0, self.sigma, open_low=True)
        self.eta = check_real("eta", eta, 0, 1, open_low=True, open_high=True)
        self.concentration = check_real("concentration", concentration, 0)
        self.damping = check_real("damping", damping, 0, 1, open_high=True)
        self.in_training = check_bool("in_training", in_training)
        learned = check_bool("trainable", trainable)
        shape = (replicas, self.count)
        self.log_sigma = nn.Parameter(torch.empty(shape), requires_grad=learned)
        self.logit_eta = nn.Parameter(torch.empty(shape), requires_grad=learned)
        grid = TWO_PI * torch.arange(self.bins, dtype=torch.float64) / self.bins
        buffers = {
            "grid": grid,
            "order": torch.arange(self.bins // 2 + 1, dtype=torch.float64),
        }
        for name, value in buffers.items():
            self.register_buffer(name, value, persistent=False)
        self.reset_parameters([])

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """σ falling from `sigma` to `last_sigma`, η at its starting value."""
        fall = torch.linspace(log(self.sigma), log(self.last_sigma), self.count)
        with torch.no_grad():
            self.log_sigma.copy_(fall.expand_as(self.log_sigma))
            self.logit_eta.fill_(log(self.eta / (1.0 - self.eta)))

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R, n, k)."""
        k = angles.shape[-1]
        angles = self.hold(angles, batch)
        certain = self._certain(batch)
        residual = edge_difference(angles, batch).unsqueeze(-1)
        order, grid = (value.to(angles.dtype) for value in (self.order, self.grid))
        turn = residual * order
        turn = torch.polar(torch.ones_like(turn), turn)
        # A message to the source moves by -r, one to the destination by +r.
        turns = torch.stack([turn, turn.conj()])
        first = torch.softmax(self.concentration * (grid.cos() - 1.0), dim=0) * self.bins
        cavity = first.expand(2, *residual.shape[:-1], self.bins)
        messages: Tensor | None = None
        # An edge of weight w has 1/w of the variance; padding has weight 0 and no effect.
        weight = batch.weight[..., None, None]
        real = weight > 0
        scale = torch.where(real, weight, 1.0).rsqrt()
        for step in range(self.count):
            sigma = torch.exp(self.log_sigma[:, step]).view(_per_replica(batch)) * scale
            carried = self._carried(cavity, turns, sigma * order)
            if k > 1 and messages is not None:
                background = _background(carried, cavity, self._eta(step, batch))
            else:
                # Other groups, of which nothing is known yet, count as outliers.
                background = 1.0 - (1.0 - self._eta(step, batch)) / k
            new = 1.0 + real * (1.0 - background) * (carried - 1.0)
            messages = new if messages is None else torch.lerp(new, messages, self.damping)
            belief = self._log_belief(messages, batch)
            if certain is not None:
                belief = torch.where(certain, _CERTAIN * (grid.cos() - 1.0), belief)
            cavity = self._cavity(belief, messages, batch)
        assert messages is not None
        probability = torch.softmax(belief, dim=-1)
        cos, sin = ((probability * wave).sum(dim=-1) for wave in (grid.cos(), grid.sin()))
        moved = angles + batch.replica_nodes(torch.atan2(sin, cos + _STAY).flatten(1))
        return self.hold(moved, batch)

    def _certain(self, batch: ReplicaBatch) -> Tensor | None:
        """Nodes (N, T, k, 1) whose angles are known, and believed to be where they are."""
        if batch.known is None:
            return None
        rows = batch.node_rows(torch.isfinite(batch.known))
        return rows.view(len(rows), batch.trials, -1, 1)

    def _eta(self, step: int, batch: ReplicaBatch) -> Tensor:
        eta = torch.sigmoid(self.logit_eta[:, step]).view(_per_replica(batch))
        return eta.clamp(_LEAST_BACKGROUND, 1.0 - _LEAST_BACKGROUND)

    def _carried(self, cavity: Tensor, turns: Tensor, width: Tensor) -> Tensor:
        """Densities (2, G, m, T, k, B) moved along their edges and blurred."""
        spectrum = torch.fft.rfft(cavity, dim=-1) * turns
        blurred = spectrum * torch.exp(-0.5 * width.square())
        return torch.fft.irfft(blurred, n=self.bins, dim=-1).clamp_min(0.0)

    def _log_belief(self, messages: Tensor, batch: ReplicaBatch) -> Tensor:
        """Log beliefs (N, T, k, B) of the nodes."""
        to_src, to_dst = messages.log().unbind()
        src, dst = batch.ends
        rows = gather_at(to_src, src, batch) + gather_at(to_dst, dst, batch)
        return rows.view(-1, batch.trials, messages.shape[-2], self.bins)

    def _cavity(self, belief: Tensor, messages: Tensor, batch: ReplicaBatch) -> Tensor:
        """What the far end believes without the message across the same edge."""
        src, dst = batch.ends
        far = torch.stack(
            [belief.index_select(0, end).view(messages.shape[1:]) for end in (dst, src)]
        )
        return torch.softmax(far - messages.flip(0).log(), dim=-1) * self.bins

    def extra_repr(self) -> str:
        """Parameters."""
        return (
            f"count={self.count}, bins={self.bins}, sigma={self.sigma:g}, "
            f"last_sigma={self.last_sigma:g}, in_training={self.in_training}"
        )


def _per_replica(batch: ReplicaBatch) -> tuple[int, ...]:
    """Shape of one number per replica beside messages: (G, 1, T, 1, 1)."""
    return batch.num_graphs, 1, batch.trials, 1, 1


def _background(carried: Tensor, cavity: Tensor, eta: Tensor) -> Tensor:
    """c (G, m, T, k, 1): an outlier or another group, against this group, as the groups fit now.

    How well set l explains an edge is the overlap of what arrives at one end with what that end
    believes without it: the cavity of the other direction.
    """
    fit = (carried[0] * cavity[1]).mean(dim=-1, keepdim=True)
    per_group = (1.0 - eta) / fit.shape[-2]
    others = eta + per_group * (fit.sum(dim=-2, keepdim=True) - fit)
    return (others / (others + per_group)).clamp(_LEAST_BACKGROUND, 1.0 - _LEAST_BACKGROUND)
