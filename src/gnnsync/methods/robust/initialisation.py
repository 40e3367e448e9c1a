"""Spectral initialisation for k groups: leading eigenvectors, separated by constant modulus."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.typing import ComplexArray, FloatArray

# Random starts of the fixed-point iteration, and its steps: it converges cubically near a solution.
_STARTS = 64
_STEPS = 60


def initial_angles(graph: MeasurementGraph, k: int, rng: np.random.Generator) -> FloatArray:
    """Angles (n, k) of the k leading eigenvectors of D⁻¹H, separated by `unmix` for k > 1.

    For k = 1 from the trusted edges alone, if they join all nodes.
    """
    graph = trusted_part(graph) if k == 1 else graph
    operator = EdgeOperator(graph)
    matrix = operator.normalised(graph.edge_weight)
    count = min(k, graph.num_nodes)
    vectors = top_eigenvectors(matrix, count, rng, bound=1.0).vectors
    if k == 1:
        return np.angle(vectors)
    # In D⁻¹H's eigenvectors D^{-1/2} v every node has the same modulus, whatever its degree.
    scaled = vectors / np.sqrt(operator.degree(graph.edge_weight))[:, None]
    angles = np.angle(unmix(scaled, rng))
    return np.concatenate([angles, np.repeat(angles[:, -1:], k - count, axis=1)], axis=1)


def trusted_part(graph: MeasurementGraph) -> MeasurementGraph:
    """The graph of the trusted edges if they join all nodes, else the graph itself."""
    if graph.trusted is None or not graph.trusted.any():
        return graph
    part = graph.keep_edges(graph.trusted)
    return part if part.is_connected else graph


def unmix(vectors: ComplexArray, rng: np.random.Generator) -> ComplexArray:
    r"""Vectors (n, k) of nearly constant modulus in the span of `vectors` (n, k).

    k groups of equal size have equal leading eigenvalues, so the eigenvectors are an arbitrary
    unitary mix of the k phase vectors. Each phase vector has constant :math:`|x_i|`: the unit w
    that minimises :math:`\sum_i (|(Xw)_i|^2 - 1)^2` is found by the fixed-point iteration of the
    constant-modulus criterion (Godard 1980; Hyvärinen and Oja 2000 for the one-unit step), from
    many random starts. Vectors already found are projected out.
    """
    n, k = vectors.shape
    white = np.linalg.qr(vectors)[0] * np.sqrt(n)
    left = np.eye(k, dtype=np.complex128)
    found: list[ComplexArray] = []
    for _ in range(k):
        size = left.shape[1]
        w = rng.standard_normal((size, _STARTS)) + 1j * rng.standard_normal((size, _STARTS))
        w /= np.linalg.norm(w, axis=0)
        for _ in range(_STEPS if size > 1 else 0):
            y = white @ (left @ w)
            # Unit-modulus sources have negative kurtosis: the step w ← E[x y* |y|²] is reversed.
            w = 2.0 * w - (white @ left).conj().T @ (y * np.abs(y) ** 2) / n
            w /= np.linalg.norm(w, axis=0)
        cost = ((np.abs(white @ (left @ w)) ** 2 - 1.0) ** 2).mean(axis=0)
        best = left @ w[:, cost.argmin()]
        found.append(best)
        # Orthonormal complement of the vectors found, in the coordinates of the span.
        left = np.linalg.svd(np.stack(found, axis=1))[0][:, len(found) :]
    return white @ np.stack(found, axis=1)
