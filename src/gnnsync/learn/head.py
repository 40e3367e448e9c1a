"""From embeddings to initial angles."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gnnsync.angles import TWO_PI
from gnnsync.learn.replicas import xavier


class AngleHead(nn.Module):
    r"""Initial angles from embeddings, one inner product per group.

    .. math:: r^{(0)}_{i,l} = 2\pi\,\mathrm{sigmoid}(z_{i,l} \cdot a^{(l)} + b_l)

    Shapes: Z (R, n, k, e) → r⁽⁰⁾ (R, n, k); a is (R, k, e, 1) and b is (R, k).
    """

    eye: Tensor

    def __init__(self, replicas: int, groups: int, embedding: int, gain: float = 1.414) -> None:
        super().__init__()
        self.gain = gain
        self.vector = nn.Parameter(torch.empty(replicas, groups, embedding, 1))
        self.bias = nn.Parameter(torch.zeros(replicas, 1, groups))
        self.register_buffer("eye", torch.eye(groups).unsqueeze(1), persistent=False)

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier vectors, zero bias."""
        xavier(self.vector, generators, self.gain)
        nn.init.zeros_(self.bias)

    def forward(self, z: Tensor) -> Tensor:
        """(R, n, k, e) → (R, n, k) in (0, 2π)."""
        return self.angles(self.score(z))

    def score(self, z: Tensor) -> Tensor:
        """z·a, (R, n, k)."""
        return group_scores(z, self.vector)

    def angles(self, score: Tensor) -> Tensor:
        """(R, n, k) → (R, n, k) in (0, 2π)."""
        return TWO_PI * torch.sigmoid(score + self.bias)

    @torch.no_grad()
    def calibrate(self, z: Tensor, features: Tensor, spread: float) -> None:
        """Start unsaturated: bring each group's scores to mean 0 and standard deviation `spread`.

        Drawn by Xavier's rule alone, scores are mostly beyond 3 in size (8 in the median over 100
        draws at n = 360), where the sigmoid is flat, and many replicas hardly learn. Where there is
        one feature per group, the scores also rise with it, so that the network starts from the
        order of its features and not from its reverse.
        """
        score = self.score(z)
        centred = score - score.mean(dim=1, keepdim=True)
        deviation = centred.square().mean(dim=1, keepdim=True).sqrt()
        factor = torch.where(deviation > 0, spread / deviation, torch.ones_like(deviation))
        if features.shape[-1] == score.shape[-1]:
            rising = (centred * features).sum(dim=1, keepdim=True) >= 0
            factor = torch.where(rising, factor, -factor)
        self.vector.mul_(factor.transpose(1, 2).unsqueeze(-1))
        self.bias.copy_(-factor * score.mean(dim=1, keepdim=True))

    def extra_repr(self) -> str:
        """Sizes."""
        r, k, e, _ = self.vector.shape
        return f"replicas={r}, groups={k}, embedding={e}"


def group_scores(z: Tensor, vector: Tensor) -> Tensor:
    """z·a of embeddings (R, n, k, e) and vectors (R, k, e, 1): (R, n, k)."""
    return torch.matmul(z.transpose(1, 2), vector).squeeze(-1).transpose(1, 2)
