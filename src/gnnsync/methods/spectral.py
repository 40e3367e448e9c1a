"""Spectral synchronization: angles of the leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import eigen_residual, top_eigenvectors
from gnnsync.linalg.operator import normalise
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.typing import FloatArray

# Relative residual of the eigenpairs up to which they count as converged: far below the angular
# error of any data.
_RESIDUAL = 1e-6


@dataclass(frozen=True)
class Spectral(ClassicalMethod):
    r"""Top-k eigenvectors of the Hermitian offset matrix (Singer 2011).

    .. math:: H v_l = \lambda_l v_l, \qquad r_{i,l} = \arg v_{i,l}, \qquad l = 1..k.

    For k > 1 this is the spectral method of Cucuringu and Tyagi (2022).
    """

    name = "spectral"
    any_k = True

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

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k) of the leading eigenvectors of D⁻¹H."""
        return leading_angles(graph.hermitian, k, rng, graph.degree)


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
    """Angles (n,) of `SpectralRN`: the initialisation of the iterative methods."""
    return leading_angles(graph.hermitian, 1, rng, graph.degree).angles[:, 0]
