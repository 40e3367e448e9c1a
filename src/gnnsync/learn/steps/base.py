"""Base class of the refinement steps."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gnnsync.learn.batch import ReplicaBatch


class Steps(nn.Module):
    """Refinement of angles; R replicas at once.

    `in_training` says whether the steps are part of the network while it trains; if not, they are
    taken only once, on the trained network's angles. Steps that call `hold` keep angles that are
    known beforehand at their values.
    """

    in_training: bool = True

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Bring trainable parameters back to their start."""

    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Fit parameters to the angles (R, n, k) that the untrained network gives."""

    def hold(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """The angles (R, n, k) with those of `batch.known` put in."""
        if batch.known is None:
            return angles
        return torch.where(torch.isfinite(batch.known), batch.known, angles)

    def project(self) -> None:
        """Bring parameters back into their allowed range after an optimizer step."""

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R, n, k)."""
        raise NotImplementedError


class NoSteps(Steps):
    """The network's initial angles as they are (ablation)."""

    def __init__(self, replicas: int) -> None:
        super().__init__()

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """Identity."""
        return angles
