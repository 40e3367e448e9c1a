"""Patches of a point cloud: local views of it, noisy and rotated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from gnnsync.angles import reduce_angle, resultant
from gnnsync.errors import GraphError, ParameterError, check_integer, check_real
from gnnsync.typing import ComplexArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Patches:
    """p patches of s points each, of a cloud of n points.

    Args:
        member: (p, s) the points of each patch, its centre first.
        position: (p, s) complex, where the patch sees them: x + iy.
        num_points: n.
    """

    member: IntArray
    position: ComplexArray
    num_points: int

    def __len__(self) -> int:
        return len(self.member)

    @property
    def size(self) -> int:
        """Number s of points in a patch, its centre included."""
        return self.member.shape[1]

    def rotated(self, angles: FloatArray) -> Patches:
        """Patch i turned about the origin by `angles[i]` (p,)."""
        turned = self.position * np.exp(1j * angles)[:, None]
        return Patches(self.member, turned, self.num_points)

    @cached_property
    def incidence(self) -> sp.csr_array:
        """(p, n) with a one where a patch holds a point."""
        p, s = self.member.shape
        row = np.repeat(np.arange(p), s)
        ones = np.ones(p * s, dtype=np.int32)
        return sp.coo_array((ones, (row, self.member.ravel())), (p, self.num_points)).tocsr()

    def stitch(self, angles: FloatArray) -> FloatArray:
        """Turn patch i back by `angles[i]` (p,) and average where patches see a point: (n, 2)."""
        back = self.rotated(-angles).position.ravel()
        seen = self.member.ravel()
        count = np.bincount(seen, minlength=self.num_points)
        if (count == 0).any():
            raise GraphError(f"point {int(np.argmin(count))} is in no patch")
        sums = [np.bincount(seen, part, self.num_points) for part in (back.real, back.imag)]
        return np.stack(sums, axis=1) / count[:, None]


def nearest_neighbour_patches(points: FloatArray, size: int = 50) -> Patches:
    """One patch per point: the `size` points (n, 2) nearest to it, itself the first of them."""
    check_integer("neighbours", size, 2)
    n = len(points)
    if size > n:
        raise ParameterError("neighbours", size, f"at most the number of points, {n}")
    member = cKDTree(points).query(points, k=size)[1].reshape(n, size)
    # Among coinciding points the centre may come later or, if there are many, not at all.
    own = np.arange(n)
    place = np.where((member == own[:, None]).any(axis=1), (member == own[:, None]).argmax(1), -1)
    member[own, place] = member[:, 0]
    member[:, 0] = own
    return Patches(member, points[member] @ np.array([1, 1j]), n)


def add_noise(
    patches: Patches, points: FloatArray, eta: float, rng: np.random.Generator
) -> Patches:
    """Normal noise of η times the standard deviation of x and of y, anew in every patch."""
    check_real("eta", eta, 0)
    draw = rng.standard_normal((*patches.member.shape, 2)) * points.std(axis=0)
    return Patches(
        patches.member, patches.position + eta * draw @ np.array([1, 1j]), patches.num_points
    )


def align_circular(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Shift (n,) by the circular mean of the differences, the chordal optimum."""
    return reduce_angle(estimate - np.angle(resultant(estimate, truth)))


def align_arithmetic(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Shift (n,) by the arithmetic mean of the differences mod 2π, as the paper does.

    Wrong by up to π when the differences straddle 0; for comparison with published numbers.
    """
    return reduce_angle(estimate - reduce_angle(estimate - truth).mean())
