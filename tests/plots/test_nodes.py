import numpy as np
from matplotlib.figure import Figure

import gnnsync
from gnnsync import MeasurementGraph, Solution
from gnnsync.plots.nodes import MOST_EDGES, draw_nodes, node_values
from tests.methods.networks import synthetic


def drawn(solution, graph, coordinates=None):
    figure = Figure()
    draw_nodes(figure, solution, graph, coordinates)
    return figure.axes[0]


def labels(axes):
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_unknown_nodes_are_a_category_of_their_own():
    graph = MeasurementGraph(np.array([[0, 1, 2, 2], [1, 2, 0, 3]]), np.zeros(4), 4)
    solution = Solution.from_angles(graph, np.zeros(4)).replace(
        node_confidence=np.array([1.0, 0.2, 1.0, np.nan])
    )
    axes = drawn(solution, graph)
    assert "unknown (1)" in labels(axes)
    assert axes.get_title() == "confidence of the nodes"


def test_coordinates_are_used_and_missing_ones_left_out():
    graph = synthetic(0.2, 0.1, n=30, p=0.3)
    solution = gnnsync.solve(graph, "gpm")
    places = np.random.default_rng(0).random((30, 2)) * 100
    places[3] = np.nan
    axes = drawn(solution, graph, places)
    points = np.concatenate([c.get_offsets() for c in axes.collections if len(c.get_offsets()) > 1])
    assert {tuple(p) for p in np.asarray(points)} >= {tuple(p) for p in np.delete(places, 3, 0)}
    assert axes.get_title() == "confidence around the nodes"


def test_outliers_are_counted_and_many_edges_sampled():
    graph = synthetic(0.3, 0.1, n=200, p=0.3)
    assert graph.num_edges > MOST_EDGES
    solution = gnnsync.solve(graph, "gnc")
    found = labels(drawn(solution, graph))
    outliers = int((solution.edge_confidence < 0.5).sum())
    assert found == [f"outliers ({outliers:,})", f"a sample of {MOST_EDGES:,} edges"]


def test_without_confidences_of_nodes_those_of_their_edges():
    graph = MeasurementGraph(np.array([[0, 1, 2], [1, 2, 0]]), np.zeros(3), 4)
    solution = Solution.from_angles(graph, np.zeros(4), edge_confidence=np.array([1.0, 0.5, 0.0]))
    value, what = node_values(solution, graph)
    assert what == "edges"
    np.testing.assert_allclose(value, [0.5, 0.75, 0.25, np.nan])
