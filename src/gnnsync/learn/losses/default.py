"""The loss of a training that names none: by the number of groups."""

from __future__ import annotations

from torch import Tensor, nn

from gnnsync.errors import check_choice
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses.combined import LinearLoss
from gnnsync.learn.losses.cycle import CycleLoss
from gnnsync.learn.losses.upset import UpsetLoss

SEVERAL = ("cycle", "upset", "sum")


class DefaultLoss(nn.Module):
    """Upset loss for k = 1, and the loss `several` for k > 1.

    Args:
        several: `cycle`, `upset`, or `sum` of both.
        norm: of the upset loss, see `UpsetLoss`.
        variance_weight: of the cycle loss, see `CycleLoss`.
        max_triangles: of the cycle loss.
        average: of the cycle loss.
    """

    def __init__(
        self,
        several: str = "upset",
        norm: str = "mean",
        variance_weight: float = 0.0,
        max_triangles: int | None = None,
        average: str = "group",
    ) -> None:
        super().__init__()
        check_choice("several", several, SEVERAL)
        self.one = UpsetLoss(norm)
        both = LinearLoss(1.0, norm, variance_weight, max_triangles, average)
        cycle = CycleLoss(variance_weight, max_triangles, average)
        self.several = {"cycle": cycle, "upset": self.one, "sum": both}[several]

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        loss: Tensor = (self.one if angles.shape[-1] == 1 else self.several)(angles, batch)
        return loss
