"""Graphs in which little checks a measurement, and what is stated of them."""

from __future__ import annotations

import numpy as np
import pytest

import gnnsync
from benchmarks import sparse_networks as sparse
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE


def graphs(kind: str, outliers: bool, count: int):
    rngs = (np.random.default_rng([7, i]) for i in range(count))
    return [sparse._GRAPHS[kind](rng, outliers) for rng in rngs]


def test_every_kind_comes_with_and_without_outliers(monkeypatch) -> None:
    monkeypatch.setattr(sparse, "COUNTS", dict.fromkeys(sparse.COUNTS, 1))
    found = {name: graph for name, _, graph in sparse.sparse_networks(1)}
    assert len(found) == 2 * len(sparse.COUNTS)
    assert all(graph.is_connected for graph in found.values())
    assert found["tree, no outliers"].bridges.all()
    assert not found["tree with chords, with outliers"].bridges.all()
    assert (found["tree, no outliers"].group == 0).all()
    assert found["pose graph, no outliers"].edge_trusted.any()


def test_nothing_is_stated_of_trees() -> None:
    for graph in graphs("tree", True, 3):
        solution = gnnsync.solve(graph)
        assert np.isnan(solution.node_confidence).all()
        assert np.isnan(solution.edge_confidence).all()
        assert np.isnan(solution.node_deviation).all()
        assert "sigma" not in solution.diagnostics


@pytest.mark.parametrize("outliers", [False, True])
@pytest.mark.parametrize("kind", ["tree with chords", "chain of cliques"])
def test_what_is_stated_of_few_cycles_is_found(kind, outliers) -> None:
    stated, right, edge, inlier = [], [], [], []
    for graph in graphs(kind, outliers, 12):
        solution = gnnsync.solve(graph)
        known = np.isfinite(solution.node_confidence)
        stated.append(solution.node_confidence[known])
        error = aligned_error(solution.angles, graph.angles)[:, 0]
        right.append(error[known] < NODE_TOLERANCE)
        checked = ~graph.bridges
        edge.append(solution.edge_confidence[checked].mean())
        inlier.append((graph.group[checked] == 0).mean())
    if not outliers:
        assert sum(map(len, stated)) > 500
    # Nodes of a graph are right or wrong together: what chance allows is seen between graphs.
    excess = [np.mean(s) - np.mean(r) for s, r in zip(stated, right, strict=True) if len(s)]
    chance = np.std(excess) / np.sqrt(len(excess)) if len(excess) > 1 else 0.0
    assert abs(np.mean(excess or [0.0])) < max(0.03, 2.5 * chance)
    assert np.mean(edge) == pytest.approx(np.mean(inlier), abs=0.1)
