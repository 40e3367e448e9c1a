"""Triangles, bridges, spanning forests and angles along them."""

import tracemalloc
from collections import Counter
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import gnnsync.topology
from gnnsync.angles import wrap
from gnnsync.data.measurement import random_geometric
from gnnsync.topology import (
    bridges,
    component_labels,
    distinct,
    draw_triangles,
    find_triangles,
    forest_angles,
    minimum_spanning_edges,
    parent_edges,
    spanning_forest,
)


def brute_force(edge_index: np.ndarray) -> set[frozenset[int]]:
    """Every set of three edges that closes a triangle, by trying them all."""
    pairs = [frozenset(pair) for pair in edge_index.T.tolist()]
    found = set()
    for edges in combinations(range(len(pairs)), 3):
        sides = {pairs[e] for e in edges}
        if len(sides) == 3 and len(frozenset.union(*sides)) == 3:
            found.add(frozenset(edges))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_every_triangle_of_a_multigraph_exactly_once(make_multigraph, seed):
    graph = make_multigraph(seed, n=8, m=30)
    assert graph.num_parallel > 0
    found = [frozenset(edges) for edges in graph.triangles.edges.tolist()]
    assert len(found) == len(set(found))
    assert set(found) == brute_force(graph.edge_index)


@pytest.mark.parametrize("model", [nx.gnp_random_graph, nx.random_geometric_graph])
def test_counts_per_node_agree_with_networkx(model):
    reference = model(80, 0.2, seed=3)
    index = np.array(list(reference.edges())).T
    triangles = find_triangles(index, 80)
    assert len(triangles) == sum(nx.triangles(reference).values()) // 3 > 0
    corners = Counter()
    for edges in triangles.edges:
        corners.update(set(index[:, edges].ravel().tolist()))
    assert {i: corners[i] for i in range(80)} == nx.triangles(reference)


@pytest.mark.parametrize("seed", range(5))
def test_signs_close_the_walk(make_multigraph, seed):
    graph = make_multigraph(seed, n=10, m=40)
    triangles = graph.triangles
    assert triangles.signs.dtype == np.int8
    assert set(np.unique(triangles.signs)) <= {-1, 1}
    assert np.abs(wrap(triangles.sums(graph.offset))).max() < 1e-12
    # The same for any potential on the nodes, without reduction: each walk visits three nodes.
    potential = np.random.default_rng(seed).standard_normal(graph.num_nodes)
    differences = potential[graph.src] - potential[graph.dst]
    np.testing.assert_allclose(triangles.sums(differences), 0, atol=1e-12)


def test_signed_sum_of_a_known_triangle(triangle_and_tail):
    triangles = triangle_and_tail.triangles
    assert sorted(triangles.edges[0]) == [0, 1, 2]
    assert len(triangles) == 1
    assert abs(triangles.sums(triangle_and_tail.offset)[0]) == pytest.approx(0.3)


def test_parallel_edges_give_one_triangle_per_combination():
    # Pair {0,1} three times (one reversed), {1,2} twice, {0,2} once.
    index = np.array([[0, 1, 0, 1, 2, 2], [1, 0, 1, 2, 1, 0]])
    assert len(find_triangles(index, 3)) == 3 * 2 * 1


@pytest.mark.parametrize(
    "index",
    [
        np.empty((2, 0), dtype=np.int64),
        np.array([[0], [1]]),
        np.array([[0, 1, 2, 3], [1, 2, 3, 0]]),
        np.array([[0, 1, 0, 1], [1, 0, 1, 0]]),
    ],
    ids=["no edges", "one edge", "square", "one pair four times"],
)
def test_no_triangles(index):
    triangles = find_triangles(index, 4)
    assert len(triangles) == 0
    assert triangles.edges.shape == triangles.signs.shape == (0, 3)
    assert triangles.sums(np.zeros(index.shape[1])).shape == (0,)


@pytest.mark.parametrize("wedges", [1, 7, 100])
def test_chunks_change_nothing(make_multigraph, monkeypatch, wedges):
    graph = make_multigraph(1, n=15, m=80)
    whole = find_triangles(graph.edge_index, graph.num_nodes)
    monkeypatch.setattr(gnnsync.topology, "_WEDGES_PER_CHUNK", wedges)
    pieces = find_triangles(graph.edge_index, graph.num_nodes)
    assert len(whole) > 100
    np.testing.assert_array_equal(whole.edges, pieces.edges)
    np.testing.assert_array_equal(whole.signs, pieces.signs)


def test_relabelling_nodes_keeps_the_triangles(make_multigraph, rng):
    graph = make_multigraph(4)
    relabel = rng.permutation(graph.num_nodes)
    moved = find_triangles(relabel[graph.edge_index], graph.num_nodes)
    assert set(map(frozenset, moved.edges.tolist())) == brute_force(graph.edge_index)


def test_working_memory_is_linear(monkeypatch):
    """Peak memory follows chunk, edges and triangles, not n²: 4000² booleans alone are 16 MB."""
    monkeypatch.setattr(gnnsync.topology, "_WEDGES_PER_CHUNK", 1 << 12)
    n = 4000
    pairs = random_geometric(n, 0.0125, 0)
    tracemalloc.start()
    triangles = find_triangles(pairs, n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    words = 8 * (pairs.size + 3 * len(triangles) + n + (1 << 12))
    assert len(triangles) > 1000
    assert peak < 8 * words


def test_complete_graph_has_all_of_them():
    index = np.array(list(permutations(range(6), 2))).T  # every pair in both directions
    assert len(find_triangles(index, 6)) == 20 * 2**3


@pytest.mark.parametrize("enumerated", [True, False])
def test_drawn_triangles_are_some_of_all_each_with_the_same_chance(enumerated, monkeypatch):
    if not enumerated:
        monkeypatch.setattr(gnnsync.topology, "_ENUMERATE_BELOW", 0)
        monkeypatch.setattr(gnnsync.topology, "_WEDGES_PER_CHUNK", 16)
    n, limit, draws = 14, 20, 400
    rng = np.random.default_rng(5)
    index = np.argwhere(np.triu(rng.random((n, n)) < 0.6, 1)).T
    every = find_triangles(index, n)
    place = {tuple(sorted(t)): i for i, t in enumerate(every.edges.tolist())}
    assert len(every) > 2 * limit
    count = np.zeros(len(every))
    for draw in range(draws):
        found = draw_triangles(index, n, limit, np.random.default_rng(draw))
        assert len(found) == limit
        which = [place[tuple(sorted(t))] for t in found.edges.tolist()]
        assert len(set(which)) == limit
        count[which] += 1
        offset = rng.normal(size=n)[index]
        np.testing.assert_allclose(found.sums(offset[0] - offset[1]), 0, atol=1e-12)
    share = limit / len(every)
    assert np.abs(count / draws - share).max() < 5 * np.sqrt(share * (1 - share) / draws)


def test_a_generous_limit_draws_all_triangles():
    index = np.argwhere(np.triu(np.ones((7, 7)), 1)).T
    every, drawn = (
        find_triangles(index, 7),
        draw_triangles(index, 7, 1000, np.random.default_rng(0)),
    )
    np.testing.assert_array_equal(drawn.edges, every.edges)
    np.testing.assert_array_equal(drawn.signs, every.signs)


@given(arrays(np.int64, st.integers(0, 40), elements=st.integers(-5, 5)))
def test_distinct_is_unique(values):
    np.testing.assert_array_equal(distinct(values), np.unique(values))


@given(st.integers(0, 100_000))
def test_bridges_agree_with_their_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    src = rng.integers(n, size=rng.integers(30))
    index = np.stack([src, (src + rng.integers(1, n, size=len(src))) % n])
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(index.T.tolist())
    whole = nx.number_connected_components(graph)
    for edge, is_bridge in zip(index.T.tolist(), bridges(index, n), strict=True):
        graph.remove_edge(*edge)
        assert (nx.number_connected_components(graph) > whole) == is_bridge
        graph.add_edge(*edge)


def test_bridges_of_dense_parts_and_the_leaves_on_them():
    """Many edges per node: nodes with two disjoint paths are found first."""
    rng = np.random.default_rng(3)
    parts = [rng.integers(60, size=(2, 900)) + 60 * part for part in range(3)]
    parts = [part[:, part[0] != part[1]] for part in parts]
    # Two bridges between parts, a leaf, and a node with two edges.
    links = np.array([[0, 70, 5, 7, 9], [80, 125, 180, 181, 181]])
    found = bridges(np.concatenate([*parts, links], axis=1), 182)
    assert found[-5:].tolist() == [True, True, True, False, False]
    assert not found[:-5].any()


def test_bridges_of_a_large_path_and_cycle():
    """Deep recursion would overflow here."""
    n = 100_000
    path = np.stack([np.arange(n - 1), np.arange(1, n)])
    assert bridges(path, n).all()
    cycle = np.concatenate([path, [[n - 1], [0]]], axis=1)
    assert not bridges(cycle, n).any()


def random_multigraph(seed, most=20):
    """Edges (2, m) of a graph with parallel edges and several components."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most))
    src = rng.integers(n, size=rng.integers(1, 40))
    return np.stack([src, (src + rng.integers(1, n, size=len(src))) % n]), n


@given(st.integers(0, 10_000))
def test_a_spanning_forest_reaches_every_node_of_its_component(seed):
    index, n = random_multigraph(seed)
    order, parent = spanning_forest(index, n)
    assert sorted(order.tolist()) == list(range(n))
    label = component_labels(index, n)
    assert (parent < 0).sum() == len(np.unique(label))
    below = np.flatnonzero(parent >= 0)
    np.testing.assert_array_equal(label[parent[below]], label[below])
    edge = parent_edges(index, parent)
    assert (edge[parent < 0] == -1).all()
    np.testing.assert_array_equal(
        np.sort(index[:, edge[below]], 0), np.sort([below, parent[below]], 0)
    )


@given(st.integers(0, 10_000))
def test_the_forest_of_lowest_ranks_is_a_minimum_spanning_forest(seed):
    index, n = random_multigraph(seed)
    order = np.random.default_rng(seed).permutation(index.shape[1])
    cost = np.empty(len(order))
    cost[order] = np.arange(1, len(order) + 1)
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(zip(*index.tolist(), cost.tolist(), strict=True))
    expected = nx.minimum_spanning_tree(graph).size(weight="weight")
    assert cost[minimum_spanning_edges(index, n, order)].sum() == expected


@given(st.integers(0, 10_000))
def test_forest_angles_satisfy_consistent_offsets(seed):
    index, n = random_multigraph(seed)
    truth = np.random.default_rng(seed).uniform(-3, 3, n)
    angles = forest_angles(index, truth[index[0]] - truth[index[1]], n)
    np.testing.assert_allclose(
        angles[index[0]] - angles[index[1]], truth[index[0]] - truth[index[1]]
    )
    first = np.unique(component_labels(index, n), return_index=True)[1]
    np.testing.assert_array_equal(angles[first], 0.0)


def test_forest_angles_of_a_long_path():
    """Deep recursion would overflow here, and one pass per level would take minutes."""
    n = 100_000
    path = np.stack([np.arange(1, n), np.arange(n - 1)])
    np.testing.assert_allclose(forest_angles(path, np.full(n - 1, 0.5), n), 0.5 * np.arange(n))


def test_forest_angles_use_the_first_of_parallel_edges():
    index = np.array([[0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(forest_angles(index, np.array([1.0, 2.0, 3.0]), 2), [0.0, -1.0])


def test_a_sample_of_triangles_has_some_of_them():
    pairs = np.stack(np.triu_indices(12, 1))
    triangles = find_triangles(pairs, 12)
    sample = triangles.sample(50, np.random.default_rng(0))
    assert (len(triangles), len(sample)) == (220, 50)
    kept = {tuple(row) for row in triangles.edges}
    assert {tuple(row) for row in sample.edges} <= kept
    assert triangles.sample(220, np.random.default_rng(0)) is triangles
