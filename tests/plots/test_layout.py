import networkx as nx
import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.plots.layout import node_positions


def graph_of(graph):
    index = np.array(list(graph.edges())).T.reshape(2, -1)
    return MeasurementGraph(index, np.zeros(index.shape[1]), graph.number_of_nodes())


GRAPHS = {
    "path": nx.path_graph(30),
    "cycle": nx.cycle_graph(40),
    "star": nx.star_graph(20),
    "two nodes": nx.path_graph(2),
    "large grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_places_are_finite_apart_and_the_same_every_time(name):
    graph = graph_of(GRAPHS[name])
    place = node_positions(graph)
    assert np.isfinite(place).all()
    assert np.ptp(place, axis=0).max() == pytest.approx(1.0)
    assert len(np.unique(np.round(place, 6), axis=0)) == graph.num_nodes
    assert np.array_equal(place, node_positions(graph))


@pytest.mark.parametrize("name", ["cycle", "large grid"])
def test_neighbours_are_near(name):
    graph = graph_of(GRAPHS[name])
    place = node_positions(graph)
    along = np.linalg.norm(place[graph.src] - place[graph.dst], axis=1).mean()
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, graph.num_nodes, (2, 500))
    anywhere = np.linalg.norm(place[pairs[0]] - place[pairs[1]], axis=1).mean()
    assert along < 0.35 * anywhere


def test_components_do_not_overlap():
    graph = graph_of(nx.disjoint_union_all([nx.cycle_graph(size) for size in (30, 20, 10, 5)]))
    place = node_positions(graph)
    boxes = []
    for label in range(graph.num_components):
        own = place[graph.components == label]
        boxes.append((own.min(axis=0), own.max(axis=0)))
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert ((high < other_low) | (other_high < low)).any()


def test_many_small_components_and_nodes_alone():
    graph = MeasurementGraph(np.array([[0, 2], [1, 3]]), np.zeros(2), 60)
    place = node_positions(graph)
    assert np.isfinite(place).all()
    assert len(np.unique(np.round(place, 6), axis=0)) > 40
