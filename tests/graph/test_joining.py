import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.errors import GraphError


@pytest.fixture
def graph():
    return MeasurementGraph.from_edges("ab", "bc", [0.5, 1.0], angles=[0.0, -0.5, -1.5])


def test_old_nodes_keep_their_numbers(graph):
    larger = graph.with_edges(["c", "x"], ["a", "c"], [-1.5, 0.25])
    assert larger.node_names == ("a", "b", "c", "x")
    assert larger.edge_index.tolist() == [[0, 1, 2, 3], [1, 2, 0, 2]]
    assert larger.offset[:2].tolist() == graph.offset.tolist()
    assert larger.angles is None
    assert graph.with_edges("c", "a", [1.0]).angles is not None
    assert graph.num_edges == 2


def test_weights_and_trust_of_either_side(graph):
    larger = graph.with_edges("c", "a", [1.0], weight=[3.0])
    assert larger.weight.tolist() == [1.0, 1.0, 3.0]
    assert larger.with_edges("c", "b", [1.0], trusted=[True]).trusted.tolist() == [False] * 3 + [
        True
    ]
    assert larger.with_edges("c", "b", [1.0]).weight.tolist() == [1.0, 1.0, 3.0, 1.0]


def test_numbers_stay_without_names():
    graph = MeasurementGraph([[0], [1]], [0.5], 2)
    assert graph.with_edges([1, 2], [2, 0], [0.1, 0.2]).node_names is None
    assert graph.with_edges(np.array([1]), np.array([7]), [0.1]).node_names == (0, 1, 7)


def test_wrong_edges_are_refused(graph):
    with pytest.raises(GraphError, match="self-loop"):
        graph.with_edges("a", "a", [1.0])
