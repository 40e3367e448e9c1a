"""Multi-frequency synchronization by periodogram peaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.spectral import leading_angles
from gnnsync.typing import ComplexArray, FloatArray
from gnnsync.work import advance, check_time

# Pairs whose periodogram is computed at a time: some tens of megabytes.
_PAIRS_PER_CHUNK = 1 << 14
# Newton steps from the best grid point, each limited to half a cell: far more than they need.
_NEWTON_STEPS = 8


@dataclass(frozen=True)
class PPE(ClassicalMethod):
    r"""Periodogram peak extraction (Gao and Zhao 2019).

    The offsets multiplied by q synchronize the angles multiplied by q. For q = 1..Q let
    :math:`u^{(q)}` be the leading eigenvector of :math:`D^{-1}H^{(q)}`, of entries
    :math:`w\,e^{iqa}`. The Q estimates are fused pair by pair,

    .. math:: \hat a_{st} = \arg\max_\phi\ \mathrm{Re} \sum_{q=1}^{Q}
              u^{(q)}_s \overline{u^{(q)}_t}\, e^{-iq\phi},

    in which the unknown phases of the eigenvectors cancel; then the spectral method is applied to
    the fused offsets. Here the pairs are those measured, so that memory stays O(m); the original
    fuses all pairs.

    Args:
        frequencies: Q.
        grid: points per frequency of the grid on which the maximum is located (by FFT) before
            Newton steps refine it.
    """

    name = "ppe"
    stops_early = True
    canonical = True

    frequencies: int = 8
    grid: int = 8

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("frequencies", self.frequencies, 1)
        check_integer("grid", self.grid, 2)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) of the spectral method on the fused offsets."""
        operator = EdgeOperator(graph)
        weight = graph.edge_weight
        scale = 1.0 / np.sqrt(graph.degree)
        vectors = np.empty((graph.num_nodes, self.frequencies), dtype=np.complex128)
        for q in range(1, self.frequencies + 1):
            advance((q - 1) / (self.frequencies + 1))
            matrix = operator.normalised(weight, q)
            vectors[:, q - 1] = scale * top_eigenvectors(matrix, 1, rng, bound=1.0)[1][:, 0]
        # Parallel edges fuse to the same offset, so one fusion serves each.
        fused = np.empty(graph.num_edges)
        for first in range(0, graph.num_edges, _PAIRS_PER_CHUNK):
            check_time()
            part = slice(first, first + _PAIRS_PER_CHUNK)
            product = vectors[graph.src[part]] * vectors[graph.dst[part]].conj()
            fused[part] = periodogram_peak(product, self.grid * self.frequencies)
        smooth = MeasurementGraph(graph.edge_index, fused, graph.num_nodes, weight=graph.weight)
        found = leading_angles(smooth.hermitian, 1, rng, graph.degree)
        return Estimate(
            found.angles[:, 0],
            found.converged,
            self.frequencies,
            "leading eigenvector of the fused offsets found",
            diagnostics=found.diagnostics,
        )


def periodogram_peak(coefficient: ComplexArray, grid: int) -> FloatArray:
    """argmax over φ of Re Σ_q c_q exp(-iqφ), q = 1..Q, for each row of `coefficient` (N, Q)."""
    count, frequencies = coefficient.shape
    spectrum = np.zeros((count, grid), dtype=np.complex128)
    spectrum[:, 1 : frequencies + 1] = coefficient
    phi = 2 * np.pi * np.fft.fft(spectrum, axis=1).real.argmax(axis=1) / grid
    q = np.arange(1, frequencies + 1)
    half_cell = np.pi / grid
    centre = phi
    for _ in range(_NEWTON_STEPS):
        term = coefficient * np.exp(-1j * phi[:, None] * q)
        slope, bend = (q * term.imag).sum(axis=1), -(q**2 * term.real).sum(axis=1)
        step = np.divide(-slope, bend, out=np.zeros(count), where=bend < 0)
        phi = np.clip(phi + step, centre - half_cell, centre + half_cell)
    return phi
