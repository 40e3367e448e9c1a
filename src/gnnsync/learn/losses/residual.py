"""Residuals of the measurements under estimated angles."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnnsync.angles import TWO_PI
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.operators import product_by_columns


def replica_residual(angles: Tensor, batch: ReplicaBatch) -> tuple[Tensor, Tensor]:
    """M and g: the least residual of each edge over the k groups, and the group that has it.

    M_ij = min over l of min((T⁽ˡ⁾ - A) mod 2π, (A - T⁽ˡ⁾) mod 2π), g its argmin (the first of
    equals). For angles (R, n, k) both are (R, m); g is int8.
    """
    residual, group = _LeastResidual.apply(angles, batch)
    return residual, group


def mean_residual(angles: Tensor, batch: ReplicaBatch) -> Tensor:
    """Weighted mean of M over the edges of each replica: (R, n, k) → (R,)."""
    mean: Tensor = _MeanResidual.apply(angles, batch)
    return mean


class _LeastResidual(torch.autograd.Function):
    """`replica_residual` as one node instead of a dozen.

    At n = 360 a node costs more than its arithmetic. The gradient is that of the absolute value,
    the sign of the wrapped residual, in the group that is least.
    """

    @staticmethod
    def forward(ctx: Any, angles: Tensor, batch: ReplicaBatch) -> tuple[Tensor, Tensor]:
        signed = _signed(angles, batch)
        least, group = _least(signed)
        ctx.mark_non_differentiable(group)
        ctx.save_for_backward(signed, group)
        ctx.batch = batch
        return least, group

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        signed, group = ctx.saved_tensors
        return _at_nodes(signed, group, grads[0], ctx.batch), None


class _MeanResidual(torch.autograd.Function):
    """`mean_residual` as one node, for the same reason."""

    @staticmethod
    def forward(ctx: Any, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        signed = _signed(angles, batch)
        least, group = _least(signed)
        ctx.save_for_backward(signed, group)
        ctx.batch = batch
        return batch.edge_mean(least)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        signed, group = ctx.saved_tensors
        batch: ReplicaBatch = ctx.batch
        per_edge = grads[0].view(batch.num_graphs, -1, 1) * batch.mean_weight_row
        return _at_nodes(signed, group, per_edge.flatten(0, 1), batch), None


def _signed(angles: Tensor, batch: ReplicaBatch) -> Tensor:
    """wrap(y_src - y_dst - a), (R, n, k) → (R, k, m).

    Every group of every replica is one contiguous column of edges, over which gathering, comparing
    and the transposed incidence matrix are several times faster than over rows.
    """
    replicas, n, k = angles.shape
    columns = angles.transpose(1, 2).reshape(batch.num_graphs, -1, n)
    src, dst = (end.expand(-1, columns.shape[1], -1) for end in batch.own_ends)
    signed = torch.gather(columns, 2, src).sub_(torch.gather(columns, 2, dst))
    signed.sub_(batch.offset_row)
    signed.sub_(torch.round(signed * (1.0 / TWO_PI)), alpha=TWO_PI)
    return signed.view(replicas, k, -1)


def _least(signed: Tensor) -> tuple[Tensor, Tensor]:
    """Least |signed| over the groups, and the group that has it: (R, k, m) → (R, m), int8."""
    least, *others = signed.abs().unbind(dim=1)
    group = torch.zeros(least.shape, dtype=torch.int8, device=least.device)
    # `min(dim)` with its indices takes ten times as long as these comparisons.
    for label, other in enumerate(others, start=1):
        group.masked_fill_(other < least, label)
        least = torch.minimum(least, other)
    return least, group


def _at_nodes(signed: Tensor, group: Tensor, by_edge: Tensor, batch: ReplicaBatch) -> Tensor:
    """Gradient with respect to the angles (R, n, k), given that with respect to M (R, m)."""
    replicas, k, m = signed.shape
    slope = signed.sgn().mul_(by_edge.unsqueeze(1))
    if k > 1:
        labels = torch.arange(k, dtype=torch.int8, device=group.device).view(-1, 1)
        slope.mul_(group.unsqueeze(1) == labels)
    shape = (batch.num_graphs, batch.trials * k, -1)
    columns = slope.view(*shape[:2], m).transpose(0, 1).reshape(shape[1], -1)
    found = product_by_columns(batch.divergence, columns)
    by_graph = found.view(shape[1], batch.num_graphs, -1).transpose(0, 1)
    return by_graph.reshape(replicas, k, -1).transpose(1, 2)
