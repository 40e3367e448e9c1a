"""Gradient clipping, replica by replica."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from pytorch_lightning import Callback, LightningModule, Trainer
from torch import Tensor

from gnnsync.errors import check_real
from gnnsync.learn.replicas import replica_owner


class ReplicaGradientClipping(Callback):
    r"""Scale each replica's gradient down to norm c: :math:`g_r \leftarrow g_r \min(1, c/\|g_r\|)`.

    The norm is taken over all parameters of one replica, so that a replica with large gradients
    does not slow the others. Lightning's own `gradient_clip_val` would clip all replicas by one
    common norm, and does not exist for manual optimization.

    Args:
        max_norm: c.
    """

    def __init__(self, max_norm: float) -> None:
        self.max_norm = check_real("max_norm", max_norm, 0, open_low=True)

    @torch.no_grad()
    def on_before_optimizer_step(
        self, trainer: Trainer, pl_module: LightningModule, optimizer: torch.optim.Optimizer
    ) -> None:
        """Clip the gradients that the optimizer is about to use."""
        module: Any = pl_module
        gradients = [(n, p.grad) for n, p in pl_module.named_parameters() if p.grad is not None]
        factor = self.max_norm / replica_norms(gradients, module.replicas)
        factor = factor.clamp(max=1.0)
        for name, gradient in gradients:
            owner = replica_owner(name)
            if owner is None:
                gradient.mul_(factor.view(-1, *[1] * (gradient.dim() - 1)))
            else:
                gradient.mul_(factor[owner])


def replica_norms(gradients: Iterable[tuple[str, Tensor]], replicas: int) -> Tensor:
    """Euclidean norm (R,) of the gradients of each replica, given by parameter name."""
    total: Tensor | None = None
    for name, gradient in gradients:
        owner = replica_owner(name)
        square = gradient.square()
        if owner is None:
            part = square.flatten(1).sum(dim=1) if square.dim() > 1 else square
        else:
            part = square.new_zeros(replicas)
            part[owner] = square.sum()
        total = part if total is None else total + part
    return torch.ones(replicas) if total is None else total.sqrt()
