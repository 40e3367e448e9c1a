"""The cycle inconsistency loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gnnsync.errors import check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.residual import edge_residual, per_replica, wrap


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
    as the released code does with v = 1; the paper has none.
    """

    def __init__(self, variance_weight: float = 0.0) -> None:
        super().__init__()
        self.variance_weight = check_real("variance_weight", variance_weight, 0)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        residual, group = edge_residual(angles, batch)
        return self.from_residual(residual, group, batch, angles.shape[-1])

    def from_residual(self, residual: Tensor, group: Tensor, batch: ReplicaBatch, k: int) -> Tensor:
        """M and g (G, m, T) → (R,)."""
        confidence = 1.0 / (1.0 + residual)
        weighted = batch.offset * confidence
        scale = batch.offset.sum(dim=1, keepdim=True) / weighted.sum(dim=1, keepdim=True)
        reweighted = weighted * scale
        loss = self._triangle_mean(reweighted, group, batch, k)
        if self.variance_weight:
            loss = loss - self.variance_weight * _variance(reweighted, batch)
        return per_replica(loss)

    def _triangle_mean(
        self, reweighted: Tensor, group: Tensor, batch: ReplicaBatch, k: int
    ) -> Tensor:
        triangles = batch.triangles
        g, _, t = reweighted.shape
        sums = triangles.sums(reweighted.reshape(-1, t)).view(g, triangles.count, t)
        inconsistency = wrap(sums).abs()
        if k == 1:
            return (inconsistency * triangles.present).sum(dim=1) / triangles.present.sum(dim=1)
        sides = group.reshape(-1, t)
        first, second, third = (sides.index_select(0, edge) for edge in triangles.edges)
        within = ((first == second) & (second == third)).view(g, triangles.count, t)
        counted = within * triangles.present
        own = first.view(g, triangles.count, t)
        zeros = reweighted.new_zeros(g, k, t)
        total = zeros.scatter_add(1, own, inconsistency * counted)
        number = zeros.scatter_add(1, own, counted)
        return (total / number.clamp_min(1.0)).sum(dim=1) / k

    def extra_repr(self) -> str:
        """Options."""
        return f"variance_weight={self.variance_weight:g}"


def _variance(values: Tensor, batch: ReplicaBatch) -> Tensor:
    """Variance over the real edges of (G, m, T): (G, T)."""
    real = (batch.weight > 0).to(values.dtype)
    mean = (values * real).sum(dim=1, keepdim=True) / batch.num_edges.unsqueeze(-1)
    return (torch.square(values - mean) * real).sum(dim=1) / batch.num_edges
