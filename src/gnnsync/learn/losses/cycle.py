"""The cycle inconsistency loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnnsync.angles import TWO_PI
from gnnsync.errors import check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch, Walks
from gnnsync.learn.losses.residual import replica_residual

# Groups that a byte can number.
_BYTE = 256


class CycleLoss(nn.Module):
    r"""Inconsistency of the triangles of the confidence-reweighted offsets (eq. 4).

    .. math::
        C = \frac{1}{1+M}, \quad
        \tilde C = C\,\frac{\sum A}{\sum A \odot C}, \quad
        \mathcal{L} = \frac1k \sum_{l=1}^k \frac{1}{|T^{(l)}|}
        \sum_{T^{(l)}} \min(S \bmod 2\pi, -S \bmod 2\pi),

    where S is the signed sum of :math:`A \odot \tilde C` around a triangle, and T⁽ˡ⁾ holds the
    triangles whose three edges have least residual in group l. A group without a triangle adds 0.

    `variance_weight` v subtracts v times the variance of the entries of :math:`A \odot \tilde C`,
    as the released code does with v = 1; the paper has none. `max_triangles` draws that many of a
    graph's triangles, uniformly and once, where it has more: the means over them are unbiased.
    """

    def __init__(self, variance_weight: float = 0.0, max_triangles: int | None = None) -> None:
        super().__init__()
        self.variance_weight = check_real("variance_weight", variance_weight, 0)
        if max_triangles is not None:
            check_integer("max_triangles", max_triangles, 1)
        self.max_triangles = max_triangles

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        residual, group = replica_residual(angles, batch)
        return self.from_residual(residual, group, batch, angles.shape[-1])

    def from_residual(self, residual: Tensor, group: Tensor, batch: ReplicaBatch, k: int) -> Tensor:
        """M and g (R, m) → (R,)."""
        grid = residual.view(batch.num_graphs, batch.trials, -1)
        weighted = batch.offset_row / (1.0 + grid)
        scale = batch.offset_row.sum(dim=-1) / weighted.sum(dim=-1)
        reweighted = (weighted * scale.unsqueeze(-1)).flatten(0, 1)
        walks = batch.triangles_up_to(self.max_triangles).walks(batch)
        loss = _TriangleMean.apply(reweighted, group, walks, k)
        if self.variance_weight:
            loss = loss - self.variance_weight * _variance(reweighted, batch)
        return loss

    def extra_repr(self) -> str:
        """Options."""
        return f"variance_weight={self.variance_weight:g}, max_triangles={self.max_triangles}"


class _TriangleMean(torch.autograd.Function):
    """1/k Σ_l of the mean of |wrap(S)| over the triangles within group l, per replica.

    S is the signed sum of V (R, m) around a triangle. Triangles whose edges differ in group are
    dropped before anything is computed of them. A walk addresses [V, -V], so that an edge crossed
    against its direction is another entry and signs cost nothing.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, group: Tensor, walks: Walks, k: int) -> Tensor:
        sides: Sequence[Tensor] = walks.sides
        code = walks.owner
        if k > 1:
            # Bytes: the three gathers are bound by memory, and took 0.9 ms instead of 1.45 ms for
            # 264 thousand triangles.
            label = group.view(-1).to(torch.uint8 if k <= _BYTE else torch.int64).repeat(2)
            first, second, third = (label.index_select(0, side) for side in sides)
            *sides, owner = _columns_where((first == second) & (first == third), walks.rows)
            code = owner.long() * k + label.index_select(0, sides[0])
        number = torch.bincount(code, minlength=len(values) * k).clamp_(min=1)
        table = torch.cat([values, -values]).view(-1)
        one, two, three = (table.index_select(0, side) for side in sides)
        sums = one.add_(two).add_(three)
        sums.sub_(torch.round(sums * (1.0 / TWO_PI)), alpha=TWO_PI)
        factor = 1.0 / (k * number.to(values.dtype))
        total = values.new_zeros(len(number)).index_add_(0, code, sums.abs())
        ctx.save_for_backward(sums, code, factor, *sides)
        ctx.shape, ctx.k = values.shape, k
        return (total * factor).view(-1, k).sum(dim=1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        sums, code, factor, *sides = ctx.saved_tensors
        slope = (factor.view(-1, ctx.k) * grads[0].unsqueeze(1)).flatten()
        by_sum = sums.sgn().mul_(slope.index_select(0, code))
        table = by_sum.new_zeros(2 * ctx.shape.numel())
        for side in sides:
            table.index_add_(0, side, by_sum)
        along, against = table.view(2, *ctx.shape)
        return along - against, None, None, None


def _columns_where(mask: Tensor, rows: Tensor) -> Sequence[Tensor]:
    """The columns of the rows (L, c) where a mask (L,) holds, one tensor each.

    Rows, since one of them is a single access to memory; on a CPU by NumPy, which takes half the
    time of torch for finding the places and for fetching from them.
    """
    if mask.is_cpu:
        found = torch.from_numpy(np.take(rows.numpy(), np.flatnonzero(mask.numpy()), axis=0))
    else:
        found = rows[mask]
    return found.t().contiguous().unbind()


def _variance(values: Tensor, batch: ReplicaBatch) -> Tensor:
    """Variance over the real edges of (R, m): (R,)."""
    grid = values.view(batch.num_graphs, batch.trials, -1)
    real = (batch.weight > 0).to(values.dtype).transpose(1, 2)
    count = batch.num_edges.unsqueeze(-1)
    mean = (grid * real).sum(dim=2, keepdim=True) / count
    return ((torch.square(grid - mean) * real).sum(dim=2, keepdim=True) / count).flatten()
