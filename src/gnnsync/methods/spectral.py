"""Spectral synchronization: angles of the leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import eigen_residual, top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator, normalise
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.initialisation import trusted_part
from gnnsync.typing import FloatArray
from gnnsync.work import TimeUp, advance, iteration_limit, time_is_up

# Relative residual of the eigenpairs up to which they count as converged: far below the angular
# error of any data.
_RESIDUAL = 1e-6
# An eigenvector entry below this part of the largest is rounding and has no angle.
_NO_ANGLE = 1e-10


@dataclass(frozen=True)
class Spectral(ClassicalMethod):
    r"""Top-k eigenvectors of the Hermitian offset matrix (Singer 2011).

    .. math:: H v_l = \lambda_l v_l, \qquad r_{i,l} = \arg v_{i,l}, \qquad l = 1..k.

    For k > 1 this is the spectral method of Cucuringu and Tyagi (2022).
    """

    name = "spectral"
    any_k = True
    stops_early = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k) of the leading eigenvectors of H."""
        return leading_angles(graph.hermitian, k, rng, None)


@dataclass(frozen=True)
class SpectralRN(ClassicalMethod):
    r"""Top-k eigenvectors of the row-normalised matrix D⁻¹H (Cucuringu, Lipman and Singer 2012).

    D⁻¹H is similar to the Hermitian :math:`S = D^{-1/2} H D^{-1/2}`: if S u = λu, then
    :math:`v = D^{-1/2} u` is an eigenvector of D⁻¹H, with the same angles as u.
    """

    name = "spectral_rn"
    any_k = True
    stops_early = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k) of the leading eigenvectors of D⁻¹H."""
        return leading_angles(graph.hermitian, k, rng, graph.degree)


@dataclass(frozen=True)
class SpectralDisentangled(ClassicalMethod):
    r"""Spectral method in turn with the assignment of edges to groups, until nothing changes.

    From the k leading eigenvectors of D⁻¹H, repeat (Cucuringu and Tyagi 2022): edge e joins the
    group :math:`\arg\min_l |\mathrm{wrap}(r_{s,l} - r_{t,l} - a_e)|`; the angles of group l become
    those of the leading eigenvector of its own edges. A node without edges in a group keeps its
    angle there. For k = 1 this is `spectral_rn`.

    Args:
        max_iterations: most rounds.
    """

    name = "spectral_disentangled"
    any_k = True
    stops_early = True
    canonical = True

    max_iterations: int = 50

    def check(self) -> None:
        """Range of the parameter."""
        check_integer("max_iterations", self.max_iterations, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k)."""
        operator = EdgeOperator(graph)
        start = leading_angles(graph.hermitian, k, rng, graph.degree)
        if k == 1:
            return start
        angles = start.angles.copy()
        group = np.full(graph.num_edges, -1)
        changed, iterations = 1.0, 0
        while iterations < self.max_iterations:
            iterations += 1
            nearest = np.abs(graph.residual(angles)).argmin(axis=1)
            changed = float((nearest != group).mean())
            advance(iterations / self.max_iterations)
            if changed == 0.0 or time_is_up():
                break
            group = nearest
            for side in range(k):
                weight = graph.edge_weight * (group == side)
                if not weight.any():
                    continue
                matrix = operator.normalised(weight)
                try:
                    vector = top_eigenvectors(matrix, 1, rng, bound=1.0)[1][:, 0]
                except TimeUp:
                    break
                reached = np.abs(vector) > _NO_ANGLE * np.abs(vector).max()
                angles[reached, side] = np.angle(vector[reached])
        converged = changed == 0.0
        return Estimate(
            angles,
            converged,
            iterations,
            "no edge changed its group" if converged else iteration_limit(iterations),
            diagnostics={"edges_changed": changed},
        )


def leading_angles(
    matrix: sp.csr_array, k: int, rng: np.random.Generator, degree: FloatArray | None
) -> Estimate:
    """Angles (n, k) of the top eigenvectors of H (n, n); of D⁻¹H if the degrees (n,) are given."""
    if degree is not None:
        matrix = normalise(matrix, degree)
    values, vectors, products = top_eigenvectors(
        matrix, k, rng, bound=None if degree is None else 1.0
    )
    residual = eigen_residual(matrix, values, vectors)
    return Estimate(
        np.angle(vectors),
        converged=residual <= _RESIDUAL,
        iterations=max(products, 1),
        stop_reason="leading eigenvectors found",
        diagnostics={"top_eigenvalue": float(values[0]), "eigen_residual": residual},
    )


def spectral_start(graph: MeasurementGraph, rng: np.random.Generator) -> FloatArray:
    """Angles (n,) of `SpectralRN`: the initialisation of the iterative methods.

    From the trusted edges alone, if they join all nodes.
    """
    graph = trusted_part(graph)
    return leading_angles(graph.hermitian, 1, rng, graph.degree).angles[:, 0]
