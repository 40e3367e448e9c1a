"""The generalized power method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import smallest_eigenpair
from gnnsync.linalg.operator import phasor, unit
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.spectral import spectral_start
from gnnsync.typing import ComplexArray

# Relative accuracy of λ_min(H) in the shift α, which need not be exact.
_SHIFT_ACCURACY = 1e-2
# z is certified if the least eigenvalue of S is at least minus this times the largest degree: the
# accuracy to which z is stationary.
_CERTIFICATE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class GPM(ClassicalMethod):
    r"""Projected power iterations from a leading eigenvector (Boumal 2016).

    .. math:: z \leftarrow \mathrm{phase}\bigl((H + \alpha I)\, z\bigr), \qquad
              \max_{|z_i| = 1} f(z) = z^* H z.

    The shift α = max(0, -λ_min(H)) makes H + αI positive semidefinite, so that f never decreases.
    The iteration stops when z is stationary: with S = diag(Re(z̄ ∘ Hz)) - H, stationarity is
    S z = 0. If then also S ⪰ 0, z is a global maximiser (Boumal 2016, Bandeira, Boumal and Singer
    2017); the least eigenvalue of S is reported as `certificate`, and z counts as certified if it
    is at least -1e-6 times the largest degree. The initialisation is the eigenvector of D⁻¹H: that
    of H can be below rounding far from the densest part of a graph.

    Args:
        max_iterations: most power iterations.
        tol: z is stationary when max_i |(Sz)_i| ≤ tol · mean degree.
        certify: whether to compute the certificate (one more eigenvalue).
    """

    name = "gpm"

    max_iterations: int = 1000
    tol: float = 1e-6
    certify: bool = True

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("max_iterations", self.max_iterations, 1)
        check_real("tol", self.tol, 0, open_low=True)
        check_bool("certify", self.certify)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) of a stationary point of f."""
        matrix = graph.hermitian
        z = phasor(spectral_start(graph, rng))
        shift = max(0.0, -smallest_eigenpair(matrix, rng, tol=_SHIFT_ACCURACY)[0])
        goal = self.tol * float(graph.degree.mean())

        iterations, stationary = 0, False
        while True:
            image = matrix @ z
            # (Sz)_i = Re(z̄ Hz)_i z_i - (Hz)_i has modulus |Im(z̄ Hz)_i|.
            gradient = float(np.abs((z.conj() * image).imag).max())
            stationary = gradient <= goal
            if stationary or iterations == self.max_iterations:
                break
            z = unit(image + shift * z, z)
            iterations += 1

        diagnostics = {"objective": float((z.conj() @ image).real), "gradient": gradient}
        reason = "stationary" if stationary else "iteration limit"
        if self.certify and stationary:
            certificate = smallest_eigenpair(dual_matrix(matrix, z), rng)[0]
            diagnostics["certificate"] = certificate
            if certificate >= -_CERTIFICATE_TOLERANCE * float(graph.degree.max()):
                reason = "stationary and certified as the global maximum"
        return Estimate(np.angle(z), stationary, iterations, reason, diagnostics=diagnostics)


def dual_matrix(matrix: sp.csr_array, rows: ComplexArray) -> sp.csr_array:
    """S = diag(Re⟨y_i, (HY)_i⟩) - H for unit rows Y (n,) or (n, r); S ⪰ 0 certifies Y."""
    product = rows.conj() * (matrix @ rows)
    diagonal = product.real if product.ndim == 1 else product.real.sum(axis=1)
    return (sp.diags_array(diagonal.astype(matrix.dtype), format="csr") - matrix).tocsr()
