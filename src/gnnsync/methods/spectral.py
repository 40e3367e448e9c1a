"""Spectral synchronization: angles of the leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.eigen import top_eigenvectors


@dataclass(frozen=True)
class Spectral(ClassicalMethod):
    r"""Top-k eigenvectors of the Hermitian offset matrix (Singer 2011).

    .. math:: H v_l = \lambda_l v_l, \qquad r_{i,l} = \arg v_{i,l}, \qquad l = 1..k.

    For k > 1 this is the spectral method of Cucuringu and Tyagi (2022).
    """

    any_k = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k) of the leading eigenvectors of H."""
        values, vectors = top_eigenvectors(graph.hermitian, k, rng)
        return Estimate(np.angle(vectors), diagnostics={"top_eigenvalue": float(values[0])})


@dataclass(frozen=True)
class SpectralRN(ClassicalMethod):
    r"""Top-k eigenvectors of the row-normalised matrix D⁻¹H (Cucuringu, Lipman and Singer 2012).

    D⁻¹H is similar to the Hermitian :math:`S = D^{-1/2} H D^{-1/2}`: if S u = λu, then
    :math:`v = D^{-1/2} u` is the eigenvector sought, and positive scaling leaves its angles alone.
    """

    any_k = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k) of the leading eigenvectors of D⁻¹H."""
        scale = sp.diags_array(1.0 / np.sqrt(graph.degree))
        values, vectors = top_eigenvectors((scale @ graph.hermitian @ scale).tocsr(), k, rng)
        return Estimate(np.angle(vectors), diagnostics={"top_eigenvalue": float(values[0])})
