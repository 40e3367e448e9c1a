"""Combinations of the upset and the cycle loss."""

from __future__ import annotations

from torch import Tensor, nn

from gnnsync.errors import check_real
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.cycle import CycleLoss
from gnnsync.learn.losses.residual import replica_residual
from gnnsync.learn.losses.upset import UpsetLoss


class LinearLoss(nn.Module):
    r"""Cycle loss plus τ times the upset loss; τ = 1 is the paper's sum.

    .. math:: \mathcal{L} = \mathcal{L}_{cycle} + \tau \mathcal{L}_{upset}

    Residuals are computed once for both.
    """

    def __init__(
        self,
        tau: float = 1.0,
        norm: str = "mean",
        variance_weight: float = 0.0,
        max_triangles: int | None = None,
        average: str = "group",
    ) -> None:
        super().__init__()
        self.tau = check_real("tau", tau, 0)
        self.upset = UpsetLoss(norm)
        self.cycle = CycleLoss(variance_weight, max_triangles, average)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        residual, group = replica_residual(angles, batch)
        cycle = self.cycle.from_residual(residual, group, batch, angles.shape[-1])
        return cycle + self.tau * self.upset.from_residual(residual, batch)

    def extra_repr(self) -> str:
        """τ."""
        return f"tau={self.tau:g}"
