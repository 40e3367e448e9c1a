"""Localizable points, with and without anchors."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.rigidity import Rigidity, localizable_points
from tests.rigidity.graphs import clique, edges, graphs

# Two bodies with points 0, 1 in common, and a third that hangs on point 9.
HINGED = edges(clique([0, 1, 2, 3]), clique([0, 1, 5, 6, 7]), [(3, 9)], clique([9, 10, 11, 12]))


def numbers(mask):
    return np.flatnonzero(mask).tolist()


def test_without_anchors_the_largest_body_of_each_part():
    assert numbers(localizable_points(HINGED, 14)) == [0, 1, 5, 6, 7]
    apart = HINGED[:, (HINGED[0] != 3) | (HINGED[1] != 9)]
    assert numbers(localizable_points(apart, 14)) == [0, 1, 5, 6, 7, 9, 10, 11, 12]


def test_three_anchors_choose_the_body():
    assert numbers(localizable_points(HINGED, 14, [9, 10, 12])) == [9, 10, 11, 12]
    assert numbers(localizable_points(HINGED, 14, [0, 2, 3])) == [0, 1, 2, 3]
    # Anchors in both bodies hold them together.
    assert numbers(localizable_points(HINGED, 14, [2, 5, 6])) == [0, 1, 2, 3, 5, 6, 7]
    # They do so here as well. The third anchor has no edge, and a reflection is left.
    assert numbers(localizable_points(HINGED, 14, [2, 5, 13])) == [0, 1, 2, 3, 5, 6, 7, 13]


def test_an_absolute_position_needs_three_anchors_in_the_body():
    assert numbers(localizable_points(HINGED, 14, [2, 9, 11])) == [2, 9, 11]


def test_anchors_in_two_components_make_each_absolute():
    apart = HINGED[:, (HINGED[0] != 3) | (HINGED[1] != 9)]
    anchors = [0, 1, 2, 9, 10, 11]
    expected = [0, 1, 2, 3, 9, 10, 11, 12]
    assert numbers(localizable_points(apart, 14, anchors)) == expected


def test_two_anchors_leave_a_reflection_and_change_nothing():
    assert numbers(localizable_points(HINGED, 14, [9, 10])) == [0, 1, 5, 6, 7, 9, 10]


@settings(deadline=None, max_examples=60)
@given(graphs(), st.data())
def test_anchors_are_a_clique(graph, data):
    pairs, n = graph
    chosen = st.lists(st.integers(0, n - 1), min_size=min(n, 3), max_size=n, unique=True)
    anchors = data.draw(chosen)
    if nx.number_of_edges(nx.Graph(pairs.T.tolist())) and len(anchors) >= 3:
        part = nx.node_connected_component(nx.Graph(pairs.T.tolist()), int(pairs[0, 0]))
        every = edges(pairs.T.tolist(), clique(sorted(anchors)))
        bodies = [set(b.tolist()) for b in Rigidity(every, n).bodies]
        expected = set(anchors).union(*[b for b in bodies if len(b & set(anchors)) >= 3])
        found = set(numbers(localizable_points(pairs, n, anchors)))
        if len(part & set(anchors)) >= 3:
            assert found & part == expected & part
