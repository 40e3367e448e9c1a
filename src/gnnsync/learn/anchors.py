"""Anchors in training: a loss with a term for angles that are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from gnnsync.anchors import Anchors, FileAnchors, GivenAnchors, NoAnchors, ShareAnchors, anchored
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import Calibrated
from gnnsync.typing import FloatArray

# Configs name the classes of `gnnsync.anchors` by this module, and job hashes depend on the names.
__all__ = [
    "AnchoredLoss",
    "Anchors",
    "FileAnchors",
    "GivenAnchors",
    "NoAnchors",
    "ShareAnchors",
    "anchored",
    "known_angles",
]


class AnchoredLoss(nn.Module):
    r"""A loss with a term for known angles.

    .. math:: \mathcal{L} + \frac{λ}{|K|} \sum_{(i,l) \in K} (1 - \cos(r_{i,l} - R_{i,l}))

    with K the angles of a replica that `batch.known` knows.

    Args:
        loss: the loss of the offsets.
        weight: λ.
    """

    def __init__(self, loss: nn.Module, weight: float = 1.0) -> None:
        super().__init__()
        self.loss, self.weight = loss, weight

    def calibrate(self, angles: Tensor, batch: ReplicaBatch) -> None:
        """Fit the parameters of the loss of the offsets, if it has any."""
        if isinstance(self.loss, Calibrated):
            self.loss.calibrate(angles, batch)

    def forward(self, angles: Tensor, batch: ReplicaBatch) -> Tensor:
        """(R, n, k) → (R,)."""
        target, mean_weight = batch.operator("anchors", _targets)
        off = 1.0 - torch.cos(angles - target)
        loss: Tensor = self.loss(angles, batch)
        return loss + self.weight * (mean_weight * off).sum(dim=(1, 2))

    def extra_repr(self) -> str:
        """λ."""
        return f"weight={self.weight:g}"


def known_angles(
    anchors: Anchors, graphs: Sequence[MeasurementGraph], k: int, trials: int
) -> FloatArray | None:
    """Known angles (R, n, k) of `trials` replicas per graph; None if no graph has any."""
    found = [anchors(graph, k) for graph in graphs]
    if all(known is None for known in found):
        return None
    nothing = np.full((graphs[0].num_nodes, k), np.nan)
    return np.repeat([nothing if known is None else known for known in found], trials, axis=0)


def _targets(batch: ReplicaBatch) -> tuple[Tensor, Tensor]:
    """Known angles (R, n, k), 0 elsewhere, and 1/|K| where they are known, 0 elsewhere."""
    assert batch.known is not None, "an anchored loss needs known angles on the batch"
    known = torch.isfinite(batch.known)
    count = known.sum(dim=(1, 2), keepdim=True).clamp_min(1)
    return torch.where(known, batch.known, 0.0), (known / count).to(batch.dtype)
