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
        weight = triangles.share if k == 1 else _triangle_weight(group, batch, k)
        return (wrap(sums).abs() * weight).sum(dim=1)

    def extra_repr(self) -> str:
        """Options."""
        return f"variance_weight={self.variance_weight:g}"


@torch.no_grad()
def _triangle_weight(group: Tensor, batch: ReplicaBatch, k: int) -> Tensor:
    """1 / (k·|T⁽ˡ⁾|) for a triangle within group l, 0 for others, from g (G, m, T): (G, t, T)."""
    triangles = batch.triangles
    columns = []
    # Selecting 16-bit numbers from a vector is several times faster than 64-bit ones from columns.
    for own in group.to(torch.int16).flatten(0, 1).unbind(dim=-1):
        first, second, third = (own.index_select(0, edge) for edge in triangles.edges)
        within = (first == second) & (second == third) & triangles.real
        weight = torch.zeros_like(triangles.share[..., 0])
        for label in range(k):
            member = ((first == label) & within).to(weight.dtype).view(weight.shape)
            number = member.sum(dim=1, keepdim=True).clamp_min_(1.0)
            weight.addcdiv_(member, number, value=1.0 / k)
        columns.append(weight)
    return torch.stack(columns, dim=-1)


def _variance(values: Tensor, batch: ReplicaBatch) -> Tensor:
    """Variance over the real edges of (G, m, T): (G, T)."""
    real = (batch.weight > 0).to(values.dtype)
    mean = (values * real).sum(dim=1, keepdim=True) / batch.num_edges.unsqueeze(-1)
    return (torch.square(values - mean) * real).sum(dim=1) / batch.num_edges
