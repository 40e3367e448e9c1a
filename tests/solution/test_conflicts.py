"""Cycles for and against a measurement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnnsync
from gnnsync import MeasurementGraph, Solution
from gnnsync.angles import TWO_PI, wrap
from gnnsync.errors import GraphError, ParameterError
from gnnsync.solution.conflicts import edge_sigma, estimate_sigma, find_conflicts, find_edge

SIGMA = 0.05


def network(n=8, seed=0, wrong=(), noise=SIGMA):
    """All pairs of n nodes with normal noise, weights, and some offsets off by 2 rad."""
    rng = np.random.default_rng(seed)
    index = np.stack(np.triu_indices(n, 1))
    theta = rng.uniform(0, TWO_PI, n)
    weight = rng.uniform(0.5, 2.0, index.shape[1])
    offset = theta[index[0]] - theta[index[1]] + noise * rng.standard_normal(index.shape[1])
    offset[list(wrong)] += 2.0
    return MeasurementGraph(index, offset, n, weight=weight, angles=theta)


def confidences(graph, wrong):
    found = np.full(graph.num_edges, 0.99)
    found[list(wrong)] = 0.01
    return found


def chain(n=40, closures=((0, 20, 0.0), (1, 21, 0.0), (5, 35, 2.0), (6, 36, 2.0))):
    """Trusted odometry through n poses and closures (i, j, error)."""
    src = np.concatenate([np.arange(n - 1), [c[0] for c in closures]]).astype(int)
    dst = np.concatenate([np.arange(1, n), [c[1] for c in closures]]).astype(int)
    offset = np.concatenate([np.zeros(n - 1), [c[2] for c in closures]])
    graph = MeasurementGraph(
        np.stack([src, dst]), offset, n, trusted=np.arange(len(src)) < n - 1, angles=np.zeros(n)
    )
    confidence = np.concatenate([np.ones(n - 1), [0.0 if c[2] else 0.98 for c in closures]])
    return graph, confidence


def test_a_wrong_edge_of_a_triangle():
    graph = MeasurementGraph([[0, 1, 0], [1, 2, 2]], [1.0, 0.5, 3.0], 3, node_names=("a", "b", "c"))
    conflicts = find_conflicts(graph, 2, np.array([0.9, 0.9, 0.1]), np.full(3, SIGMA))
    (cycle,) = conflicts.cycles
    assert (cycle.edges, cycle.signs, cycle.nodes) == ((0, 1), (1, 1), ("a", "b", "c"))
    assert cycle.prediction == pytest.approx(1.5)
    assert cycle.error == pytest.approx(1.5)
    assert cycle.sigma == pytest.approx(np.sqrt(3) * SIGMA)
    assert cycle.z == pytest.approx(1.5 / (np.sqrt(3) * SIGMA))
    assert not cycle.supports
    # Only the path's own doubt limits what it says.
    assert conflicts.log_odds == pytest.approx(np.log(1 - 0.81))
    assert conflicts.rejected == ()
    text = str(conflicts)
    assert "measurement 2, a - c: offset 3 rad, confidence 0.1 (rejected)" in text
    assert "against error +1.5 ± 0.087 rad (z +17.3), log odds -1.66; a → b → c" in text


def test_a_right_edge_is_supported_by_the_density_ratio():
    graph = MeasurementGraph([[0, 1, 2], [1, 2, 0]], [1.0, 0.5, -1.52], 3)
    (cycle,) = find_conflicts(graph, 2, np.ones(3), np.full(3, SIGMA)).cycles
    s = np.sqrt(3) * SIGMA
    normal = np.exp(-0.5 * (0.02 / s) ** 2) / (np.sqrt(TWO_PI) * s)
    ratio = TWO_PI * normal
    # Trusting the path wholly or almost wholly is the same here.
    assert cycle.log_odds == pytest.approx(np.log(ratio), rel=1e-9)
    assert cycle.supports
    assert cycle.error == pytest.approx(-0.02)


def test_independent_cycles_share_nothing_and_come_worst_first():
    wrong = [3]
    graph = network(wrong=wrong)
    conflicts = find_conflicts(graph, 3, confidences(graph, wrong), edge_sigma(graph, SIGMA))
    used = [e for cycle in conflicts.cycles for e in cycle.edges]
    assert len(used) == len(set(used))
    assert len(conflicts.cycles) == graph.num_nodes - 2
    odds = [cycle.log_odds for cycle in conflicts.cycles]
    assert odds == sorted(odds)
    assert not any(cycle.supports for cycle in conflicts.cycles)
    assert conflicts.log_odds < -10
    assert len(find_conflicts(graph, 3, np.ones(28), np.ones(28), most=2).cycles) == 2


def test_rejected_neighbours_that_agree_are_named():
    graph, confidence = chain()
    first = 39
    conflicts = find_conflicts(graph, first + 2, confidence, np.full(graph.num_edges, SIGMA))
    assert [cycle.supports for cycle in conflicts.cycles] == [False]
    (agreeing,) = conflicts.rejected
    assert agreeing.rejected == first + 3
    assert agreeing.supports
    assert set(agreeing.edges) == {5, 35, first + 3}
    assert f"1 of 1 other rejected measurement nearby agree with it:\n  {first + 3}: error" in str(
        conflicts
    )
    # The shortest way from 5 to 35 takes a true closure instead of 20 steps.
    assert "not trusted: 39" in str(conflicts) or "not trusted: 40" in str(conflicts)


def test_a_closure_that_fits():
    graph, confidence = chain()
    conflicts = find_conflicts(graph, (0, 20), confidence, np.full(graph.num_edges, SIGMA))
    assert conflicts.edge == 39
    assert conflicts.log_odds > 0
    assert all(cycle.supports for cycle in conflicts.cycles)


def test_a_bridge_is_unchecked():
    graph, confidence = chain(closures=((0, 20, 0.0),))
    conflicts = find_conflicts(graph, 30, confidence, np.full(graph.num_edges, SIGMA))
    assert conflicts.unchecked
    assert conflicts.log_odds == 0
    assert "unchecked: no other believed measurements" in str(conflicts)
    # An edge that only a rejected one checks is unchecked too, but the other is named.
    graph, confidence = chain(closures=((10, 39, 2.0),))
    conflicts = find_conflicts(graph, 30, confidence, np.full(graph.num_edges, SIGMA))
    assert conflicts.unchecked
    assert [cycle.rejected for cycle in conflicts.rejected] == [39]


def test_parallel_edges_form_a_cycle():
    graph = MeasurementGraph([[0, 1, 0], [1, 0, 1]], [1.0, -1.0, 2.5], 2)
    conflicts = find_conflicts(graph, 2, np.ones(3), np.full(3, SIGMA))
    assert sorted(cycle.edges for cycle in conflicts.cycles) == [(0,), (1,)]
    assert all(cycle.error == pytest.approx(1.5) for cycle in conflicts.cycles)
    with pytest.raises(ParameterError, match="one of the numbers 0, 1, 2"):
        find_edge(graph, (0, 1))


def test_groups_are_apart():
    graph = network()
    group = np.arange(graph.num_edges) % 2
    conflicts = find_conflicts(graph, 4, np.ones(28), np.full(28, SIGMA), group=group)
    assert {group[e] for cycle in conflicts.cycles for e in cycle.edges} == {0}


@given(st.integers(0, 10_000), st.integers(0, 27))
def test_neither_directions_nor_numbers_of_nodes_matter(seed, edge):
    rng = np.random.default_rng(seed)
    wrong = rng.choice(28, 5, replace=False)
    graph = network(seed=seed, wrong=wrong)
    confidence, sigma = confidences(graph, wrong), edge_sigma(graph, SIGMA)
    turned = rng.random(28) < 0.5
    number = rng.permutation(8)
    index = number[np.where(turned, graph.edge_index[::-1], graph.edge_index)]
    other = graph.replace(
        edge_index=index, offset=np.where(turned, -graph.offset, graph.offset), angles=None
    )
    one, two = (find_conflicts(g, edge, confidence, sigma) for g in (graph, other))
    side = -1.0 if turned[edge] else 1.0
    for mine, theirs in ((one.cycles, two.cycles), (one.rejected, two.rejected)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert set(a.edges) == set(b.edges)
            assert a.error == pytest.approx(side * b.error, abs=1e-9)
            assert a.sigma == pytest.approx(b.sigma)
            assert a.log_odds == pytest.approx(b.log_odds, abs=1e-6)
            assert a.nodes == (tuple(np.argsort(number)[list(b.nodes)]))[:: int(side)]


@given(st.integers(0, 10_000))
def test_the_signed_sum_closes_the_cycle(seed):
    graph = network(seed=seed, noise=0.3)
    for cycle in find_conflicts(graph, 7, np.ones(28), np.full(28, 0.3)).cycles:
        total = np.dot(cycle.signs, graph.offset[list(cycle.edges)])
        assert cycle.error == pytest.approx(float(wrap(graph.offset[7] - total)), abs=1e-9)


def test_noise_from_weights_and_residuals():
    graph = network(n=30, noise=0.1)
    offset = graph.angles[graph.src, 0] - graph.angles[graph.dst, 0]
    rng = np.random.default_rng(1)
    noisy = offset + 0.1 / np.sqrt(graph.weight / graph.weight.mean()) * rng.standard_normal(435)
    graph = graph.replace(offset=noisy)
    for method in ("spectral", "irls", "gnc"):
        solution = gnnsync.solve(graph, method)
        found = estimate_sigma(graph, solution.residual(), solution.edge_confidence)
        assert found == pytest.approx(0.1, rel=0.15)
    sigma = edge_sigma(graph, 0.1)
    np.testing.assert_allclose(sigma**2 * graph.weight, 0.01 * graph.weight.mean())
    trusted = np.arange(435) < 100
    apart = edge_sigma(graph.replace(trusted=trusted, weight=None), 0.1, 0.02)
    np.testing.assert_allclose(apart, np.where(trusted, 0.02, 0.1))
    assert estimate_sigma(graph.keep_edges(np.zeros(0, int)), np.zeros(0), np.zeros(0)) == 0


def test_a_solution_explains_its_measurements():
    wrong = [5]
    graph = network(n=12, wrong=wrong)
    solution = gnnsync.solve(graph, "auto")
    assert solution.graph is graph
    assert solution.conflicts(5).log_odds < -3
    assert solution.conflicts((0, 1)).log_odds > 3
    assert solution.conflicts(5, graph, most=1).cycles[0] in solution.conflicts(5).cycles
    # Without the method's own noise it is estimated.
    spectral = Solution.from_angles(graph, graph.angles)
    assert not any(cycle.supports for cycle in spectral.conflicts(5).cycles)
    with pytest.raises(GraphError, match="has no graph"):
        solution.replace(graph=None).conflicts(0)


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        (28, "edge = 28: must be a whole number, at least 0 and at most 27"),
        (("x", 0), "names of two nodes"),
        (True, "whole number"),
    ],
)
def test_an_edge_that_is_none(edge, message):
    with pytest.raises(ParameterError, match=message):
        find_edge(network(), edge)
    sparse = MeasurementGraph([[0, 1], [1, 2]], [0.0, 0.0], 3)
    with pytest.raises(ParameterError, match="must be measured"):
        find_edge(sparse, (0, 2))
