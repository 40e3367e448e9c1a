"""The generalized power method."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import check_bool, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import smallest_eigenpair
from gnnsync.linalg.operator import phasor, unit
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.convergence import is_negligible, typical_residual
from gnnsync.methods.spectral import spectral_start
from gnnsync.typing import ComplexArray, FloatArray
from gnnsync.work import (
    TimeUp,
    advance_towards,
    iteration_limit,
    loop,
    plan,
    stage,
    time_is_up,
)

# Relative accuracy of λ_min(H) in the shift α, which need not be exact.
_SHIFT_ACCURACY = 1e-2
# z is certified if the least eigenvalue of S is at least minus this times the largest degree: the
# accuracy to which z is stationary.
_CERTIFICATE_TOLERANCE = 1e-6
# Relative times of the stages on random graphs: `python -m benchmarks.progress`.
_COSTS = {"spectral start": 1.0, "power iterations": 4.0, "certificate": 5.0}


@dataclass(frozen=True)
class GPM(ClassicalMethod):
    r"""Projected power iterations from a leading eigenvector (Boumal 2016).

    .. math:: z \leftarrow \mathrm{phase}\bigl((H + \alpha I)\, z\bigr), \qquad
              \max_{|z_i| = 1} f(z) = z^* H z.

    The shift α = max(0, -λ_min(H)) makes H + αI positive semidefinite, so that f never decreases.
    The iteration stops when z is stationary: with S = diag(Re(z̄ ∘ Hz)) - H, stationarity is
    S z = 0. If then also S ⪰ 0, z is a global maximiser (Boumal 2016, Bandeira, Boumal and Singer
    2017); the least eigenvalue of S is reported as `certificate`, and z counts as certified if it
    is at least -1e-6 times the largest degree. An iteration that is not stationary at its limit has
    converged if it would move the angles by a negligible part of the residuals. The initialisation
    is the eigenvector of D⁻¹H: that of H can be below rounding far from the densest part of a
    graph.

    Args:
        max_iterations: most power iterations.
        tol: z is stationary when max_i |(Sz)_i| ≤ tol · mean degree.
        certify: whether to compute the certificate (one more eigenvalue).
    """

    name = "gpm"
    stops_early = True
    takes_start = True

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
        plan(_COSTS if self.certify else _COSTS | {"certificate": 0.0})
        with stage("spectral start"):
            plan({"eigenvectors": 1.0})
            z = phasor(spectral_start(graph, rng))
        return self._from(graph, z, rng)

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same from angles (n, 1), in place of the eigenvector."""
        plan({name: cost for name, cost in _COSTS.items() if name != "spectral start"})
        return self._from(graph, phasor(start[:, 0]), rng)

    def _from(self, graph: MeasurementGraph, z: ComplexArray, rng: np.random.Generator) -> Estimate:
        matrix = graph.hermitian
        with stage("power iterations"):
            found = self._ascend(graph, matrix, z, rng)
        diagnostics = {"objective": found.objective, "gradient": found.gradient}
        reason = "stationary" if found.stationary else "angles stopped moving"
        if not found.converged:
            reason = iteration_limit(found.iterations)
        if self.certify and found.stationary:
            with stage("certificate"), contextlib.suppress(TimeUp):
                plan({"eigenvectors": 1.0})
                certificate = smallest_eigenpair(dual_matrix(matrix, found.z), rng)[0]
                diagnostics["certificate"] = certificate
                if certificate >= -_CERTIFICATE_TOLERANCE * float(graph.degree.max()):
                    reason = "stationary and certified as the global maximum"
        return Estimate(
            np.angle(found.z), found.converged, found.iterations, reason, diagnostics=diagnostics
        )

    def _ascend(
        self,
        graph: MeasurementGraph,
        matrix: sp.csr_array,
        z: ComplexArray,
        rng: np.random.Generator,
    ) -> _Ascent:
        """Power iterations from z (n,) until it is stationary."""
        plan({"eigenvectors": 1.0, "iterations": 9.0})
        try:
            shift = max(0.0, -smallest_eigenpair(matrix, rng, tol=_SHIFT_ACCURACY)[0])
        except TimeUp:
            shift = float(graph.degree.max())  # a bound of -λ_min(H); no iteration follows
        goal = self.tol * float(graph.degree.mean())
        iterations, step, before, first = 0, np.inf, np.inf, 0.0
        with loop("iterations"):
            while True:
                image = matrix @ z
                # (Sz)_i = Re(z̄ Hz)_i z_i - (Hz)_i has modulus |Im(z̄ Hz)_i|.
                turn = (z.conj() * image).imag
                gradient = float(np.abs(turn).max())
                first = max(first, gradient)
                advance_towards(goal, first, gradient)
                if gradient <= goal or iterations == self.max_iterations or time_is_up():
                    break
                new = unit(image + shift * z, z)
                moved = new - z
                step, before = float(np.sqrt(np.vdot(moved, moved).real / len(z))), step
                z = new
                iterations += 1
        stationary = converged = gradient <= goal
        if not stationary:
            noise = typical_residual(graph.residual(np.angle(z)))
            converged = is_negligible(step, before, noise)
        objective = float((z.conj() @ image).real)
        return _Ascent(z, objective, gradient, iterations, stationary, converged)


class _Ascent(NamedTuple):
    """Where the power iterations ended: z (n,), f(z), max_i |(Sz)_i|, and whether at rest."""

    z: ComplexArray
    objective: float
    gradient: float
    iterations: int
    stationary: bool
    converged: bool


def dual_matrix(matrix: sp.csr_array, rows: ComplexArray) -> sp.csr_array:
    """S = diag(Re⟨y_i, (HY)_i⟩) - H for unit rows Y (n,) or (n, r); S ⪰ 0 certifies Y."""
    product = rows.conj() * (matrix @ rows)
    diagonal = product.real if product.ndim == 1 else product.real.sum(axis=1)
    return (sp.diags_array(diagonal.astype(matrix.dtype), format="csr") - matrix).tocsr()
