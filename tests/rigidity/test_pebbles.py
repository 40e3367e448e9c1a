"""The pebble game against the rank of the rigidity matrix at random positions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from gnnsync.rigidity.pebbles import PebbleGame
from tests.oracles import rigidity as oracle
from tests.rigidity.graphs import graphs


@settings(deadline=None, max_examples=150)
@given(graphs())
def test_rank_and_sets_are_those_of_the_rigidity_matrix(graph):
    pairs, n = graph
    game = PebbleGame(pairs, n)
    assert game.rank == oracle.rank(pairs, n)
    label = game.connected_sets()
    found = [set(np.flatnonzero(label == k)) for k in range(label.max(initial=-1) + 1)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, oracle.circuit_sets(pairs, n)))


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_rigid_components_are_the_maximal_rigid_sets(graph):
    pairs, n = graph
    label = PebbleGame(pairs, n).rigid_components()
    for e in range(pairs.shape[1]):
        for f in range(e):
            points = sorted({*pairs[:, e].tolist(), *pairs[:, f].tolist()})
            assert (label[e] == label[f]) == oracle.are_rigid(pairs, n, points)


def test_a_long_strip_of_triangles_is_rigid_without_redundancy():
    i = np.arange(3000)
    pairs = np.concatenate([[i[:-1], i[1:]], [i[:-2], i[2:]]], axis=1)
    game = PebbleGame(pairs, 3000)
    assert game.freedom == 3
    assert (game.connected_sets() == -1).all()
    assert not game.rigid_components().any()
    game = PebbleGame(np.concatenate([pairs, [[0], [2999]]], axis=1), 3000)
    assert not game.connected_sets().any()
    assert game.freedom == 3
