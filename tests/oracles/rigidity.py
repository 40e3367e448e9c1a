"""Generic rigidity of small graphs in the plane by dense linear algebra at random positions."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np

_ZERO = 1e-7


def rigidity_matrix(pairs: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """(m, 2n): the row of edge ij is (p_i - p_j) at i and its negative at j, p random."""
    p = np.random.default_rng(seed).normal(size=(n, 2))
    matrix = np.zeros((pairs.shape[1], n, 2))
    edge = np.arange(pairs.shape[1])
    matrix[edge, pairs[0]] = p[pairs[0]] - p[pairs[1]]
    matrix[edge, pairs[1]] = p[pairs[1]] - p[pairs[0]]
    return matrix.reshape(len(matrix), 2 * n)


def rank(pairs: np.ndarray, n: int) -> int:
    matrix = rigidity_matrix(pairs, n)
    return int(np.linalg.matrix_rank(matrix, tol=_ZERO)) if matrix.size else 0


def are_rigid(pairs: np.ndarray, n: int, points: list[int]) -> bool:
    """Whether edges between any of the points would add no rank."""
    extra = np.array(list(combinations(points, 2))).T
    return rank(np.concatenate([pairs, extra], axis=1), n) == rank(pairs, n)


def circuit_sets(pairs: np.ndarray, n: int) -> list[set[int]]:
    """Edges of each component of the matroid that has a circuit.

    For a basis B the components are those of the graph that joins every other edge to the
    elements of B in its expansion.
    """
    matrix, basis = rigidity_matrix(pairs, n), []
    for e in range(len(matrix)):
        if np.linalg.matrix_rank(matrix[[*basis, e]], tol=_ZERO) > len(basis):
            basis.append(e)
    graph = nx.Graph()
    for e in set(range(len(matrix))) - set(basis):
        expansion = np.linalg.lstsq(matrix[basis].T, matrix[e], rcond=None)[0]
        graph.add_edges_from((e, b) for b, c in zip(basis, expansion, strict=True) if abs(c) > 1e-6)
    return [set(c) for c in nx.connected_components(graph)]


def is_globally_rigid(pairs: np.ndarray, n: int) -> bool:
    """Whether a random stress has a matrix of rank n - 3 (Gortler, Healy and Thurston 2010)."""
    if n <= 3:
        return pairs.shape[1] == n * (n - 1) // 2
    _, size, right = np.linalg.svd(rigidity_matrix(pairs, n).T)
    kernel = right[int((size > _ZERO).sum()) :]
    if len(right) - len(kernel) < 2 * n - 3 or not len(kernel):
        return False
    stress = np.random.default_rng(1).normal(size=len(kernel)) @ kernel
    laplacian = np.zeros((n, n))
    laplacian[pairs[0], pairs[1]] = laplacian[pairs[1], pairs[0]] = -stress
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    return int(np.linalg.matrix_rank(laplacian, tol=_ZERO)) == n - 3


def inseparable_sets(pairs: np.ndarray) -> set[frozenset[int]]:
    """Maximal sets of at least 3 points that no two other points separate, by trying all pairs."""
    graph = nx.Graph(pairs.T.tolist())
    joined = nx.complete_graph(graph.nodes)
    for cut in combinations(graph.nodes, 2):
        parts = list(nx.connected_components(graph.subgraph(set(graph.nodes) - set(cut))))
        for one, two in combinations(parts, 2):
            joined.remove_edges_from((u, v) for u in one for v in two)
    return {frozenset(c) for c in nx.find_cliques(joined) if len(c) >= 3}
