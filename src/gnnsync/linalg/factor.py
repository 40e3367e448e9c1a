"""Sparse LDLᵀ factorisation of the weighted Laplacian of a graph, reused for new weights."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import qdldl
import scipy.sparse as sp

from gnnsync.linalg.selected_inverse import InversePattern
from gnnsync.typing import FloatArray, IntArray

# Weights below this fraction of the largest are raised to it, so that every pivot is positive.
_SMALLEST_WEIGHT = 1e-14


class LaplacianFactor:
    """The factor of L_w with one node of each component held at 0.

    The pattern is analysed once (minimum-degree order by `qdldl`); `update` factorises for other
    weights. On chains with few closures, as pose graphs are, the factor has about as many entries
    as the graph, where conjugate gradients need thousands of iterations.

    Args:
        edge_index: (2, m) nodes of each edge.
        component: (n,) connected component of each node.
        weight: (m,) w ≥ 0.
    """

    def __init__(self, edge_index: IntArray, component: IntArray, weight: FloatArray) -> None:
        n = len(component)
        self.edge_index = edge_index
        self._free = np.ones(n, dtype=bool)
        self._free[np.unique(component, return_index=True)[1]] = False
        self._number = np.full(n, -1)
        self._number[self._free] = np.arange(self._free.sum())
        self._solver = qdldl.Solver(self._matrix(weight), upper=True) if self._free.any() else None

    def update(self, weight: FloatArray) -> None:
        """Factorise for other weights (m,)."""
        self.__dict__.pop("_factors", None)
        if self._solver is not None:
            self._solver.update(self._matrix(weight), upper=True)

    def solve(self, right: FloatArray) -> FloatArray:
        """x (n,) with L_w x = `right` (n,) off the nodes held at 0."""
        x = np.zeros(len(self._free))
        if self._solver is not None:
            x[self._free] = self._solver.solve(right[self._free])
        return x

    def least_squares(self, target: FloatArray) -> FloatArray:
        """The x (n,) that minimises Σ_e w_e (x[s] - x[t] - target_e)²."""
        n, (src, dst) = len(self._free), self.edge_index
        flow = self.weight * target
        right = np.zeros(n)
        right += np.bincount(src, weights=flow, minlength=n)
        right -= np.bincount(dst, weights=flow, minlength=n)
        return self.solve(right)

    def resistance(self) -> FloatArray:
        """Effective resistance (m,) of each edge: the variance of x[s] - x[t] under precision L_w.

        By `selected_inverse`: all edges together cost a small multiple of the factorisation.
        """
        if self._solver is None:
            return np.zeros(self.edge_index.shape[1])
        lower, diagonal, place = self._factors
        below, trace = self._pattern.entries(lower.data, diagonal)
        n = len(diagonal)
        ends = np.where(self._number >= 0, place[self._number], -1)[self.edge_index]
        low, high = ends.min(axis=0), ends.max(axis=0)
        own = np.append(trace, 0.0)  # entry -1 is a node held at 0
        between = np.zeros(len(low))
        inner = np.flatnonzero(low >= 0)
        column = np.repeat(np.arange(n), np.diff(lower.indptr))
        key = column * n + lower.indices
        between[inner] = below[np.searchsorted(key, low[inner] * n + high[inner])]
        return own[low] + own[high] - 2.0 * between

    def variance(self) -> FloatArray:
        """Variance (n,) of each x[i] about the mean of x under precision L_w, in one component.

        With Z the inverse of L_w without the node held at 0: Z[i, i] - 2 (Z1)[i]/n + 1ᵀZ1/n².
        """
        n, own = len(self._free), self.grounded_variance()
        mean = self.solve(np.ones(n)) / n
        return own - 2.0 * mean + mean.mean()

    def grounded_variance(self) -> FloatArray:
        """Variance (n,) of each x[i] about that of the first node of its component, held at 0."""
        own = np.zeros(len(self._free))
        if self._solver is not None:
            lower, diagonal, place = self._factors
            own[self._free] = self._pattern.entries(lower.data, diagonal)[1][place]
        return own

    def log_determinant(self) -> float:
        """Logarithm of the determinant of L_w without the rows of the nodes held at 0."""
        return 0.0 if self._solver is None else float(np.log(self._factors[1]).sum())

    @cached_property
    def _factors(self) -> tuple[sp.csc_array, FloatArray, IntArray]:
        """L, D, and the position of each free node in their order."""
        assert self._solver is not None
        lower, diagonal, order = self._solver.factors()
        lower = sp.csc_array(lower)
        lower.sort_indices()
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return lower, diagonal, place

    @cached_property
    def _pattern(self) -> InversePattern:
        """The pattern of the factor, the same for all weights."""
        lower = self._factors[0]
        return InversePattern(lower.indptr, lower.indices)

    def _matrix(self, weight: FloatArray) -> sp.csc_matrix:
        """Upper triangle of the Laplacian on the free nodes; all edges are in its pattern."""
        self.weight = np.maximum(weight, _SMALLEST_WEIGHT * weight.max())
        n, (src, dst) = len(self._free), self.edge_index
        degree = np.bincount(src, weights=self.weight, minlength=n)
        degree += np.bincount(dst, weights=self.weight, minlength=n)
        ends = self._number[self.edge_index]
        both = np.flatnonzero((ends >= 0).all(axis=0))
        free = np.arange(self._free.sum())
        row = np.concatenate([ends.min(axis=0)[both], free])
        column = np.concatenate([ends.max(axis=0)[both], free])
        value = np.concatenate([-self.weight[both], degree[self._free]])
        # `qdldl` reads the class with the older interface.
        return sp.csc_matrix((value, (row, column)), shape=(len(free), len(free)))
