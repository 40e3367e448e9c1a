"""Densities on the circle as B bins and as harmonics."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gnnsync.angles import TWO_PI


class Circle(nn.Module):
    """Densities on B bins, relative to uniform, and their harmonics q = 1..B/2.

    The Fourier transform is a product with a (B, B) matrix: for 32 bins faster than an FFT of
    every row, and the same on every device.

    Args:
        bins: B, even.
    """

    grid: Tensor
    order: Tensor
    twice: Tensor
    to_harmonics: Tensor
    to_bins: Tensor

    def __init__(self, bins: int) -> None:
        super().__init__()
        self.bins = bins
        half = bins // 2
        grid = TWO_PI * torch.arange(bins, dtype=torch.float64) / bins
        order = torch.arange(1, half + 1, dtype=torch.float64)
        phase = grid[:, None] * order
        waves = torch.stack([phase.cos(), -phase.sin()], dim=-1).flatten(1)
        # Coefficients other than the last stand for their conjugates too.
        twice = torch.full((half,), 2.0, dtype=torch.float64)
        twice[-1] = 1.0
        buffers = {
            "grid": grid,
            "order": order,
            "twice": twice,
            "to_harmonics": waves,
            "to_bins": waves.T * twice.repeat_interleave(2)[:, None],
        }
        for name, value in buffers.items():
            self.register_buffer(name, value.float(), persistent=False)

    def harmonics(self, probability: Tensor) -> Tensor:
        """Harmonics (..., B/2) of probabilities (..., B) of the bins."""
        parts = probability @ self.to_harmonics
        return torch.view_as_complex(parts.unflatten(-1, (-1, 2)))

    def density(self, harmonics: Tensor, blur: Tensor) -> Tensor:
        """Densities (..., B), relative to uniform, of harmonics (..., B/2) times a real factor."""
        parts = torch.view_as_real(harmonics) * blur.unsqueeze(-1)
        return (parts.flatten(-2) @ self.to_bins).add_(1.0)

    def product(self, first: Tensor, second: Tensor) -> Tensor:
        """Terms (..., B/2) that add up, with 1, to the mean of the product of two densities."""
        parts = torch.view_as_real(first) * torch.view_as_real(second)
        return self.twice * parts.sum(-1)

    def turns(self, angle: Tensor) -> Tensor:
        """e^{-iqr} (2, m, k, B/2) that moves densities by angles r (m, k): by +r, and by -r."""
        phase = angle.unsqueeze(-1) * self.order
        turn = torch.polar(torch.ones_like(phase), -phase)
        return torch.stack([turn, turn.conj()])

    def blur(self, variance: Tensor, shift: int = 0) -> Tensor:
        """Coefficients q + shift (..., B/2) of wrapped normal noise of a variance (...)."""
        return torch.exp(-0.5 * variance.unsqueeze(-1) * (self.order + shift).square())

    def bump(self, concentration: Tensor) -> Tensor:
        """Log von Mises density (..., B) about 0, up to a constant, of a concentration (...)."""
        return concentration.unsqueeze(-1) * (self.grid.cos() - 1.0)

    def mean_direction(self, marginals: Tensor) -> Tensor:
        """Mean of e^{ix} (...) under probabilities (..., B)."""
        return torch.complex(marginals @ self.grid.cos(), marginals @ self.grid.sin())
