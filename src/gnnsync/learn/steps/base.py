"""What refinement steps are."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gnnsync.learn.batch import ReplicaBatch


class Steps(nn.Module):
    """Refinement of angles; R replicas at once.

    `in_training` tells whether the steps are part of the network while it trains; if not, they
    are taken only once, on the trained network's angles.
    """

    in_training: bool = True
    known: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("known", None, persistent=False)

    def pin(self, known: Tensor) -> None:
        """Hold some angles (R, n, k; NaN elsewhere) at what they are known to be.

        Only steps that ask `hold` in between heed them.
        """
        self.known = known

    def hold(self, angles: Tensor) -> Tensor:
        """The angles (R, n, k) with the known ones put in."""
        if self.known is None:
            return angles
        return torch.where(torch.isfinite(self.known), self.known, angles)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Bring trainable parameters back to their start."""

    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Fit parameters to the angles (R, n, k) that the untrained network gives."""

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
