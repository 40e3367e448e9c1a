"""The semidefinite relaxation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import smallest_eigenpair
from gnnsync.linalg.operator import phasor, unit
from gnnsync.linalg.trust_region import Stationary, maximise_unit_rows
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.gpm import dual_matrix
from gnnsync.methods.spectral import spectral_start
from gnnsync.work import TimeUp, iteration_limit, plan, stage

# Size, relative to unit rows, of the random part that lifts the spectral solution off its axis and
# of the step along the escape direction: small enough to keep the objective.
_LIFT = 0.1
# Y is certified if the least eigenvalue of S is at least minus this times the largest degree.
_CERTIFICATE_TOLERANCE = 1e-7
# Relative times of the stages, for the progress that is shown.
_COSTS = {"spectral start": 1.0, "trust region": 8.0, "certificate": 3.0}


@dataclass(frozen=True)
class SDP(ClassicalMethod):
    r"""Semidefinite relaxation by low-rank factorisation (Singer 2011; Boumal 2016).

    .. math:: \max_{X \succeq 0,\ X_{ii} = 1} \langle H, X\rangle, \qquad X = Y Y^*,\
              \|y_i\| = 1,\ Y \in \mathbb{C}^{n \times r}.

    A trust-region method makes Y stationary. With S = diag(Re⟨y_i, (HY)_i⟩) - H, Y is optimal iff
    S ⪰ 0; else the least eigenvector of S is an ascent direction in one more dimension, and r grows
    (the Riemannian staircase, Boumal 2015). The angles are those of the leading left singular
    vector of Y, exact if the relaxation is tight (X of rank one).

    Diagnostics: `relaxation` ⟨H, YY*⟩; `certificate` the least eigenvalue of S; `upper_bound`
    the dual bound relaxation + n·max(0, -certificate), which no angles' z*Hz exceeds;
    `objective` the z*Hz of the rounded angles; `rank` of Y; `tightness` the share of ‖Y‖² in its
    leading singular vector, 1 if tight; `gradient` max_i ‖(SY)_i‖.

    Args:
        rank: first r.
        max_rank: largest r.
        tol: Y is stationary when max_i ‖(SY)_i‖ ≤ tol · mean degree.
        max_iterations: most trust-region steps per rank.
    """

    name = "sdp"
    stops_early = True

    rank: int = 4
    max_rank: int = 32
    tol: float = 1e-8
    max_iterations: int = 300

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("rank", self.rank, 1)
        check_integer("max_rank", self.max_rank, self.rank)
        check_real("tol", self.tol, 0, open_low=True)
        check_integer("max_iterations", self.max_iterations, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) rounded from the optimal Y."""
        plan(_COSTS)
        n = graph.num_nodes
        matrix = graph.hermitian
        with stage("spectral start"):
            plan({"eigenvectors": 1.0})
            start = phasor(spectral_start(graph, rng))
        # Off the axis of the spectral solution: stationary points of lower rank are saddles.
        aside = rng.standard_normal((n, 2 * (self.rank - 1))).view(np.complex128)
        rows = np.column_stack([start, _LIFT * aside])
        goal = self.tol * float(graph.degree.mean())
        slack = _CERTIFICATE_TOLERANCE * float(graph.degree.max())
        iterations, certificate = 0, -np.inf
        while True:
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            with stage("trust region"):
                found = maximise_unit_rows(
                    matrix, rows, tol=goal, max_iterations=self.max_iterations
                )
            rows, iterations = found.rows, iterations + found.iterations
            try:
                with stage("certificate"):
                    plan({"eigenvectors": 1.0})
                    certificate, escape = smallest_eigenpair(dual_matrix(matrix, rows), rng)
            except TimeUp:
                break
            if certificate >= -slack or rows.shape[1] >= self.max_rank or not found.converged:
                break
            rows = np.column_stack([rows, np.sqrt(n) * _LIFT * escape])
        return _rounded(matrix, found, iterations, certificate, slack)


def _rounded(
    matrix: sp.csr_array, found: Stationary, iterations: int, certificate: float, slack: float
) -> Estimate:
    """Angles of the leading left singular vector of Y (n, r); `certificate` is -∞ if unknown."""
    rows, n = found.rows, len(found.rows)
    relaxation = float(np.vdot(rows, matrix @ rows).real)
    left, size, _ = np.linalg.svd(rows, full_matrices=False)
    z = unit(left[:, 0], np.ones(n, dtype=np.complex128))
    certified = certificate >= -slack
    reason = "stationary" if found.converged else iteration_limit(iterations)
    diagnostics = {
        "relaxation": relaxation,
        "objective": float(np.vdot(z, matrix @ z).real),
        "gradient": found.gradient,
        "rank": float(rows.shape[1]),
        "tightness": float(size[0] ** 2 / n),
    }
    if np.isfinite(certificate):
        diagnostics["upper_bound"] = relaxation + n * max(0.0, -certificate)
        diagnostics["certificate"] = certificate
    return Estimate(
        np.angle(z),
        found.converged and certified,
        iterations,
        f"{reason} and certified" if certified else f"{reason}, not certified",
        diagnostics=diagnostics,
    )
