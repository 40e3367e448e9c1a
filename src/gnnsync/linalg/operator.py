"""Sparse Hermitian matrices of one graph that differ in edge weights or frequency only."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.typing import ComplexArray, FloatArray


class EdgeOperator:
    """The sparsity pattern of a graph, sorted once and filled with new weights in O(m).

    Every edge e = (s, t) owns two stored entries: w·exp(i·offset) at [s, t] and its conjugate at
    [t, s]. Parallel edges keep separate entries, which matrix products add up.

    Args:
        graph: n nodes, m edges.
    """

    def __init__(self, graph: MeasurementGraph) -> None:
        n, m = graph.num_nodes, graph.num_edges
        self.num_nodes, self.num_edges = n, m
        self.src, self.dst, self.offset = graph.src, graph.dst, graph.offset
        # Transposing a matrix with one entry per column is a counting sort of the rows.
        row = graph.edge_index.ravel()
        pattern = sp.csc_array((np.ones(2 * m, np.int8), row, np.arange(2 * m + 1)), (n, 2 * m))
        pattern = pattern.tocsr()
        order = pattern.indices
        self.edge = order % m if m else order
        self._indptr = pattern.indptr.astype(np.int32)
        self._indices = graph.edge_index[::-1].ravel()[order].astype(np.int32)
        self._sign = np.where(order < m, 1.0, -1.0)
        # Set by `laplacian` on graphs where conjugate gradients converge slowly.
        self.factor: LaplacianFactor | None = None

    @cached_property
    def phase(self) -> ComplexArray:
        """exp(±i·offset) of the 2m stored entries."""
        phase = self._edge_phase[self.edge]
        phase.imag *= self._sign
        return phase

    def hermitian(self, weight: FloatArray, frequency: int = 1) -> sp.csr_array:
        """H (n, n) with H[s, t] = w·exp(i·frequency·offset), for weights (m,)."""
        phase = self.phase if frequency == 1 else self.phase**frequency
        return self._fill(weight[self.edge] * phase)

    def normalised(self, weight: FloatArray, frequency: int = 1) -> sp.csr_array:
        """D^{-1/2} H D^{-1/2} with D the degrees under `weight`; its spectrum is in [-1, 1]."""
        return normalise(self.hermitian(weight, frequency), self.degree(weight))

    def adjacency(self, weight: FloatArray) -> sp.csr_array:
        """The real symmetric matrix (n, n) of the weights (m,)."""
        return self._fill(weight[self.edge])

    def degree(self, weight: FloatArray) -> FloatArray:
        """Sum (n,) of the weights at each node."""
        total = np.zeros(self.num_nodes)
        for end in (self.src, self.dst):
            total += np.bincount(end, weights=weight, minlength=self.num_nodes)
        return total

    def squared_chord(self, phase: ComplexArray) -> FloatArray:
        """|z[s] - exp(i·offset) z[t]|² (m,) for unit complex numbers z (n,)."""
        rotated = self._edge_phase * phase[self.dst]
        gap = phase[self.src] - rotated
        return gap.real**2 + gap.imag**2

    def residual_phase(self, phase: ComplexArray) -> ComplexArray:
        """exp(i·residual) (m,) of the edges for unit complex numbers z (n,)."""
        return phase[self.src] * (self._edge_phase * phase[self.dst]).conj()

    @cached_property
    def _edge_phase(self) -> ComplexArray:
        return phasor(self.offset)

    def _fill(self, data: NDArray) -> sp.csr_array:
        return sp.csr_array((data, self._indices, self._indptr), shape=(self.num_nodes,) * 2)


def normalise(matrix: sp.csr_array, degree: FloatArray) -> sp.csr_array:
    """D^{-1/2} M D^{-1/2}; rows of degree 0 stay empty."""
    scale = 1.0 / np.sqrt(np.maximum(degree, np.finfo(float).tiny))
    by_entry = np.repeat(scale, np.diff(matrix.indptr)) * scale[matrix.indices]
    return sp.csr_array((matrix.data * by_entry, matrix.indices, matrix.indptr), matrix.shape)


def phasor(angle: FloatArray) -> ComplexArray:
    """exp(i·angle), from the real functions, which NumPy computes several times faster."""
    phase = np.empty(np.shape(angle), dtype=np.complex128)
    np.cos(angle, out=phase.real)
    np.sin(angle, out=phase.imag)
    return phase


def unit(number: ComplexArray, otherwise: ComplexArray) -> NDArray:
    """number/|number| for each entry; `otherwise` where the number is 0."""
    modulus = np.abs(number)
    alive = modulus > 0
    return np.where(alive, number / np.where(alive, modulus, 1.0), otherwise)
