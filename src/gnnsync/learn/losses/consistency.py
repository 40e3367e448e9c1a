"""A cycle loss that does not depend on how edges are oriented."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gnnsync.errors import check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.edges import edge_difference


class ConsistencyLoss(nn.Module):
    r"""Share of the triangles' consistency that the angles leave unexplained.

    .. math::
        q_t = e^{κ(\cos S_t - 1)} - e^{-κ} I_0(κ), \qquad
        W_t = 1 - \prod_l \Bigl(1 - \prod_{e \in t} c_{e,l}\Bigr), \qquad
        c_{e,l} = \tfrac12 (1 + \cos r_{e,l}), \qquad
        \mathcal{L} = 1 - \frac{\sum_t W_t q_t}{\sum_t \max(q_t, 0)},

    where S_t is the signed sum of the raw offsets around triangle t, κ = 1/`tolerance`², and r the
    residual of an edge under group l. The paper's cycle loss scales each offset by its confidence,
    so that an exact triangle whose offsets sum to 2π rather than 0 becomes inconsistent, and the
    value changes when an edge is stored the other way round. Here the sums are left alone and the
    *triangles* are weighted. q has mean 0 over random offsets: explaining a triangle that closes
    is rewarded, one that does not is penalised, and chance is worth nothing. W_t is the
    confidence that some group explains the whole triangle, so that groups gain by explaining
    different ones.

    Args:
        tolerance: how far from closing, in radians, a triangle still counts as consistent.
    """

    def __init__(self, tolerance: float = 0.3) -> None:
        super().__init__()
        self.tolerance = check_real("tolerance", tolerance, 0, open_low=True)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        excess = self.excess(batch)
        confidence = 0.5 * (1.0 + edge_difference(angles, batch).cos())
        flat = confidence.flatten(0, 1)
        first, second, third = (flat.index_select(0, edge) for edge in batch.triangles.edges)
        explained = 1.0 - torch.prod(1.0 - first * second * third, dim=-1)
        explained = explained.view(batch.num_graphs, -1, batch.trials)
        possible = excess.clamp_min(0.0).sum(dim=1)
        # Where no triangle closes there is nothing to explain, and only penalties are left.
        possible = torch.where(possible > 0, possible, excess.abs().sum(dim=1))
        return (1.0 - (excess * explained).sum(dim=1) / possible).flatten()

    def excess(self, batch: ReplicaBatch) -> Tensor:
        """q (G, t, 1), 0 for padding; constant."""
        triangles = batch.triangles
        sums = triangles.sums(batch.offset.view(-1, 1)).view(batch.num_graphs, -1, 1)
        kappa = torch.tensor(self.tolerance**-2, dtype=sums.dtype, device=sums.device)
        excess = torch.exp(kappa * (sums.cos() - 1.0)) - torch.special.i0e(kappa)
        return excess * (triangles.mean_weight > 0)

    def extra_repr(self) -> str:
        """Parameters."""
        return f"tolerance={self.tolerance:g}"
