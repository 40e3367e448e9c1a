"""The upset loss: how badly the angles explain the offsets."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gnnsync.errors import check_choice
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.residual import mean_residual, replica_residual

NORMS = ("frobenius", "mean")


class UpsetLoss(nn.Module):
    r"""Residual of all measurements, M as in `replica_residual`.

    .. math:: \mathcal{L} = \|M\|_F / t \quad (\texttt{frobenius}, \text{eq. 1}), \qquad
              \mathcal{L} = \|M\|_1 / t \quad (\texttt{mean})

    t is the number of edges. Edge weights, scaled to mean 1, weigh the squares or the values.
    """

    def __init__(self, norm: str = "mean") -> None:
        super().__init__()
        self.norm = check_choice("norm", norm, NORMS)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        if self.norm == "mean":
            return mean_residual(angles, batch)
        return self.from_residual(replica_residual(angles, batch)[0], batch)

    def from_residual(self, residual: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, m) → (R,)."""
        if self.norm == "mean":
            return batch.edge_mean(residual)
        square = batch.edge_mean(residual * residual) / batch.edge_count
        # The root has no derivative at 0, where the fit is perfect and no gradient is wanted.
        return square.clamp_min(torch.finfo(square.dtype).tiny).sqrt()

    def extra_repr(self) -> str:
        """Norm."""
        return f"norm={self.norm}"
