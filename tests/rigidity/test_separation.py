"""Parts of a graph against networkx and against the removal of all pairs of points."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from gnnsync.rigidity.pebbles import PebbleGame
from gnnsync.rigidity.separation import biconnected_blocks, inseparable_sets, neighbour_sets
from tests.oracles import rigidity as oracle
from tests.rigidity.graphs import clique, edges, graphs


@settings(deadline=None, max_examples=100)
@given(graphs())
def test_blocks_are_those_of_networkx(graph):
    pairs, n = graph
    points = set(range(n)) & set(pairs.ravel().tolist())
    found = biconnected_blocks(neighbour_sets(pairs), points)
    expected = nx.biconnected_components(nx.Graph(pairs.T.tolist()))
    assert {frozenset(b) for b in found} == {frozenset(b) for b in expected}
    assert all(len(set(b)) == len(b) for b in found)


def test_blocks_of_some_of_the_points_only():
    neighbours = neighbour_sets(edges(clique([0, 1, 2]), clique([2, 3, 4])))
    assert [sorted(b) for b in biconnected_blocks(neighbours, [0, 1, 3, 4])] == [[0, 1], [3, 4]]


@settings(deadline=None, max_examples=150)
@given(graphs(most=11))
def test_parts_of_connected_sets_against_all_pairs(graph):
    pairs, n = graph
    label = PebbleGame(pairs, n).connected_sets()
    for k in range(label.max(initial=-1) + 1):
        some = pairs[:, label == k]
        neighbours = neighbour_sets(some)
        found = {frozenset(s) for s in inseparable_sets(neighbours, neighbours)}
        assert found == oracle.inseparable_sets(some)


def test_parts_without_any_triangle():
    # Two complete bipartite graphs that share two points, one of each side, but no edge.
    one = [(i, j) for i in (0, 1, 2, 3) for j in (10, 11, 12, 13, 14)]
    two = [(i, j) for i in (0, 21, 22, 23) for j in (10, 31, 32, 33, 34)]
    pairs = edges(one, two)
    pairs = pairs[:, ~((pairs[0] == 0) & (pairs[1] == 10))]
    neighbours = neighbour_sets(pairs)
    found = inseparable_sets(neighbours, neighbours)
    assert sorted(found) == [
        [0, 1, 2, 3, 10, 11, 12, 13, 14],
        [0, 10, 21, 22, 23, 31, 32, 33, 34],
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_point_held_by_three_parts(seed):
    legs = [clique([5, x, 10 + 2 * x, 11 + 2 * x])[1:] for x in (0, 1, 2)]
    order = np.random.default_rng(seed).permutation(16)
    pairs = order[edges(clique(range(5)), *legs)]
    neighbours = neighbour_sets(pairs)
    found = {frozenset(s) for s in inseparable_sets(neighbours, neighbours)}
    assert frozenset(order[[0, 1, 2, 3, 4, 5]].tolist()) in found
    assert found == oracle.inseparable_sets(pairs)


def test_a_chain_of_parts():
    size = 60
    chain = [clique([2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3]) for i in range(size)]
    pairs = edges(*chain)
    order = np.random.default_rng(0).permutation(2 * size + 2)
    neighbours = neighbour_sets(order[pairs])
    found = {frozenset(s) for s in inseparable_sets(neighbours, neighbours)}
    assert found == {frozenset(order[2 * i : 2 * i + 4].tolist()) for i in range(size)}
