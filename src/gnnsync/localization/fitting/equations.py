"""Sparse Newton steps on a sum of potentials of distances between points of the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import qdldl
import scipy.sparse as sp

from gnnsync.typing import BoolArray, FloatArray, IntArray

# Added to the diagonal of the equations, relative to its largest entry, so that points without
# weight stay where they are and the motions of the whole map have a pivot.
_LEAST_DAMPING = 1e-9
# Damping of the first step, and how it changes after a good and a bad one.
_FIRST_DAMPING, _RELAX, _STIFFEN = 1e-3, 0.2, 5.0
# The exact second derivative is tried up to the first damping, its positive part up to the second.
_NEWTON_DAMPING, _MOST_DAMPING = 1e-2, 1e8
# A pivot below this part of the largest, and negative, is more than rounding.
_NEGATIVE = 1e-9
# A step that promises less of the energy than this is at its rounding: it is taken as it is.
_ROUNDING = 1e-13
# No division by 0 for points at one place.
_LEAST_LENGTH = 1e-300


@dataclass(frozen=True, eq=False)
class PairEnergy:
    """Energy of each pair at its length l, and its derivatives by l, (m,) each.

    Args:
        value: φ.
        slope: φ'.
        curvature: φ''.
        stiffness: a positive number in place of φ'' that keeps steps downhill.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray
    stiffness: FloatArray


class Potential(Protocol):
    """Energy of pairs of points by their lengths."""

    def __call__(self, length: FloatArray) -> PairEnergy:
        """Energies (m,) at these lengths."""
        ...


class PairEquations:
    r"""Damped Newton steps on :math:`\sum_e \varphi_e(|p_i - p_j|)`.

    With u_e the unit vector from j to i and l_e the length, the Hessian has the blocks

    .. math:: H_e = \varphi_e'' u_e u_e^T + (\varphi_e' / l_e) (I - u_e u_e^T).

    If it is not positive definite, φ'' is replaced by the stiffness and φ'/l by max(0, φ'/l). The
    pattern of the sparse factor is analysed once. O(m) memory for networks in the plane, up to the
    logarithm of n that the factor adds.

    Args:
        pairs: (2, m) numbers of points.
        free: (n,) points that may move.
        dimension: number of coordinates D of a point.
    """

    def __init__(self, pairs: IntArray, free: BoolArray, dimension: int = 2) -> None:
        self._pairs, self._free = pairs, free
        self._damping, self._exact = _FIRST_DAMPING, True
        self._solver: qdldl.Solver | None = None
        number = np.full(len(free), -1)
        count = int(free.sum())
        number[free] = np.arange(count)
        self._dimension, self._size = dimension, dimension * count
        i, j = np.sort(number[pairs], axis=0)
        self._inner = i >= 0
        first = np.concatenate([i[self._inner], np.arange(count)])
        second = np.concatenate([j[self._inner], np.arange(count)])
        row, column = np.indices((dimension, dimension))
        row = dimension * first[:, None, None] + row
        column = dimension * second[:, None, None] + column
        self._kept = row <= column
        entry = column[self._kept] * self._size + row[self._kept]
        self._order = np.argsort(entry)
        columns, self._rows = np.divmod(entry[self._order], self._size)
        self._indptr = np.searchsorted(columns, np.arange(self._size + 1))
        self._diagonal = np.flatnonzero(self._rows == columns)

    def step(
        self, points: FloatArray, potential: Potential, spring: float = 0.0
    ) -> tuple[FloatArray, bool]:
        """Positions (n, D) of less energy, and whether any were found.

        Args:
            points: (n, D).
            potential: of the pairs.
            spring: k of a further energy k z² / 2 of the last coordinate of each point.
        """
        unit, length = self._directions(points)
        energy = potential(length)

        def total(value: FloatArray, place: FloatArray) -> float:
            return float(value.sum()) + 0.5 * spring * float(
                place[self._free, -1] @ place[self._free, -1]
            )

        before, noise = total(energy.value, points), float(np.abs(energy.value).sum())
        gradient = self._gradient(unit, energy.slope)
        gradient[self._dimension - 1 :: self._dimension] += spring * points[self._free, -1]
        last = np.arange(self._size) % self._dimension == self._dimension - 1
        across = energy.slope / np.maximum(length, _LEAST_LENGTH)

        def lower(along: FloatArray, across: FloatArray, exact: bool) -> FloatArray | None:
            values = self._hessian(unit, along, across)
            values[self._diagonal[last]] += spring
            scale = np.abs(values[self._diagonal])
            least = _LEAST_DAMPING * float(scale.max(initial=0.0)) + _LEAST_LENGTH
            while self._damping <= (_NEWTON_DAMPING if exact else _MOST_DAMPING):
                damped = values.copy()
                damped[self._diagonal] += self._damping * scale + least
                change = self._solve(damped, gradient, exact)
                if change is not None:
                    moved = points.copy()
                    moved[self._free] -= change.reshape(-1, self._dimension)
                    after = potential(self._directions(moved)[1]).value
                    rounding = float(gradient @ change) <= _ROUNDING * noise
                    if rounding or total(after, moved) < before:
                        self._damping = max(self._damping * _RELAX, _LEAST_DAMPING)
                        return moved
                self._damping *= _STIFFEN
            return None

        moved = None
        if self._exact and self._damping <= _NEWTON_DAMPING:
            moved = lower(energy.curvature, across, True)
        if moved is None:
            moved = lower(energy.stiffness, np.maximum(across, 0.0), False)
            self._exact = self._damping <= _NEWTON_DAMPING
        if moved is None:
            self._damping, self._exact = _FIRST_DAMPING, True
            return points, False
        return moved, True

    def _directions(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Unit vectors (m, D) and lengths (m,)."""
        step = points[self._pairs[0]] - points[self._pairs[1]]
        length = np.sqrt(np.einsum("ea,ea->e", step, step))
        return step / np.maximum(length, _LEAST_LENGTH)[:, None], length

    def _gradient(self, unit: FloatArray, force: FloatArray) -> FloatArray:
        """Derivatives (D f,) by the coordinates of the f free points."""
        n, (i, j) = len(self._free), self._pairs
        pull = force[:, None] * unit
        total = [
            np.bincount(i, pull[:, a], n) - np.bincount(j, pull[:, a], n)
            for a in range(self._dimension)
        ]
        return np.stack(total, axis=1)[self._free].ravel()

    def _hessian(self, unit: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
        """Entries of the upper triangle in the order of the pattern."""
        n = len(self._free)
        outer = unit[:, :, None] * unit[:, None, :]
        block = (along - across)[:, None, None] * outer + across[:, None, None] * np.eye(
            self._dimension
        )
        own = np.zeros((n, self._dimension, self._dimension))
        for a, b in zip(*np.triu_indices(self._dimension), strict=True):
            for end in self._pairs:
                own[:, a, b] += np.bincount(end, block[:, a, b], n)
        value = np.concatenate([-block[self._inner], own[self._free]])
        return np.asarray(value[self._kept][self._order])

    def _solve(self, values: FloatArray, right: FloatArray, exact: bool) -> FloatArray | None:
        """The Newton step (D f,); None if the exact Hessian is not positive definite."""
        # `qdldl` reads the class with the older interface.
        shape = (self._size, self._size)
        matrix = sp.csc_matrix((values, self._rows, self._indptr), shape=shape)
        if self._solver is None:
            self._solver = qdldl.Solver(matrix, upper=True)
        else:
            self._solver.update(matrix, upper=True)
        if exact:
            pivot = self._solver.factors()[1]
            if pivot.min() < -_NEGATIVE * pivot.max():
                return None
        return np.asarray(self._solver.solve(right))
