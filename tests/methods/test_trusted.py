"""Trusted edges stay inliers in every robust method."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods import METHODS
from gnnsync.metrics import angular_mse

# cemp_gcw and tas give trusted edges their full weight too, but average over all edges.
ROBUST = ("irls", "transync", "cemp_mst", "gnc", "gnc_angles", "auto", "belief")


def wheel(trusted: bool, seed: int = 0, conspiring: bool = False) -> MeasurementGraph:
    """A trusted ring, each node joined to the next two, with 60 false chords.

    The chords are random, or all agree on other angles (`conspiring`).
    """
    rng = np.random.default_rng(seed)
    n = 24
    truth, other = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, 2 * np.pi, n)
    nodes = np.arange(n)
    ring = np.concatenate([[nodes, (nodes + 1) % n], [nodes, (nodes + 2) % n]], axis=1)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 4, min(i + 12, n))]).T
    chords = pairs[:, rng.permutation(pairs.shape[1])[:60]]
    right = truth[ring[0]] - truth[ring[1]]
    agreed = other[chords[0]] - other[chords[1]]
    wrong = agreed if conspiring else rng.uniform(0, 2 * np.pi, chords.shape[1])
    return MeasurementGraph(
        np.concatenate([ring, chords], axis=1),
        np.concatenate([right, wrong]),
        n,
        trusted=np.arange(108) < 48 if trusted else None,
        angles=truth,
    )


@pytest.mark.parametrize("name", ROBUST)
def test_trusted_edges_stay_inliers(name: str) -> None:
    method = METHODS[name]()
    doubted, trusted = (
        [angular_mse(method(g).angles, g.angles) for g in (wheel(flag, seed) for seed in range(6))]
        for flag in (False, True)
    )
    assert max(trusted) < 0.01
    assert name == "cemp_mst" or max(doubted) > 0.1


def test_trimmed_averages_keep_trusted_edges() -> None:
    doubted, trusted = (
        [angular_mse(METHODS["tas"]()(g).angles, g.angles) for g in map(make, range(6))]
        for make in (lambda seed: wheel(False, seed), lambda seed: wheel(True, seed))
    )
    assert np.mean(trusted) < 0.1 * np.mean(doubted)


@pytest.mark.parametrize("name", ["gnc_angles", "auto"])
def test_trusted_edges_win_against_a_majority_that_agrees(name: str) -> None:
    doubted, trusted = (wheel(flag, conspiring=True) for flag in (False, True))
    method = METHODS[name]()
    assert angular_mse(method(doubted).angles, doubted.angles) > 0.1
    assert angular_mse(method(trusted).angles, trusted.angles) < 0.01


@pytest.mark.parametrize("name", list(METHODS))
def test_no_trusted_edge_changes_nothing(name: str) -> None:
    graph = wheel(trusted=False)
    none = graph.replace(trusted=np.zeros(graph.num_edges, dtype=bool))
    method = METHODS[name]()
    np.testing.assert_array_equal(method(none).angles, method(graph).angles)


@pytest.mark.parametrize("name", ROBUST)
def test_trusted_edges_of_components_are_kept(name: str) -> None:
    one, two = wheel(trusted=True), wheel(trusted=True, seed=1)
    n = one.num_nodes
    assert one.trusted is not None
    assert two.trusted is not None
    both = MeasurementGraph(
        np.concatenate([one.edge_index, two.edge_index + n], axis=1),
        np.concatenate([one.offset, two.offset]),
        2 * n,
        trusted=np.concatenate([one.trusted, two.trusted]),
    )
    with pytest.warns(UserWarning, match="components"):
        angles = METHODS[name]()(both).angles
    assert angular_mse(angles[:n], one.angles) < 0.01
    assert angular_mse(angles[n:], two.angles) < 0.01
