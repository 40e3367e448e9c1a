"""What a loss with parameters of its own offers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from gnnsync.learn.batch import ReplicaBatch


@runtime_checkable
class Calibrated(Protocol):
    """A loss that fits its parameters to the angles that training starts from."""

    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Parameters with a leading R, from angles (R, n, k)."""
        ...
