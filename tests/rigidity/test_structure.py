"""Rigid, redundantly and globally rigid graphs: known examples, and random ones densely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from gnnsync.rigidity import Rigidity
from tests.oracles import rigidity as oracle
from tests.rigidity.graphs import clique, edges, graphs

K4 = clique(range(4))


@settings(deadline=None, max_examples=200)
@given(graphs())
def test_global_rigidity_is_that_of_a_random_stress(graph):
    assert Rigidity(*graph).is_globally_rigid == oracle.is_globally_rigid(*graph)


@settings(deadline=None, max_examples=60)
@given(graphs(most=7))
def test_redundancy_is_that_of_the_rank(graph):
    pairs, n = graph
    rigidity = Rigidity(pairs, n)
    full = oracle.rank(pairs, n)
    without = [oracle.rank(np.delete(pairs, e, axis=1), n) == full for e in range(pairs.shape[1])]
    np.testing.assert_array_equal(rigidity.redundant, np.array(without, dtype=bool))
    assert rigidity.is_redundantly_rigid == (rigidity.is_rigid and all(without))


@pytest.mark.parametrize(
    ("pairs", "n", "rigid", "redundant", "unique"),
    [
        (clique(range(3)), 3, True, False, True),
        (K4[:-1], 4, True, False, False),
        (K4, 4, True, True, True),
        ([(i, (i + 1) % 5) for i in range(5)] + [(5, i) for i in range(5)], 6, True, True, True),
        # Two bodies on a common hinge: redundantly rigid, but one can be reflected at the hinge.
        (K4 + clique([0, 1, 4, 5]), 6, True, True, False),
        # The same without the hinge's own edge.
        (K4[1:] + clique([0, 1, 4, 5])[1:], 6, True, True, False),
        # Bipartite graphs: K(3,3) is rigid without redundancy, K(4,4) globally rigid.
        ([(i, j) for i in range(3) for j in range(3, 6)], 6, True, False, False),
        ([(i, j) for i in range(4) for j in range(4, 8)], 8, True, True, True),
        ([(0, 1)], 2, True, False, True),
        ([], 1, False, False, True),
    ],
)
def test_known_graphs(pairs, n, rigid, redundant, unique):
    found = Rigidity(edges(pairs), n)
    if n > 1:
        assert (found.is_rigid, found.is_redundantly_rigid) == (rigid, redundant)
    assert found.is_globally_rigid == unique


def test_bodies_of_a_hinge_a_bar_and_a_triangle():
    pairs = edges(K4[1:], clique([0, 1, 4, 5])[1:], [(5, 6)], clique([6, 7, 8]))
    rigidity = Rigidity(pairs, 9)
    assert sorted(body.tolist() for body in rigidity.bodies) == [
        [0, 1, 2, 3],
        [0, 1, 4, 5],
        [6, 7, 8],
    ]
    assert rigidity.freedom == 3 + 2
    assert len(np.unique(rigidity.rigid_component)) == 3


def test_triangle_between_three_bodies_is_a_body():
    corners = [clique([0, 1, 3, 4]), clique([1, 2, 5, 6]), clique([0, 2, 7, 8])]
    rigidity = Rigidity(edges(*corners), 9)
    assert rigidity.is_redundantly_rigid
    assert not rigidity.is_globally_rigid
    assert len(np.unique(rigidity.connected_set)) == 3
    assert [0, 1, 2] in [body.tolist() for body in rigidity.bodies]
    assert len(rigidity.bodies) == 4
    assert repr(rigidity) == "Rigidity(points=9, edges=18, freedom=3)"
