"""Entries of the inverse of a sparse symmetric matrix, on the pattern of its factor."""

from __future__ import annotations

import numpy as np
import qdldl
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from gnnsync.typing import FloatArray, IntArray

_NOTHING = np.zeros((0, 0))


def selected_inverse(lower: sp.csc_array, diagonal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Entries of the inverse of (I + L) D (I + L)ᵀ on the pattern of L; see `InversePattern`."""
    return InversePattern(lower.indptr, lower.indices).entries(lower.data, diagonal)


class InverseEntries:
    """Entries of A⁻¹ on the pattern of A, for a symmetric A (n, n) that `qdldl` has factorised.

    Args:
        solver: the factor of A.
    """

    def __init__(self, solver: qdldl.Solver) -> None:
        lower, self.pivots, order = solver.factors()
        lower = sp.csc_array(lower)
        lower.sort_indices()
        self._below, self._trace = selected_inverse(lower, self.pivots)
        n = len(self.pivots)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        # Place of each row of A in the order of elimination.
        self.place = place
        self._keys = np.repeat(np.arange(n), np.diff(lower.indptr)) * n + lower.indices

    def at(self, row: IntArray, column: IntArray) -> FloatArray:
        """A⁻¹ at entries where A is not 0, or on the diagonal; 0 where a number is -1.

        Args:
            row: integers of any shape.
            column: integers of the same shape, or one that broadcasts to it.
        """
        if not len(self.place):
            return np.zeros(np.broadcast_shapes(row.shape, column.shape))
        row, column = np.broadcast_arrays(row, column)
        row = np.where(row >= 0, self.place[row], -1)
        column = np.where(column >= 0, self.place[column], -1)
        low, high = np.minimum(row, column), np.maximum(row, column)
        found = np.where((low == high) & (low >= 0), self._trace[low], 0.0)
        off = (low >= 0) & (low < high)
        found[off] = self._below[
            np.searchsorted(self._keys, low[off] * len(self.place) + high[off])
        ]
        return found


class InversePattern:
    r"""Entries of Z = A⁻¹ for A = (I + L) D (I + L)ᵀ, where L has entries and on the diagonal.

    The recursion of Takahashi, Fagan and Chen (1973): with s the columns of a supernode (columns
    of equal pattern) and r the rows below them,

    .. math:: M = L_{rs} (I + L_{ss})^{-1}, \quad Z_{rs} = -Z_{rr} M, \quad
        Z_{ss} = (I + L_{ss})^{-T} D_s^{-1} (I + L_{ss})^{-1} - M^T Z_{rs},

    from the last supernode to the first. The rows r are among the columns and rows of the parent
    supernode, so that Z_rr is a part of the parent's dense block. No other entry of Z is computed.
    The pattern is analysed once and serves any number of factors.

    Args:
        indptr, indices: the pattern of L (n, n) by columns, strictly lower triangular, row numbers
            sorted, with the full pattern of the factorisation (numerical zeros stored).
    """

    def __init__(self, indptr: IntArray, indices: IntArray) -> None:
        self.indptr = indptr.tolist()
        first = _supernodes(indptr, indices)
        parent = _parents(first, indptr, indices)
        self.first, self.parent = first.tolist(), parent.tolist()
        self.children = np.bincount(parent[parent >= 0], minlength=len(parent)).tolist()
        # Position of the rows of each supernode in the block of its parent.
        self.places: list[IntArray] = []
        for b, above in zip(self.first[1:], self.parent, strict=True):
            rows = indices[self.indptr[b - 1] : self.indptr[b]]
            if len(rows) > 0:
                start, end = self.first[above], self.first[above + 1]
                below = indices[self.indptr[end - 1] : self.indptr[end]]
                inside = rows < end
                place = np.searchsorted(below, rows) + end - start
                self.places.append(np.where(inside, rows - start, place))
            else:
                self.places.append(rows)

    def entries(self, data: FloatArray, diagonal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Z at the entries of L, in the order of `data`, and the diagonal of Z (n,).

        Args:
            data: entries of L by columns.
            diagonal: D (n,).
        """
        indptr, left = self.indptr, list(self.children)
        values, trace = np.empty_like(data), np.empty_like(diagonal)
        blocks: dict[int, FloatArray] = {}
        for s in range(len(self.parent) - 1, -1, -1):
            a, b, parent, place = self.first[s], self.first[s + 1], self.parent[s], self.places[s]
            above = blocks[parent][place[:, None], place] if parent >= 0 else _NOTHING
            if b - a == 1:
                block = _single(data[indptr[a] : indptr[b]], diagonal[a], above)
                values[indptr[a] : indptr[b]] = block[1:, 0]
                trace[a] = block[0, 0]
            else:
                factor = np.zeros((b - a + len(place), b - a))
                for i in range(b - a):
                    factor[i, i] = 1.0
                    factor[i + 1 :, i] = data[indptr[a + i] : indptr[a + i + 1]]
                block = _block(factor, diagonal[a:b], above)
                for i in range(b - a):
                    values[indptr[a + i] : indptr[a + i + 1]] = block[i + 1 :, i]
                trace[a:b] = block.diagonal()[: b - a]
            if left[s]:
                blocks[s] = block
            if parent >= 0:
                left[parent] -= 1
                if not left[parent]:
                    del blocks[parent]
        return values, trace


def _single(column: FloatArray, pivot: float, above: FloatArray) -> FloatArray:
    """`_block` for a supernode of one column."""
    size = len(column) + 1
    block = np.empty((size, size))
    block[1:, 1:] = above
    below = above @ column
    np.negative(below, out=below)
    block[1:, 0] = block[0, 1:] = below
    block[0, 0] = 1.0 / pivot - column @ below
    return block


def _block(factor: FloatArray, diagonal: FloatArray, above: FloatArray) -> FloatArray:
    """Z (k + r, k + r) on the k columns and r rows of a supernode, from Z_rr."""
    k = len(diagonal)
    inverse = solve_triangular(
        factor[:k], np.eye(k), lower=True, unit_diagonal=True, check_finite=False
    )
    mixed = factor[k:] @ inverse
    block = np.empty((len(factor), len(factor)))
    block[k:, k:] = above
    block[k:, :k] = -above @ mixed
    block[:k, k:] = block[k:, :k].T
    block[:k, :k] = inverse.T @ (inverse / diagonal[:, None]) - mixed.T @ block[k:, :k]
    return block


def _supernodes(indptr: IntArray, indices: IntArray) -> IntArray:
    """First column of each supernode, and n at the end."""
    n = len(indptr) - 1
    size = np.diff(indptr)
    top = np.full(n, -1)
    top[size > 0] = indices[indptr[:-1][size > 0]]
    # Column j goes on as j + 1 if its pattern is {j + 1} and that of j + 1.
    joined = (top[:-1] == np.arange(1, n)) & (size[:-1] == size[1:] + 1)
    return np.concatenate([[0], np.flatnonzero(~joined) + 1, [n]])


def _parents(first: IntArray, indptr: IntArray, indices: IntArray) -> IntArray:
    """The supernode with the first row below each supernode; -1 if it has no rows."""
    last = first[1:] - 1
    owner = np.repeat(np.arange(len(last)), np.diff(first))
    size = indptr[last + 1] - indptr[last]
    parent = np.full(len(last), -1)
    parent[size > 0] = owner[indices[indptr[last[size > 0]]]]
    return parent
