"""Residuals of the measurements under estimated angles."""

from __future__ import annotations

import torch
from torch import Tensor

from gnnsync.angles import TWO_PI
from gnnsync.learn.batch import ReplicaBatch


def wrap(angle: Tensor) -> Tensor:
    """Reduce to [-π, π]; the gradient is that of the identity."""
    turns = torch.round(angle.detach() * (1.0 / TWO_PI))
    return torch.sub(angle, turns, alpha=TWO_PI)


def edge_residual(angles: Tensor, batch: ReplicaBatch) -> tuple[Tensor, Tensor]:
    """M and g: the least residual of each edge over the k groups, and the group that has it.

    M_ij = min over l of min((T⁽ˡ⁾ - A) mod 2π, (A - T⁽ˡ⁾) mod 2π), g its argmin. For angles
    (R, n, k) both are (G, m, T).
    """
    signed = wrap(batch.edge_difference(angles) - batch.offset.unsqueeze(-1))
    residual = signed.abs()
    if residual.shape[-1] == 1:
        least = residual.squeeze(-1)
        return least, torch.zeros(least.shape, dtype=torch.int64, device=least.device)
    minimum = residual.min(dim=-1)
    return minimum.values, minimum.indices


def per_replica(values: Tensor) -> Tensor:
    """(G, T) → (R,)."""
    return values.reshape(-1)
