"""Scores to angles in one node of the autograd graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnnsync.angles import TWO_PI


def squash(score: Tensor, bias: Tensor) -> Tensor:
    """2π·sigmoid(s + b) for scores s (R, n, k) and a bias b (R, 1, k)."""
    if not torch.is_grad_enabled():
        return torch.add(score, bias).sigmoid_().mul_(TWO_PI)
    angles: Tensor = _Squash.apply(score, bias)
    return angles


class _Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, score: Tensor, bias: Tensor) -> Tensor:
        sigmoid = torch.add(score, bias).sigmoid_()
        ctx.save_for_backward(sigmoid)
        return sigmoid * TWO_PI

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        (sigmoid,) = ctx.saved_tensors
        by_score = torch.ops.aten.sigmoid_backward(grads[0], sigmoid).mul_(TWO_PI)
        return by_score, by_score.sum(dim=1, keepdim=True)
