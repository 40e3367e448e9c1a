"""Pose graphs with false closures."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.errors import GraphError, ParameterError
from gnnsync.methods import METHODS, GNCAngles
from gnnsync.metrics import angular_mse
from tests.methods.pose_chains import laps


@pytest.mark.parametrize("false", [0, 20, 100])
def test_false_closures_are_found(false: int) -> None:
    graph, outlier = laps(false=false)
    solution = GNCAngles()(graph)
    closures = ~graph.edge_trusted
    believed = solution.edge_confidence > 0.5
    assert angular_mse(solution.angles, graph.angles) < 0.01
    assert (believed & closures & ~outlier).sum() >= 0.95 * (closures & ~outlier).sum()
    # A false closure whose heading happens to fit cannot be told from a true one.
    wrong = np.abs(graph.residual(graph.angles[:, 0])) > 0.3
    assert not (believed & outlier & wrong).any()
    assert solution.converged


def test_others_fail_where_trust_decides() -> None:
    graph, _ = laps(false=100)
    doubted = graph.replace(trusted=None)
    for name in ("spectral_rn", "irls", "gnc"):
        assert angular_mse(METHODS[name]()(doubted).angles, graph.angles) > 0.05
    assert angular_mse(METHODS["auto"]()(graph).angles, graph.angles) < 0.01


def test_a_clean_graph_has_the_weighted_least_squares_solution() -> None:
    graph, _ = laps(noise=0.01)
    weighted = graph.replace(weight=np.where(graph.edge_trusted, 4.0, 1.0))
    solution = GNCAngles()(weighted)
    angles, believed = solution.angles, solution.edge_confidence > 0.5
    assert believed.mean() > 0.99
    step = 1e-4 * np.random.default_rng(0).normal(size=angles.shape)

    def cost(x: np.ndarray) -> float:
        return float((weighted.edge_weight * believed) @ weighted.residual(x[:, 0]) ** 2)

    assert cost(angles) <= min(cost(angles + step), cost(angles - step))


def test_a_drift_of_most_of_a_turn_is_estimated() -> None:
    graph, _ = laps(drift=0.025, false=20)
    solution = GNCAngles()(graph)
    assert solution.diagnostics["drift"] == pytest.approx(-0.025, abs=0.01)
    assert angular_mse(solution.angles, graph.angles) < 0.01


def test_noise_of_odometry_and_closures_is_estimated_apart() -> None:
    graph, _ = laps(laps=10, noise=0.005)
    offset = graph.offset.copy()
    closures = np.flatnonzero(~graph.edge_trusted)
    offset[closures] += np.random.default_rng(1).normal(0.0, 0.05, len(closures))
    found = GNCAngles()(graph.replace(offset=offset)).diagnostics
    assert found["sigma"] == pytest.approx(0.05, rel=0.5)
    assert found["sigma_trusted"] == pytest.approx(0.005, rel=0.6)


def test_odometry_that_is_wrong_in_one_place_is_let_go() -> None:
    graph, _ = laps(laps=10, noise=0.005, closures=400, false=20)
    offset = graph.offset.copy()
    offset[100] += 1.5
    solution = GNCAngles()(graph.replace(offset=offset))
    let_go = np.flatnonzero(graph.edge_trusted & (solution.edge_confidence < 0.5))
    # Which of a few steps it was cannot be told, if no closure ends between them.
    assert len(let_go) == 1
    assert abs(let_go[0] - 100) <= 2
    assert angular_mse(solution.angles, graph.angles) < 0.02


def test_node_confidence_falls_where_nothing_checks() -> None:
    graph, _ = laps(laps=4)
    n, tail = graph.num_nodes, 200
    chain = np.stack([np.arange(n, n + tail), np.arange(n - 1, n + tail - 1)])
    longer = MeasurementGraph(
        np.concatenate([graph.edge_index, chain], axis=1),
        np.concatenate([graph.offset, np.zeros(tail)]),
        n + tail,
        trusted=np.concatenate([graph.edge_trusted, np.ones(tail, dtype=bool)]),
    )
    confidence = GNCAngles()(longer).node_confidence
    assert confidence is not None
    assert confidence[: n - 1].min() > 0.95
    assert confidence[-1] < confidence[-100] < confidence[n]


def test_several_components() -> None:
    graph, _ = laps(false=10)
    n = graph.num_nodes
    both = MeasurementGraph(
        np.concatenate([graph.edge_index, graph.edge_index + n], axis=1),
        np.concatenate([graph.offset, graph.offset]),
        2 * n,
        trusted=np.concatenate([graph.edge_trusted, graph.edge_trusted]),
    )
    with pytest.warns(UserWarning, match="components"):
        solution = GNCAngles()(both)
    assert angular_mse(solution.angles[:n], graph.angles) < 0.01
    assert angular_mse(solution.angles[n:], graph.angles) < 0.01


def test_the_same_seed_gives_the_same_angles() -> None:
    graph, _ = laps(false=50)
    one, two = (GNCAngles()(graph, seed=3).angles for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_a_chain_without_closures() -> None:
    chain = np.stack([np.arange(1, 30), np.arange(29)])
    graph = MeasurementGraph(chain, np.full(29, 0.3), 30, trusted=np.ones(29, dtype=bool))
    solution = GNCAngles()(graph)
    assert angular_mse(solution.angles, (0.3 * np.arange(30))[:, None]) < 1e-12


def test_dense_graphs_are_refused() -> None:
    rng = np.random.default_rng(0)
    src = rng.integers(0, 6000, 60_000)
    dst = (src + rng.integers(1, 6000, 60_000)) % 6000
    graph = MeasurementGraph(np.stack([src, dst]), np.zeros(60_000), 6000)
    with pytest.raises(GraphError, match="use gnc or auto"):
        GNCAngles()(graph)


@pytest.mark.parametrize(("field", "value"), [("max_iterations", 0)])
def test_parameters_out_of_range(field: str, value: int) -> None:
    with pytest.raises(ParameterError, match=field):
        GNCAngles(**{field: value})
