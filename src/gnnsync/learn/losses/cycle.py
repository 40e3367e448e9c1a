"""The cycle inconsistency loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnnsync.angles import TWO_PI
from gnnsync.errors import check_choice, check_integer, check_real
from gnnsync.learn.batch import ReplicaBatch, Walks
from gnnsync.learn.losses.residual import replica_residual

AVERAGES = ("group", "all")
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

    Two options are slips of the released code. `average="all"` divides by the number |T| of all
    triangles instead of |T⁽ˡ⁾|. `variance_weight` v subtracts v times the mean over the groups of
    the variance of the entries of :math:`\tilde A^{(l)}`, both directions of every edge; the
    released code has v = 1. `max_triangles` draws that many of a graph's triangles, uniformly and
    once, where it has more: the means over them are unbiased.
    """

    def __init__(
        self,
        variance_weight: float = 0.0,
        max_triangles: int | None = None,
        average: str = "group",
    ) -> None:
        super().__init__()
        self.average = check_choice("average", average, AVERAGES)
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
        loss = _TriangleMean.apply(reweighted, group, walks, k, self.average == "all")
        if self.variance_weight:
            loss = loss - self.variance_weight * _group_variance(reweighted, group, batch, k)
        return loss

    def extra_repr(self) -> str:
        """Options."""
        return (
            f"variance_weight={self.variance_weight:g}, max_triangles={self.max_triangles}, "
            f"average={self.average}"
        )


class _TriangleMean(torch.autograd.Function):
    """1/k Σ_l of the mean of |wrap(S)| over the triangles within group l, per replica.

    With `over_all` the sum over the triangles within group l is divided by the number of all.

    S is the signed sum of V (R, m) around a triangle. Triangles whose edges differ in group are
    dropped before anything is computed of them. A walk addresses [V, -V], so that an edge crossed
    against its direction is another entry and signs cost nothing.
    """

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, group: Tensor, walks: Walks, k: int, over_all: bool
    ) -> Tensor:
        sides: Sequence[Tensor] = walks.sides
        code = walks.owner
        if k > 1:
            # Bytes: the three gathers are bound by memory, and took 0.9 ms instead of 1.45 ms for
            # 264 thousand triangles.
            label = group.view(-1).to(torch.uint8 if k <= _BYTE else torch.int64).repeat(2)
            first, second, third = (label.index_select(0, side) for side in sides)
            *sides, owner = _columns_where((first == second) & (first == third), walks.rows)
            code = owner.long() * k + label.index_select(0, sides[0])
        if over_all:
            number = torch.bincount(walks.owner, minlength=len(values)).repeat_interleave(k)
        else:
            number = torch.bincount(code, minlength=len(values) * k)
        number.clamp_(min=1)
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
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        sums, code, factor, *sides = ctx.saved_tensors
        slope = (factor.view(-1, ctx.k) * grads[0].unsqueeze(1)).flatten()
        by_sum = sums.sgn().mul_(slope.index_select(0, code))
        table = by_sum.new_zeros(2 * ctx.shape.numel())
        for side in sides:
            table.index_add_(0, side, by_sum)
        along, against = table.view(2, *ctx.shape)
        return along - against, None, None, None, None


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


def _group_variance(values: Tensor, group: Tensor, batch: ReplicaBatch, k: int) -> Tensor:
    """Mean over k of the variance of x mod 2π and -x mod 2π, x the values (R, m) of a group: (R,).

    The two mirror each other at π, so that π is their mean. A group without edges adds 0.
    """
    real = (batch.weight > 0).to(values.dtype).transpose(1, 2).expand(-1, batch.trials, -1)
    around = values - TWO_PI * torch.floor(values.detach() / TWO_PI) - torch.pi
    square = 2.0 * around.square() * real.flatten(0, 1)
    code = torch.arange(len(values), device=values.device).unsqueeze(1) * k + group
    zeros = values.new_zeros(len(values) * k)
    total = zeros.index_add(0, code.flatten(), square.flatten())
    count = zeros.index_add(0, code.flatten(), 2.0 * real.flatten())
    return (total / (count - 1.0).clamp_min(1.0)).view(-1, k).mean(dim=1)
