"""Entries of the inverse of a sparse symmetric matrix, on the pattern of its factor."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from gnnsync.typing import FloatArray, IntArray


def selected_inverse(lower: sp.csc_array, diagonal: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Entries of Z = A⁻¹ for A = (I + L) D (I + L)ᵀ, where L has entries and on the diagonal.

    The recursion of Takahashi, Fagan and Chen (1973): with s the columns of a supernode (columns
    of equal pattern) and r the rows below them,

    .. math:: M = L_{rs} (I + L_{ss})^{-1}, \quad Z_{rs} = -Z_{rr} M, \quad
        Z_{ss} = (I + L_{ss})^{-T} D_s^{-1} (I + L_{ss})^{-1} - M^T Z_{rs},

    from the last supernode to the first. The rows r are among the columns and rows of the parent
    supernode, so that Z_rr is a part of the parent's dense block. No other entry of Z is computed.

    Args:
        lower: L (n, n), strictly lower triangular, row numbers sorted, with the full pattern of
            the factorisation (numerical zeros stored).
        diagonal: D (n,).

    Returns:
        Z at the entries of L, in the order of `lower.data`, and the diagonal of Z (n,).
    """
    indptr, indices, data = lower.indptr, lower.indices, lower.data
    first = _supernodes(indptr, indices)
    parent = _parents(first, indptr, indices)
    children = np.bincount(parent[parent >= 0], minlength=len(parent))
    values, trace = np.empty_like(data), np.empty_like(diagonal)
    blocks: dict[int, tuple[IntArray, FloatArray]] = {}
    for s in range(len(parent) - 1, -1, -1):
        a, b = int(first[s]), int(first[s + 1])
        k = b - a
        rows = indices[indptr[b - 1] : indptr[b]]
        factor = np.zeros((k + len(rows), k))
        for i in range(k):
            factor[i, i] = 1.0
            factor[i + 1 :, i] = data[indptr[a + i] : indptr[a + i + 1]]
        block = _block(factor, diagonal[a:b], _above(blocks, int(parent[s]), rows))
        for i in range(k):
            values[indptr[a + i] : indptr[a + i + 1]] = block[i + 1 :, i]
        trace[a:b] = block.diagonal()[:k]
        if children[s]:
            blocks[s] = np.concatenate([np.arange(a, b), rows]), block
        if parent[s] >= 0:
            children[parent[s]] -= 1
            if not children[parent[s]]:
                del blocks[int(parent[s])]
    return values, trace


def _block(factor: FloatArray, diagonal: FloatArray, above: FloatArray) -> FloatArray:
    """Z (k + r, k + r) on the k columns and r rows of a supernode, from Z_rr."""
    k = len(diagonal)
    if k == 1:
        inverse, mixed = np.ones((1, 1)), factor[1:]
    else:
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


def _above(
    blocks: dict[int, tuple[IntArray, FloatArray]], parent: int, rows: IntArray
) -> FloatArray:
    """Z_rr (r, r), from the block of the parent."""
    if not len(rows):
        return np.zeros((0, 0))
    index, block = blocks[parent]
    place = np.searchsorted(index, rows)
    return block[place[:, None], place]


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
