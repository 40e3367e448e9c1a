"""The map that a solution of a localization problem gives, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

from gnnsync.typing import ComplexArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PatchPair:
    """Two overlapping patches of s points at each stage, as an example for figures.

    Args:
        member: (2, s) numbers of the points in each patch.
        noisy: (2, s) complex positions after noise was added.
        rotated: (2, s) the same after the rotation by the true angle.
        aligned: (2, s) the same after the rotation back by the estimated angle.
    """

    member: IntArray
    noisy: ComplexArray
    rotated: ComplexArray
    aligned: ComplexArray


@dataclass(frozen=True, eq=False)
class Map:
    """True points and those recovered from the patches, (n, 2) each.

    The estimated angles are first aligned with the truth by one common rotation: the circular mean
    of the differences for `recovered`, their arithmetic mean, as the paper does, for
    `recovered_paper`.
    """

    points: FloatArray
    recovered: FloatArray
    recovered_paper: FloatArray
    pair: PatchPair
    title: str = ""
