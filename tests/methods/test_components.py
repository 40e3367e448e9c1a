import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods import METHODS, ClassicalMethod, DisconnectedGraphWarning, Estimate
from gnnsync.methods.components import Components
from gnnsync.topology import forest_angles

pytestmark = pytest.mark.filterwarnings("ignore::gnnsync.methods.DisconnectedGraphWarning")
PAIRS = 2000


def pairs(count=PAIRS, **fields):
    offset = np.random.default_rng(0).uniform(0, 6, count)
    index = np.arange(2 * count).reshape(count, 2).T
    return MeasurementGraph(index, offset, 2 * count, **fields)


@pytest.fixture
def mixed():
    """A path of 3 nodes, a triangle, two pairs, one of them trusted, and a single node."""
    index = np.array([[0, 1, 3, 4, 5, 6, 8], [1, 2, 4, 5, 3, 7, 9]])
    trusted = np.array([False] * 6 + [True])
    return MeasurementGraph(index, [0.5, 1, 1, 1, -2, 3, 2], 11, trusted=trusted)


def test_components_by_kind(mixed):
    found = Components(mixed)
    assert found.nodes.tolist() == [3, 3, 2, 2, 1]
    assert found.edges.tolist() == [2, 3, 1, 1, 0]
    assert found.trees.tolist() == [True, False, True, True, False]
    parts = dict(found.parts(found.with_edges))
    assert list(parts) == [0, 1, 2, 3]
    assert parts[1].nodes.tolist() == [3, 4, 5]
    assert parts[1].edges.tolist() == [2, 3, 4]
    assert parts[3].graph.trusted.tolist() == [True]
    nodes, angles = found.tree_angles(found.trees)
    assert nodes.tolist() == [0, 1, 2, 6, 7, 8, 9]
    assert angles[3] - angles[4] == pytest.approx(3.0)


class Counted(ClassicalMethod):
    """Counts its calls; exact on trees."""

    name, calls = "counted", 0

    def estimate(self, graph, k, rng):
        type(self).calls += 1
        angles = forest_angles(graph.edge_index, graph.offset, graph.num_nodes)
        return Estimate(angles, node_confidence=np.ones(graph.num_nodes))


class Wrong(Counted):
    """Wrong on trees."""

    name, calls = "wrong", 0

    def estimate(self, graph, k, rng):
        type(self).calls += 1
        return Estimate(np.zeros(graph.num_nodes))


def test_many_trees_are_one_call():
    """A loop over 100,000 pairs of nodes would take minutes."""
    Counted.calls = 0
    graph = pairs()
    solution = Counted()(graph)
    assert Counted.calls == 1
    assert np.abs(solution.residual()).max() < 1e-12
    assert solution.diagnostics["components_solved"] == PAIRS
    assert np.isnan(solution.node_confidence).all()
    assert np.isnan(solution.edge_confidence).all()


def test_a_method_that_is_wrong_on_trees_stays_so():
    Wrong.calls = 0
    solution = Wrong()(pairs(5))
    assert Wrong.calls == 5
    assert not solution.angles.any()


@pytest.mark.parametrize("name", [name for name in METHODS if name != "trivial"])
def test_trees_and_others_are_solved_as_one_by_one(mixed, name):
    method = METHODS[name]()
    whole = method(mixed)
    assert whole.converged
    assert np.abs(mixed.residual(whole.angles)).max() < 1e-6
    assert whole.diagnostics["components_solved"] == 4
    for nodes in ([0, 1, 2], [3, 4, 5], [6, 7], [8, 9]):
        part, edges = mixed.subgraph(np.array(nodes))
        alone = method(part)
        assert np.array_equal(
            np.isnan(whole.edge_confidence[edges]), np.isnan(alone.edge_confidence)
        )
        if whole.node_confidence is not None and alone.node_confidence is not None:
            assert np.allclose(whole.node_confidence[nodes], alone.node_confidence, equal_nan=True)


def test_components_are_warned_of():
    with pytest.warns(DisconnectedGraphWarning, match="the graph has 3 components"):
        METHODS["gpm"]()(pairs(3))
