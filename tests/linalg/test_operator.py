"""Matrices of a graph under different weights and frequencies."""

import numpy as np

from gnnsync.linalg.operator import EdgeOperator


def test_operator_agrees_with_the_graph(make_multigraph):
    graph = make_multigraph(3, weighted=True, connected=True)
    operator = EdgeOperator(graph)
    dense = graph.hermitian.toarray()
    np.testing.assert_allclose(operator.hermitian(graph.edge_weight).toarray(), dense, atol=1e-14)
    np.testing.assert_allclose(operator.degree(graph.edge_weight), graph.degree)
    scale = 1 / np.sqrt(graph.degree)
    normalised = operator.normalised(graph.edge_weight).toarray()
    np.testing.assert_allclose(normalised, scale[:, None] * dense * scale, atol=1e-14)
    tripled = graph.replace(offset=3 * graph.offset)
    np.testing.assert_allclose(
        operator.hermitian(graph.edge_weight, 3).toarray(),
        tripled.hermitian.toarray(),
        atol=1e-12,
    )
    z = np.exp(1j * np.arange(graph.num_nodes))
    chord = 2 - 2 * np.cos(graph.residual(np.arange(graph.num_nodes) * 1.0))
    np.testing.assert_allclose(operator.squared_chord(z), chord, atol=1e-12)
