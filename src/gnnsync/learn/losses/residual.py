"""Residuals of the measurements under estimated angles."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnnsync.angles import TWO_PI
from gnnsync.learn.batch import ReplicaBatch


def wrap(angle: Tensor) -> Tensor:
    """Reduce to [-π, π]; the gradient is that of the identity."""
    turns = torch.round(angle.detach() * (1.0 / TWO_PI))
    return torch.sub(angle, turns, alpha=TWO_PI)


def edge_residual(angles: Tensor, batch: ReplicaBatch) -> tuple[Tensor, Tensor]:
    """M and g: the least residual of each edge over the k groups, and the group that has it.

    M_ij = min over l of min((T⁽ˡ⁾ - A) mod 2π, (A - T⁽ˡ⁾) mod 2π), g its argmin. For angles
    (R, n, k) both are (G, m, T).
    """
    g, m, _ = batch.offset.shape
    incidence = batch.incidence
    residual = _AbsoluteResidual.apply(
        batch.node_rows(angles),
        batch.offset.view(-1, 1),
        incidence.forward_matrix,
        incidence.backward_matrix,
    ).view(g, m, batch.trials, -1)
    if residual.shape[-1] == 1:
        least = residual.squeeze(-1)
        return least, torch.zeros(least.shape, dtype=torch.int64, device=least.device)
    minimum = residual.min(dim=-1)
    return minimum.values, minimum.indices


def per_replica(values: Tensor) -> Tensor:
    """(G, T) → (R,)."""
    return values.reshape(-1)


class _AbsoluteResidual(torch.autograd.Function):
    """|wrap(D y - a)| for rows y (G·n, T·k) and the incidence matrix D, in one node.

    Its gradient is that of the absolute value: the sign of the wrapped residual.
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, offset: Tensor, matrix: Tensor, transpose: Tensor
    ) -> Tensor:
        signed = (matrix @ rows).sub_(offset)
        signed.sub_(torch.round(signed * (1.0 / TWO_PI)), alpha=TWO_PI)
        ctx.save_for_backward(signed)
        ctx.transpose = transpose
        return signed.abs()

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor, None, None, None]:
        (signed,) = ctx.saved_tensors
        return ctx.transpose @ (signed.sgn() * grad[0]), None, None, None
