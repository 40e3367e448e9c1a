"""The Cramér-Rao bound of angles and points for patches that are known themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import qdldl
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gnnsync.data.patches import Patches
from gnnsync.errors import GraphError, ParameterError, check_array, check_bool
from gnnsync.linalg.selected_inverse import InverseEntries
from gnnsync.topology import component_labels
from gnnsync.typing import FloatArray, IntArray

# Noise whose deviations along x and y differ by less than this part tells nothing of the angles.
_SAME = 1e-6


@dataclass(frozen=True)
class PatchLimit:
    """Least errors of the angles of patches and of the points.

    Args:
        mse: bound of `gnnsync.metrics.angular_mse`, for small errors twice the mean squared error
            of the angles after the best common rotation.
        rmse: bound of the root mean square distance between points, after the best motion.
    """

    mse: float
    rmse: float


def patch_limit(patches: Patches, deviation: ArrayLike, *, translations: bool = True) -> PatchLimit:
    r"""Cramér-Rao bound of the angles θ_i and points z(x) for the model of `fit_patches`.

    With v_i(x) the exact position in the frame before the rotation, J the quarter turn and
    S = diag(σ_x², σ_y²) known, the Fisher information has

    .. math:: F_{\theta_i \theta_i} = \sum_x \Big( (J v)^T S^{-1} J v
        + \Big(\frac{\sigma_x}{\sigma_y} - \frac{\sigma_y}{\sigma_x}\Big)^2 \Big), \quad
        F_{\theta_i z(x)} = F_{\theta_i t_i}(x) = (J v)^T S^{-1}

    and S⁻¹ for every pair of z and t of an observation. The second term of the first is what the
    direction of the noise tells of the angle. The unknown S costs nothing at this order but its
    direction, which is a common rotation. All is one sparse matrix; its inverse is computed on
    its pattern.

    Args:
        patches: exact positions, not rotated; p patches of n points, connected.
        deviation: (2,) standard deviations σ_x, σ_y of the noise.
        translations: whether the shifts t_i are unknown; otherwise they are 0.
    """
    check_bool("translations", translations)
    sigma = check_array("deviation", deviation, (2,))
    if (sigma <= 0).any():
        raise ParameterError("deviation", sigma.tolist(), "positive")
    p, n, member = len(patches), patches.num_points, patches.member
    patch = np.repeat(np.arange(p), patches.size)
    point = member.ravel()
    if component_labels(np.stack([patch, p + point]), p + n).any():
        raise GraphError("the patches fall into several parts: their bound is one of each part")
    weight = 1.0 / sigma**2
    ratio = float(sigma[0] / sigma[1])
    told = patches.size * (ratio - 1.0 / ratio) ** 2
    turn = np.stack([-patches.position.imag, patches.position.real], axis=-1)
    own = (turn**2 @ weight).sum(axis=1) + told
    # Unknowns: angles, then for each axis the points and the shifts.
    row, column, value = [np.arange(p)], [np.arange(p)], [own]
    start, held = p, []
    for axis in range(2):
        slope = (turn[..., axis] * weight[axis]).ravel()
        z = start + point
        row += [patch, start + np.arange(n)]
        column += [z, start + np.arange(n)]
        value += [slope, weight[axis] * np.bincount(point, minlength=n)]
        start += n
        if translations:
            t = start + patch
            row += [patch, z, start + np.arange(p)]
            column += [t, t, start + np.arange(p)]
            value += [slope, np.full(len(t), weight[axis])]
            value += [np.full(p, weight[axis] * patches.size)]
            held.append(start)
            start += p
    if abs(ratio - 1.0) < _SAME:
        held.append(0)
    return _limit(np.concatenate(row), np.concatenate(column), np.concatenate(value), held, patches)


def _limit(
    row: IntArray, column: IntArray, value: FloatArray, held: list[int], patches: Patches
) -> PatchLimit:
    """The bound of an information matrix given by the entries of its upper triangle.

    Args:
        row, column, value: entries; those of one place add up.
        held: unknowns that are held, so that no motion is left.
        patches: exact positions.
    """
    p, n = len(patches), patches.num_points
    size = int(column.max()) + 1
    number = np.full(size, -1)
    free = np.setdiff1d(np.arange(size), held)
    number[free] = np.arange(len(free))
    row, column = number[row], number[column]
    kept = (row >= 0) & (column >= 0)
    # `qdldl` reads the class with the older interface.
    matrix = sp.csc_matrix((value[kept], (row[kept], column[kept])), shape=(len(free),) * 2)
    solver = qdldl.Solver(matrix, upper=True)
    diagonal = np.zeros(size)
    every = np.arange(len(free))
    diagonal[free] = InverseEntries(solver).at(every, every)

    def left_out(motions: list[FloatArray]) -> float:
        """Variance along orthogonal motions, given as unknowns (size,)."""
        along = 0.0
        for motion in motions:
            along += float(motion[free] @ solver.solve(motion[free])) / float(motion @ motion)
        return along

    first, second = (
        np.arange(p + a * (size - p) // 2, p + a * (size - p) // 2 + n) for a in (0, 1)
    )
    points = np.zeros(n, dtype=np.complex128)
    points[patches.member] = patches.position
    points -= points.mean()
    shift_x, shift_y, turn, angle = np.zeros((4, size))
    angle[:p] = shift_x[first] = shift_y[second] = 1.0
    turn[first], turn[second] = -points.imag, points.real
    of_angles = diagonal[:p].sum() - left_out([angle])
    of_points = diagonal[first].sum() + diagonal[second].sum()
    of_points -= left_out([shift_x, shift_y, turn])
    return PatchLimit(2.0 * of_angles / p, float(np.sqrt(of_points / n)))
