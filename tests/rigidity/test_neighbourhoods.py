"""Globally rigid parts of neighbourhoods against the rigidity of each as a graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from gnnsync.rigidity import Rigidity, neighbourhood_bodies
from tests.rigidity.graphs import clique, edges, graphs


@settings(deadline=None, max_examples=60)
@given(graphs(most=10))
def test_parts_are_the_bodies_of_the_neighbourhood(graph):
    pairs, n = graph
    for point, parts in enumerate(neighbourhood_bodies(pairs, n, min_size=3)):
        own = {point, *pairs[1, pairs[0] == point], *pairs[0, pairs[1] == point]}
        inner = pairs[:, np.isin(pairs, list(own)).all(axis=0)]
        bodies = [body for body in Rigidity(inner, n).bodies if point in body]
        assert {frozenset(p.tolist()) for p in parts} == {frozenset(b.tolist()) for b in bodies}


def test_point_first_and_largest_part_first():
    pairs = edges(clique([3, 0, 1, 4]), clique([3, 5, 6, 7, 8]), [(3, 9)])
    parts = neighbourhood_bodies(pairs, 11)
    assert [p.tolist() for p in parts[3]] == [[3, 5, 6, 7, 8], [3, 0, 1, 4]]
    assert parts[9] == parts[10] == []
