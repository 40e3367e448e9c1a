"""Localizable points, with and without anchors."""

from __future__ import annotations

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
    # They do so here as well, but the third anchor has no edge, and a reflection is left.
    assert numbers(localizable_points(HINGED, 14, [2, 5, 13])) == [2, 5, 13]


def test_two_anchors_leave_a_reflection_and_change_nothing():
    assert numbers(localizable_points(HINGED, 14, [9, 10])) == [0, 1, 5, 6, 7, 9, 10]


@settings(deadline=None, max_examples=60)
@given(graphs(), st.data())
def test_anchors_are_a_clique(graph, data):
    pairs, n = graph
    chosen = st.lists(st.integers(0, n - 1), min_size=min(n, 3), unique=True)
    anchors = sorted(data.draw(chosen))
    every = edges(pairs.T.tolist(), clique(anchors))
    bodies = [set(b) for b in Rigidity(every, n).bodies if len(set(b) & set(anchors)) >= 3]
    expected = set(anchors).union(*bodies)
    if len(anchors) >= 3:
        joined = np.isin(np.arange(n), list(expected))
        found = localizable_points(pairs, n, anchors)
        linked = _with(anchors, every, n)
        np.testing.assert_array_equal(found[linked], joined[linked])


def _with(anchors, pairs, n):
    """Points connected to the anchors."""
    inside = np.isin(np.arange(n), anchors)
    for _ in range(n):
        reached = pairs[:, inside[pairs].any(axis=0)]
        inside[reached] = True
    return inside
