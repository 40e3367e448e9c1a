"""DIMPA: directed mixed-path aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gnnsync.errors import check_choice, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.head import HEAD_STARTS, AngleHead, Head, group_scores
from gnnsync.learn.operators import Propagation, evaluate_polynomial, polynomial_adjoint
from gnnsync.learn.replicas import ReplicaDropout, ReplicaLinear

SLICES = ("own", "contiguous")


class DIMPA(Encoder):
    r"""Directed mixed-path aggregation (He, Reinert and Cucuringu, DIGRAC, 2022).

    .. math::
        Z_s = \Bigl(\sum_{h=0}^{H} \omega^s_h A_s^h\Bigr)\,
              \mathrm{ReLU}(X W_{s0})\, W_{s1}, \qquad
        A_s = \tilde D^{-1} (A + \tau I),

    with A the offsets as edge weights, and Z_t the same on :math:`A^\top` with its own weights.
    Source and target are two channels of one computation. Each of the k groups gets e = 2·width
    columns of [Z_s, Z_t]: with `slices="own"` its own `width` source and `width` target columns;
    with `slices="contiguous"` columns e·l to e·(l + 1) for group l, as the paper writes and the
    released code does, so that for k = 2 one group has only source, the other only target columns.
    `head_start` is how the head's vector and bias are drawn, see `AngleHead`.

    Shapes: X (R, n, in) → Z (R, n, k, 2·width).
    """

    def __init__(
        self,
        replicas: int,
        in_features: int,
        groups: int,
        width: int = 8,
        hops: int = 2,
        tau: float = 0.5,
        dropout: float = 0.5,
        slices: str = "own",
        head_start: str = "xavier",
    ) -> None:
        super().__init__()
        self.slices = check_choice("slices", slices, SLICES)
        self.head_start = check_choice("head_start", head_start, HEAD_STARTS)
        self.width = check_integer("width", width, 1)
        self.hops = check_integer("hops", hops, 0)
        self.tau = check_real("tau", tau, 0, open_low=True)
        self.groups, self.embedding = groups, 2 * width
        hidden = groups * width
        self.first = ReplicaLinear(replicas, 2, in_features, hidden)
        self.second = ReplicaLinear(replicas, 2, hidden, hidden)
        self.dropout = ReplicaDropout(dropout)
        self.hop_weight = nn.Parameter(torch.ones(replicas, 2, hops + 1, 1, 1))

    def head(self, replicas: int, groups: int) -> Head:
        """A squashed score, drawn as `head_start` says."""
        return AngleHead(replicas, groups, self.embedding, start=self.head_start)

    def propagation(self, batch: ReplicaBatch) -> Propagation:
        """A_s and A_t of every graph."""
        return batch.operator(("dimpa", self.tau), self._build)

    def _build(self, batch: ReplicaBatch) -> Propagation:
        sides = [source_target_matrices(graph, self.tau) for graph in batch.graphs]
        return Propagation(sides, batch.trials, batch.dtype).to(batch.device)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier layers; all hop weights 1."""
        self.first.reset_parameters(generators)
        self.second.reset_parameters(generators)
        nn.init.ones_(self.hop_weight)

    def forward(self, x: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in) → (R, n, k, 2·width)."""
        replicas, n, _ = x.shape
        hidden = self.dropout(torch.relu(self.first(x.unsqueeze(1).expand(-1, 2, -1, -1))))
        # ω_h (A^h hidden) W₁ = A^h (hidden · ω_h W₁): the hop weights act on small matrices, and
        # one product gives the terms of all hops side by side.
        weight = self.hop_weight * self.second.weight.unsqueeze(2)
        wide = weight.transpose(2, 3).flatten(3)
        terms = torch.bmm(hidden.flatten(0, 1), wide.flatten(0, 1)).view(replicas, 2, n, -1)
        mixed = self.propagation(batch).polynomial(terms, self.hops + 1)
        if self._contiguous:
            return mixed.transpose(2, 3).reshape(replicas, n, self.groups, self.embedding)
        mixed = mixed.unflatten(-1, (self.groups, self.width)).permute(0, 1, 3, 4, 2, 5)
        return mixed.reshape(replicas, n, self.groups, self.embedding)

    def scores(self, x: Tensor, vector: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, in), (R, k, 2·width, 1) → (R, n, k)."""
        if self._contiguous:
            return group_scores(self(x, batch), vector)
        shape = torch.Size((len(x), 2, x.shape[1], self.groups * self.width))
        mask = self.dropout.mask(shape, x.dtype, x.device)
        return _MixedPathScores.apply(
            x,
            self.first.weight,
            self.second.weight,
            self.hop_weight,
            vector,
            mask,
            self.propagation(batch),
        )

    @property
    def _contiguous(self) -> bool:
        """Whether columns are sliced without regard to source and target; k = 1 has one slice."""
        return self.slices == "contiguous" and self.groups > 1

    def extra_repr(self) -> str:
        """Parameters."""
        return f"width={self.width}, hops={self.hops}, tau={self.tau:g}, slices={self.slices}"


class _MixedPathScores(torch.autograd.Function):
    r"""Σ over sides s and hops h of A_s^h · hidden_s · ω_sh v_s, with v_s = W_s1 a_s.

    All after the hidden layer is linear, so the head's vector a is applied before the graph: one
    column per group travels along the edges instead of `width`, and source and target are added
    at the end. The backward pass is written out, since at n = 360 autograd costs more than the
    arithmetic.

    Shapes: x (R, n, f), W₀ (R, 2, f, kw), W₁ (R, 2, kw, kw), ω (R, 2, H+1, 1, 1),
    a (R, k, 2w, 1), mask (R, 2, n, kw) or None → (R, n, k).
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        first: Tensor,
        second: Tensor,
        hop_weight: Tensor,
        vector: Tensor,
        mask: Tensor | None,
        propagation: Propagation,
    ) -> Tensor:
        replicas, n, _ = x.shape
        k, terms = vector.shape[1], hop_weight.shape[2]
        both = x.unsqueeze(1).expand(-1, 2, -1, -1).flatten(0, 1)
        hidden = torch.bmm(both, first.flatten(0, 1)).relu_()
        if mask is not None:
            hidden.mul_(mask.flatten(0, 1))
        sides, split = _by_side(vector), second.unflatten(-1, (k, -1))
        v = (split * sides).sum(-1)
        omega = hop_weight.view(replicas, 2, 1, terms, 1)
        coefficient = (omega * v.unsqueeze(3)).view(2 * replicas, -1, terms * k)
        columns = torch.bmm(hidden, coefficient).view(replicas, 2, n, terms * k)
        total = evaluate_polynomial(propagation, columns, terms)
        ctx.save_for_backward(both, first, hidden, coefficient, sides, split, v, omega)
        ctx.mask, ctx.propagation = mask, propagation
        return total.sum(2).flatten(0, 1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        both, first, hidden, coefficient, sides, split, v, omega = ctx.saved_tensors
        replicas, terms = len(v), omega.shape[3]
        both_sides = grads[0].unsqueeze(1).expand(-1, 2, -1, -1)
        upper = polynomial_adjoint(ctx.propagation, both_sides, terms).flatten(0, 1)
        by_coefficient = torch.bmm(hidden.transpose(1, 2), upper).view(*v.shape[:3], terms, -1)
        by_hidden = torch.bmm(upper, coefficient.transpose(1, 2))
        if ctx.mask is not None:
            by_hidden.mul_(ctx.mask.flatten(0, 1))
        by_hidden.mul_(hidden > 0)
        by_first = torch.bmm(both.transpose(1, 2), by_hidden).view(first.shape)
        by_omega = (by_coefficient * v.unsqueeze(3)).sum((2, 4)).view(replicas, 2, terms, 1, 1)
        by_v = (by_coefficient * omega).sum(3).unsqueeze(-1)
        by_second = (by_v * sides).flatten(3)
        by_vector = (by_v * split).sum(2).transpose(1, 2).reshape(replicas, v.shape[3], -1, 1)
        by_x = None
        if ctx.needs_input_grad[0]:
            by_both = torch.bmm(by_hidden, first.flatten(0, 1).transpose(1, 2))
            by_x = by_both.unflatten(0, (replicas, 2)).sum(1)
        return by_x, by_first, by_second, by_omega, by_vector, None, None


def _by_side(vector: Tensor) -> Tensor:
    """a (R, k, 2w, 1) → a_s (R, 2, 1, k, w)."""
    replicas, k, e, _ = vector.shape
    return vector.view(replicas, k, 2, e // 2).transpose(1, 2).unsqueeze(2)


def source_target_matrices(graph: MeasurementGraph, tau: float) -> tuple[Any, Any]:
    """Row-normalised source and target matrices: rows of A + τI, and of Aᵀ + τI, sum to 1."""
    n = graph.num_nodes
    adjacency = sp.csr_array((graph.offset, (graph.src, graph.dst)), shape=(n, n))
    loop = tau * sp.eye_array(n, format="csr")
    sides = []
    for matrix in (adjacency, adjacency.T):
        with_loop = sp.csr_array(matrix + loop)
        scale = sp.diags_array(1.0 / np.asarray(with_loop.sum(axis=1)).ravel())
        sides.append(scale @ with_loop)
    return sides[0], sides[1]
