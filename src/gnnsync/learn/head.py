"""From embeddings to initial angles: a squashed score, or an argument."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gnnsync.errors import check_choice
from gnnsync.learn.replicas import uniform, xavier
from gnnsync.learn.squash import squash

HEAD_STARTS = ("xavier", "linear")


class Head(nn.Module):
    """The layer from an encoder's embeddings to angles: one inner product per group."""

    vector: nn.Parameter

    def forward(self, z: Tensor, features: Tensor) -> Tensor:
        """(R, n, k, e) → (R, n, k)."""
        return self.angles(self.score(z), features)

    def score(self, z: Tensor) -> Tensor:
        """Inner products (R, n, k) of the embeddings with `vector`."""
        raise NotImplementedError

    def angles(self, score: Tensor, features: Tensor) -> Tensor:
        """Angles (R, n, k) of scores (R, n, k) and the network's input (R, n, f)."""
        raise NotImplementedError

    def calibrate(self, z: Tensor, features: Tensor, spread: float) -> None:
        """Scale the drawn parameters to the embeddings at the start of training."""
        raise NotImplementedError


class AngleHead(Head):
    r"""Initial angles from embeddings, squashed.

    .. math:: r^{(0)}_{i,l} = 2\pi\,\mathrm{sigmoid}(z_{i,l} \cdot a^{(l)} + b_l)

    Shapes: Z (R, n, k, e) → r⁽⁰⁾ (R, n, k); a is (R, k, e, 1) and b is (R, k).

    `start` is how a and b are drawn: `xavier`, a by Xavier's rule and b = 0; `linear`, both uniform
    in ±1/√e, the start of `torch.nn.Linear`, which the released code leaves as it is.
    """

    def __init__(
        self,
        replicas: int,
        groups: int,
        embedding: int,
        gain: float = 1.414,
        start: str = "xavier",
    ) -> None:
        super().__init__()
        self.gain = gain
        self.start = check_choice("head_start", start, HEAD_STARTS)
        self.vector = nn.Parameter(torch.empty(replicas, groups, embedding, 1))
        self.bias = nn.Parameter(torch.zeros(replicas, 1, groups))

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Vectors and bias as `start` says."""
        if self.start == "linear":
            bound = self.vector.shape[2] ** -0.5
            uniform(self.vector, generators, bound)
            uniform(self.bias, generators, bound)
            return
        xavier(self.vector, generators, self.gain)
        nn.init.zeros_(self.bias)

    def score(self, z: Tensor) -> Tensor:
        """z·a, (R, n, k)."""
        return group_scores(z, self.vector)

    def angles(self, score: Tensor, features: Tensor) -> Tensor:
        """(R, n, k) → (R, n, k) in (0, 2π)."""
        return squash(score, self.bias)

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


class ResidualHead(Head):
    r"""Initial angles as the features and a bounded correction, which is 0 before training.

    .. math:: r^{(0)}_{i,l} = x_{i,l} + c \tanh(z_{i,l} \cdot a^{(l)})

    x are the input features, angles of the k groups, and c is the largest correction, in radians.
    a starts at 0: the network starts from its features exactly, whatever their distribution.

    Shapes: Z (R, n, k, e), x (R, n, k) → r⁽⁰⁾ (R, n, k); a is (R, k, e, 1).
    """

    scale: Tensor

    def __init__(self, replicas: int, groups: int, embedding: int, bound: float) -> None:
        super().__init__()
        self.bound = bound
        self.vector = nn.Parameter(torch.zeros(replicas, groups, embedding, 1))
        self.register_buffer("scale", torch.ones(replicas, 1, groups))

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """No correction."""
        nn.init.zeros_(self.vector)

    def score(self, z: Tensor) -> Tensor:
        """z·a, (R, n, k)."""
        return group_scores(z, self.vector)

    def angles(self, score: Tensor, features: Tensor) -> Tensor:
        """(R, n, k), (R, n, k) → (R, n, k)."""
        return features + self.bound * torch.tanh(score * self.scale)

    @torch.no_grad()
    def calibrate(self, z: Tensor, features: Tensor, spread: float) -> None:
        """Scale of the scores: embeddings z have root mean square `spread` in front of a."""
        size = z.square().mean(dim=(1, 3)).sqrt().unsqueeze(1)
        self.scale.copy_(torch.where(size > 0, spread / size, torch.ones_like(size)))

    def extra_repr(self) -> str:
        """Sizes."""
        r, k, e, _ = self.vector.shape
        return f"replicas={r}, groups={k}, embedding={e}, bound={self.bound:g}"


def group_scores(z: Tensor, vector: Tensor) -> Tensor:
    """z·a of embeddings (R, n, k, e) and vectors (R, k, e, 1): (R, n, k)."""
    return torch.matmul(z.transpose(1, 2), vector).squeeze(-1).transpose(1, 2)


class PhaseHead(Head):
    r"""Initial angles as arguments, for embeddings that rotate with the angles.

    .. math:: r^{(0)}_{i,l} = \arg\Bigl(z_{i,l,0} + \sum_{c \ge 1} v_{l,c} z_{i,l,c}\Bigr)

    z is complex, held as real parts before imaginary ones; its first entry is the phase of the
    input. A rotation of z by e^{iφ} adds φ to the angle.

    Shapes: Z (R, n, k, e) → r⁽⁰⁾ (R, n, k); v is (R, k, e/2 - 1, 1).
    """

    def __init__(self, replicas: int, groups: int, embedding: int, gain: float = 1.0) -> None:
        super().__init__()
        self.gain = gain
        self.vector = nn.Parameter(torch.empty(replicas, groups, embedding // 2 - 1, 1))

    def reset_parameters(self, generators: Sequence[torch.Generator]) -> None:
        """Xavier vectors."""
        xavier(self.vector, generators, self.gain)

    def score(self, z: Tensor) -> Tensor:
        """Complex z₀ + Σ v z, (R, n, k)."""
        return phase_scores(z, self.vector)

    def angles(self, score: Tensor, features: Tensor) -> Tensor:
        """Complex (R, n, k) → (R, n, k) in (-π, π]."""
        return torch.atan2(score.imag, score.real)

    @torch.no_grad()
    def calibrate(self, z: Tensor, features: Tensor, spread: float) -> None:
        """Start near the features: what is added to the input's phase has mean size `spread`."""
        first = torch.complex(*(part[..., 0] for part in z.chunk(2, dim=-1)))
        size = (self.score(z) - first).abs().mean(dim=1)
        factor = torch.where(size > 0, spread / size, torch.ones_like(size))
        self.vector.mul_(factor[..., None, None])

    def extra_repr(self) -> str:
        """Sizes."""
        r, k, e, _ = self.vector.shape
        return f"replicas={r}, groups={k}, embedding={2 * (e + 1)}"


def phase_scores(z: Tensor, vector: Tensor) -> Tensor:
    """Complex z₀ + Σ v z of embeddings (R, n, k, e) and vectors (R, k, e/2 - 1, 1): (R, n, k)."""
    parts = (part[..., 0] + group_scores(part[..., 1:], vector) for part in z.chunk(2, dim=-1))
    return torch.complex(*parts)
