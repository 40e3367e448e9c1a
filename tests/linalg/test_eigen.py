"""Extreme eigenpairs, also where the spectral gap is tiny."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from gnnsync.linalg.eigen import eigen_residual, smallest_eigenpair, top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator
from tests.methods.networks import observed, pairs_of


@pytest.mark.parametrize("n", [2, 10, 100])
@pytest.mark.parametrize("count", [1, 3])
def test_eigenpairs_agree_with_lapack(n, count, rng):
    a = sp.random_array((n, n), density=0.3, rng=rng) + 1j * sp.random_array(
        (n, n), density=0.3, rng=rng
    )
    matrix = sp.csr_array(a + a.conj().T)
    values, vectors, _ = top_eigenvectors(matrix, count, rng)
    exact = np.linalg.eigvalsh(matrix.toarray())[::-1]
    np.testing.assert_allclose(values[: min(count, n)], exact[: min(count, n)], atol=1e-10)
    assert vectors.shape == (n, count)
    assert eigen_residual(matrix, values, vectors) < 1e-10
    least, vector = smallest_eigenpair(matrix, rng)
    assert least == pytest.approx(exact[-1], abs=1e-7)
    assert np.linalg.norm(matrix @ vector - least * vector) < 1e-5


@pytest.mark.parametrize("shape", ["path", "cycle", "grid"])
def test_tiny_gaps_are_resolved(shape, rng):
    """Eigenvalues 2cos(πj/(n+1)) of a path differ by some 10⁻⁷ here."""
    n = 10_000
    made = {"path": nx.path_graph(n), "cycle": nx.cycle_graph(n)}
    made["grid"] = nx.convert_node_labels_to_integers(nx.grid_2d_graph(100, 100))
    graph = observed(pairs_of(made[shape]))
    matrix = EdgeOperator(graph).hermitian(graph.edge_weight)
    values, vectors, _ = top_eigenvectors(matrix, 1, rng)
    top = {"path": 2 * np.cos(np.pi / (n + 1)), "cycle": 2.0, "grid": 4 * np.cos(np.pi / 101)}
    assert values[0] == pytest.approx(top[shape], rel=1e-13)
    aligned = vectors[:, 0] * np.exp(-1j * graph.angles[:, 0])
    aligned /= aligned[n // 2] / abs(aligned[n // 2])
    assert np.abs(np.angle(aligned)).max() < 1e-4
