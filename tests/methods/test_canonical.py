"""The canonical form: equal for equivalent graphs, and the way back."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.chaos.relations import RELATIONS
from gnnsync import MeasurementGraph
from gnnsync.angles import circular_distance
from gnnsync.methods.base import Estimate
from gnnsync.methods.canonical import CanonicalForm
from gnnsync.methods.robust.closures.problem import is_pose_graph
from tests.methods.networks import SHAPES, noisy, observed

SAME_NODES = sorted(set(RELATIONS) - {"joined"})


@st.composite
def graphs(draw):
    """Connected graphs with noise, weights and trusted edges or without."""
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    tree = np.stack([np.arange(1, n), [rng.integers(i) for i in range(1, n)]])
    more = rng.integers(n, size=(2, draw(st.integers(0, 3 * n))))
    index = np.concatenate([tree, more[:, more[0] != more[1]]], axis=1)
    m = index.shape[1]
    return MeasurementGraph(
        index,
        rng.uniform(0, 2 * np.pi, m),
        n,
        weight=rng.uniform(0.1, 10, m) if draw(st.booleans()) else None,
        trusted=rng.random(m) < 0.3 if draw(st.booleans()) else None,
    )


def assert_same(one, other):
    np.testing.assert_array_equal(one.edge_index, other.edge_index)
    np.testing.assert_array_equal(one.edge_trusted, other.edge_trusted)
    np.testing.assert_allclose(one.edge_weight, other.edge_weight, rtol=1e-9)
    assert circular_distance(one.offset, other.offset).max() < 1e-10


@pytest.mark.parametrize("relation", SAME_NODES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(graph=graphs(), seed=st.integers(0, 1000))
def test_equivalent_graphs_have_the_same_form(relation, graph, seed):
    assume(relation != "relabelled" or not is_pose_graph(graph))
    changed = RELATIONS[relation](graph, np.random.default_rng(seed))
    assert_same(CanonicalForm.of(changed.graph).graph, CanonicalForm.of(graph).graph)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(graph=graphs())
def test_angles_there_and_back(graph):
    form = CanonicalForm.of(graph)
    angles = np.random.default_rng(0).uniform(0, 6, (graph.num_nodes, 2))
    there = form.angles(angles)
    back = form.restore(Estimate(there, edge_confidence=np.arange(form.graph.num_edges) / 1e3))
    assert circular_distance(back.angles, angles).max() < 1e-12
    gap = circular_distance(form.graph.residual(there)[form.edge], graph.residual(angles))
    opposite = circular_distance(form.graph.residual(there)[form.edge], -graph.residual(angles))
    assert np.minimum(gap, opposite).max() < 1e-10
    np.testing.assert_array_equal(back.edge_confidence, form.edge / 1e3)


def test_equal_measurements_are_one_of_the_sum_of_the_weights():
    index = np.array([[0, 0, 1, 0], [1, 1, 0, 1]])
    graph = MeasurementGraph(index, np.array([1.0, 1.0, -1.0, 2.0]), 2, weight=[1.0, 2.0, 3.0, 2.0])
    form = CanonicalForm.of(graph)
    assert form.graph.num_edges == 2
    weight = form.graph.edge_weight[form.edge]
    np.testing.assert_allclose(weight / weight[3], [3, 3, 3, 1])
    np.testing.assert_allclose(form.part, [1 / 6, 2 / 6, 3 / 6, 1])


def test_trusted_and_other_measurements_are_not_merged():
    index = np.array([[0, 0], [1, 1]])
    graph = MeasurementGraph(index, np.ones(2), 2, trusted=np.array([True, False]))
    assert CanonicalForm.of(graph).graph.num_edges == 2


def test_precisions_are_shared_by_weight():
    graph = MeasurementGraph(np.array([[0, 0], [1, 1]]), np.ones(2), 2, weight=[1.0, 3.0])
    form = CanonicalForm.of(graph)
    found = form.restore(Estimate(np.zeros(2), edge_precision=np.array([[8.0]])))
    np.testing.assert_allclose(found.edge_precision, [[2.0], [6.0]])


@pytest.mark.parametrize("shape", ["cycle", "star", "path", "two_nodes", "triangle"])
def test_symmetric_graphs_keep_the_order_of_their_nodes(shape):
    """Nothing tells their nodes apart, so that direction and angles must not decide either."""
    graph = observed(SHAPES[shape], seed=2)
    form = CanonicalForm.of(graph)
    for relation in ("reordered", "reversed", "rotated", "scaled"):
        changed = RELATIONS[relation](graph, np.random.default_rng(3))
        other = CanonicalForm.of(changed.graph)
        np.testing.assert_array_equal(other.node, form.node)


def test_offsets_change_by_rounding_only():
    graph = noisy(eta=0.0)
    form = CanonicalForm.of(graph)
    assert np.abs(form.graph.residual(form.angles(graph.angles))).max() < 1e-11


def test_poses_keep_their_numbers():
    graph = observed(SHAPES["path"], seed=1).replace(trusted=np.ones(499, bool))
    np.testing.assert_array_equal(CanonicalForm.of(graph).node, np.arange(500))


def test_nodes_keep_their_zero_if_asked():
    graph = noisy()
    form = CanonicalForm.of(graph, rotate=False)
    np.testing.assert_array_equal(form.rotation, 0)
    assert_same(
        CanonicalForm.of(
            RELATIONS["relabelled"](graph, np.random.default_rng(1)).graph, rotate=False
        ).graph,
        form.graph,
    )
