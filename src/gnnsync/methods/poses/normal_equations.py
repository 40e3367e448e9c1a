"""Sparse normal equations of a pose graph: assembled, factorised and inverted at its edges."""

from __future__ import annotations

import numpy as np
import qdldl
import scipy.sparse as sp

from gnnsync.linalg.selected_inverse import InverseEntries
from gnnsync.methods.poses.residual import RelativePoses
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Added to the diagonal of the matrix, relative to it, so that every pivot is positive.
_SMALLEST_PIVOT = 1e-12


class NormalEquations:
    r"""The system :math:`H = \sum_e J_e^T W_e J_e` (3n × 3n) without the poses that are held.

    The pattern is analysed once (minimum-degree order by `qdldl`) and reused for every
    linearisation: `linearise` at poses, then `factorise`, then `solve` or `edge_covariance`.

    Args:
        edges: m measurements.
        held: (n,) poses that do not move: at least one in each connected component.
    """

    def __init__(self, edges: RelativePoses, held: BoolArray) -> None:
        self.edges = edges
        self._free = np.flatnonzero(~held)
        self._size = f = len(self._free)
        number = np.full(len(held), -1)
        number[self._free] = np.arange(f)
        i, j = number[edges.start], number[edges.end]
        self._ends = np.stack([i, j])
        inner = (i >= 0) & (j >= 0)
        low, high = np.minimum(i, j), np.maximum(i, j)
        keys = np.unique(np.concatenate([low[inner] * f + high[inner], np.arange(f) * (f + 1)]))
        # The last place collects what belongs to poses that are held.
        self._num_blocks = len(keys)
        self._off = np.where(inner, np.searchsorted(keys, low * f + high), len(keys))
        self._at_start = np.where(i >= 0, np.searchsorted(keys, i * (f + 1)), len(keys))
        self._at_end = np.where(j >= 0, np.searchsorted(keys, j * (f + 1)), len(keys))
        self._swapped = i > j
        self._diagonal = np.searchsorted(keys, np.arange(f) * (f + 1))
        row = 3 * (keys // f)[:, None, None] + np.arange(3)[None, :, None]
        column = 3 * (keys % f)[:, None, None] + np.arange(3)[None, None, :]
        row, column = np.broadcast_arrays(row, column)
        self._upper = row <= column
        row, column = row[self._upper], column[self._upper]
        self._order = np.lexsort((row, column))
        count = np.bincount(column, minlength=3 * f)
        self._indices, self._indptr = row[self._order], np.concatenate([[0], np.cumsum(count)])
        self._solver: qdldl.Solver | None = None

    def linearise(self, poses: FloatArray, information: FloatArray) -> None:
        """Assemble H at poses (n, 3) for information matrices W (m, 3, 3)."""
        self.assemble(*self.edges.jacobians(poses), information)

    def assemble(self, start: FloatArray, end: FloatArray, information: FloatArray) -> None:
        """Assemble H for derivatives (m, 3, 3) in the two poses of each edge."""
        self.jacobians, self.information = (start, end), information
        weighted = information @ end
        off = start.transpose(0, 2, 1) @ weighted
        off = np.where(self._swapped[:, None, None], off.transpose(0, 2, 1), off)
        total = self._collect(self._off, off)
        total += self._collect(self._at_end, end.transpose(0, 2, 1) @ weighted)
        total += self._collect(self._at_start, start.transpose(0, 2, 1) @ (information @ start))
        self._blocks = total.reshape(-1, 3, 3)[:-1]

    def factorise(self, damping: float = 0.0) -> None:
        """Factorise H with its diagonal multiplied by 1 + `damping`."""
        if not self._size:
            return
        blocks = self._blocks.copy()
        axis = np.arange(3)
        place = (self._diagonal[:, None], axis, axis)
        blocks[place] += np.maximum(damping, _SMALLEST_PIVOT) * blocks[place]
        values = blocks[self._upper][self._order]
        # `qdldl` reads the class with the older interface.
        matrix = sp.csc_matrix((values, self._indices, self._indptr), shape=(3 * self._size,) * 2)
        if self._solver is None:
            self._solver = qdldl.Solver(matrix, upper=True)
        else:
            self._solver.update(matrix, upper=True)

    def gradient(self, force: FloatArray) -> FloatArray:
        """Σ_e J_eᵀ f_e (n, 3) for f (m, 3)."""
        n = self.edges.num_poses
        at_start, at_end = (np.einsum("eba,eb->ea", j, force) for j in self.jacobians)
        total = np.zeros((n, 3))
        for axis in range(3):
            total[:, axis] = np.bincount(self.edges.start, at_start[:, axis], n)
            total[:, axis] += np.bincount(self.edges.end, at_end[:, axis], n)
        return total

    def solve(self, right: FloatArray) -> FloatArray:
        """H⁻¹ `right` (n, 3), 0 at the poses that are held."""
        found = np.zeros_like(right)
        if self._solver is not None:
            found[self._free] = self._solver.solve(right[self._free].ravel()).reshape(-1, 3)
        return found

    def sample(self, rng: np.random.Generator) -> FloatArray:
        """A draw (n, 3) from the normal distribution with covariance H⁻¹.

        H⁻¹ Σ J_eᵀ W_e^{1/2} ε with standard normal ε: it costs one solve, and the mean square of
        any linear function of the poses over some draws estimates its variance.
        """
        root = np.linalg.cholesky(self.information)
        noise = rng.standard_normal((len(self.edges), 3))
        return self.solve(self.gradient(np.einsum("eab,eb->ea", root, noise)))

    def edge_covariance(self) -> FloatArray:
        """Covariance J_e H⁻¹ J_eᵀ (m, 3, 3) of each edge's residual under precision H.

        By `InverseEntries`: all edges together cost a small multiple of the factorisation.
        """
        if self._solver is None:
            return np.zeros((len(self.edges), 3, 3))
        inverse = InverseEntries(self._solver)
        unknown = 3 * self._ends.T[:, :, None] + np.arange(3)
        entry = np.where(unknown >= 0, unknown, -1).reshape(-1, 6)
        covariance = inverse.at(entry[:, :, None], entry[:, None, :])
        jacobian = np.concatenate(self.jacobians, axis=2)
        return jacobian @ covariance @ jacobian.transpose(0, 2, 1)

    def _collect(self, place: IntArray, blocks: FloatArray) -> FloatArray:
        """Sums (blocks + 1, 9) of 3 × 3 matrices by their place."""
        count = self._num_blocks + 1
        flat = blocks.reshape(-1, 9)
        return np.stack([np.bincount(place, flat[:, k], count) for k in range(9)], axis=1)
