"""Laws of the true angles: the paper's options 1 to 4, and uniform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI, reduce_angle
from gnnsync.errors import ParameterError, check_integer, check_real
from gnnsync.typing import FloatArray

Prior = Callable[[int, int, np.random.Generator], FloatArray]
"""Draws angles (n, k) in [0, 2π) from (n, k, rng)."""


@dataclass(frozen=True)
class GammaAngles:
    """Option 1: independent Gamma(shape, scale) angles, mod 2π."""

    shape: float = 0.5
    scale: float = TWO_PI

    def __post_init__(self) -> None:
        check_real("shape", self.shape, 0, open_low=True)
        check_real("scale", self.scale, 0, open_low=True)

    def __call__(self, n: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k)."""
        return reduce_angle(rng.gamma(self.shape, self.scale, size=(n, k)))


@dataclass(frozen=True)
class NormalRankOneAngles:
    """Option 2: N(π, w wᵀ) with standard normal w, mod 2π.

    A rank-one covariance is one scalar z per set: θ_l = π + z_l·w. The w is common to the k sets.
    """

    def __call__(self, n: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k)."""
        return reduce_angle(np.pi + _rank_one(n, k, rng))


@dataclass(frozen=True)
class NormalIIDAngles:
    """Option 3: independent N(π, 1) angles, mod 2π."""

    def __call__(self, n: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k)."""
        return reduce_angle(np.pi + rng.standard_normal((n, k)))


@dataclass(frozen=True)
class NormalBlockAngles:
    """Option 4: N(π, block-diagonal), each block rank one and independent as in option 2."""

    blocks: int = 6

    def __post_init__(self) -> None:
        check_integer("blocks", self.blocks, 1)

    def __call__(self, n: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k); block sizes differ by at most one."""
        if self.blocks > n:
            raise ParameterError("blocks", self.blocks, f"at most the number of nodes, {n}")
        sizes = [len(part) for part in np.array_split(np.arange(n), self.blocks)]
        return reduce_angle(np.pi + np.concatenate([_rank_one(size, k, rng) for size in sizes]))


@dataclass(frozen=True)
class UniformAngles:
    """Independent angles uniform on the circle, as in Singer (2011)."""

    def __call__(self, n: int, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k)."""
        return reduce_angle(rng.uniform(0.0, TWO_PI, size=(n, k)))


def _rank_one(n: int, k: int, rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((n, 1)) * rng.standard_normal((1, k))
