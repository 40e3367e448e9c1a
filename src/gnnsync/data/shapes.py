"""Random point clouds in simple shapes of side 1: a square, a letter C, a square with holes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer, check_real
from gnnsync.typing import BoolArray, FloatArray

# Centres of the four holes.
_HOLES = np.array([[0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]])
# Holes that neither touch each other nor the border.
_LARGEST_HOLE = 0.25


@dataclass(frozen=True)
class UniformSquare:
    """Points drawn uniformly in the unit square.

    Args:
        n: number of points.
        seed: of the draw.
    """

    n: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.n, self.seed)

    @property
    def name(self) -> str:
        """Name in result rows."""
        return "uniform"

    def __call__(self) -> FloatArray:
        """Points (n, 2)."""
        return np.random.default_rng(self.seed).random((self.n, 2))


@dataclass(frozen=True)
class CShape:
    """Points drawn uniformly in the unit square without a slot that opens to the right.

    Shortest paths around the slot are much longer than straight lines across it, which misleads
    methods that take one for the other.

    Args:
        n: number of points.
        seed: of the draw.
        slot: height of the slot; the arms and the spine of the C have one width.
    """

    n: int = 500
    seed: int = 0
    slot: float = 0.4

    def __post_init__(self) -> None:
        _check(self.n, self.seed)
        check_real("slot", self.slot, 0, 1, open_low=True, open_high=True)

    @property
    def name(self) -> str:
        """Name in result rows; it differs for a slot of another size."""
        return "c_shape" + ("" if self.slot == type(self).slot else f"_slot_{self.slot:g}")

    def __call__(self) -> FloatArray:
        """Points (n, 2)."""

        def inside(points: FloatArray) -> BoolArray:
            # As deep as leaves a spine of the width of the arms.
            depth = (1.0 + self.slot) / 2.0
            x, y = points.T
            return (x < 1.0 - depth) | (np.abs(y - 0.5) > self.slot / 2.0)

        return _draw(self.n, self.seed, inside)


@dataclass(frozen=True)
class SquareWithHoles:
    """Points drawn uniformly in the unit square outside of four round holes.

    Args:
        n: number of points.
        seed: of the draw.
        radius: of the holes, whose centres are a quarter from the sides.
    """

    n: int = 500
    seed: int = 0
    radius: float = 0.16

    def __post_init__(self) -> None:
        _check(self.n, self.seed)
        check_real("radius", self.radius, 0, _LARGEST_HOLE)

    @property
    def name(self) -> str:
        """Name in result rows; it differs for holes of another size."""
        return "holes" + ("" if self.radius == type(self).radius else f"_radius_{self.radius:g}")

    def __call__(self) -> FloatArray:
        """Points (n, 2)."""

        def inside(points: FloatArray) -> BoolArray:
            apart = points[:, None, :] - _HOLES
            return (np.square(apart).sum(axis=2) > self.radius**2).all(axis=1)

        return _draw(self.n, self.seed, inside)


def _check(n: int, seed: int) -> None:
    check_integer("n", n, 3)
    check_integer("seed", seed, 0)


def _draw(n: int, seed: int, inside: Callable[[FloatArray], BoolArray]) -> FloatArray:
    """The first n of uniform points of the unit square that are inside the shape."""
    rng = np.random.default_rng(seed)
    kept = np.empty((0, 2))
    while len(kept) < n:
        drawn = rng.random((n, 2))
        kept = np.concatenate([kept, drawn[inside(drawn)]])
    return kept[:n]
