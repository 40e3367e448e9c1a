import numpy as np
import pytest

import gnnsync
from gnnsync import MeasurementGraph
from gnnsync.angles import circular_distance
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import GraphError, ParameterError
from gnnsync.methods import METHODS
from gnnsync.methods.warm_start import as_start
from gnnsync.metrics import angular_mse
from gnnsync.solve import method_names
from tests.methods.pose_chains import laps

WARM = [name for name, kind in METHODS.items() if kind.takes_start]


def network(seed=0, eta=0.3, n=150, p=0.15, k=1):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(erdos_renyi(n, p, seed), truth, eta, rng=rng, inlier_noise=0.05)


def test_these_methods_take_a_start():
    assert {"gpm", "irls", "transync", "gnc", "gnc_angles", "belief", "auto"} == set(WARM)


@pytest.mark.parametrize("name", WARM)
def test_the_answer_from_a_solution_is_as_good(name):
    graph = network()
    cold = gnnsync.solve(graph, name)
    warm = gnnsync.solve(graph, name, start=cold)
    assert angular_mse(warm.angles, graph.angles) < angular_mse(cold.angles, graph.angles) + 1e-3
    if name in ("irls", "transync", "gpm"):
        assert warm.iterations < cold.iterations


@pytest.mark.parametrize("name", ["irls", "gnc", "transync"])
def test_the_method_really_begins_there(name):
    """The truth as start is found where the method alone fails."""
    graph = network(seed=3, eta=0.8, n=120, p=0.2)
    warm = gnnsync.solve(graph, name, start=graph.angles)
    cold = gnnsync.solve(graph, name)
    assert angular_mse(warm.angles, graph.angles) < 0.3 * angular_mse(cold.angles, graph.angles)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in WARM])
def test_other_methods_refuse_it(name):
    graph = network(n=10, p=0.6)
    with pytest.raises(ParameterError, match=f"start = .*left out with {name}; ") as error:
        gnnsync.solve(graph, name, start=graph.angles)
    assert all(warm in str(error.value).split("; ")[1] for warm in WARM)


def test_learned_methods_refuse_it():
    assert "gnnsync_inductive" in method_names()
    graph = network(n=10, p=0.6)
    for name in ("gnnsync_inductive", "gnnsync"):
        with pytest.raises(ParameterError, match="start"):
            gnnsync.solve(graph, name, start=graph.angles)


def test_edges_are_added_and_nodes_are_found_by_name():
    graph = MeasurementGraph.from_edges("abc", "bca", [0.5, 1.0, -1.5])
    first = gnnsync.solve(graph, "gpm")
    larger = graph.with_edges(["d", "a", "e"], ["c", "d", "d"], [0.25, 1.25, 1.0])
    assert larger.names == ("a", "b", "c", "d", "e")
    start = as_start(larger, 1, first)
    assert np.array_equal(start[:3], first.angles)
    second = gnnsync.solve(larger, "gpm", start=first)
    assert np.abs(larger.residual(start[:, 0])).max() < 1e-9  # also that of the new nodes
    assert circular_distance(second.angles, start).max() < 1e-5


@pytest.mark.parametrize("name", ["auto", "gnc_angles"])
def test_on_a_pose_graph_the_start_competes_by_its_evidence(name):
    graph, _ = laps(noise=0.2, closures=100, false=300, seed=4)
    cold = gnnsync.solve(graph, name)
    warm = gnnsync.solve(graph, name, start=graph.angles)
    assert warm.diagnostics["evidence"] > cold.diagnostics["evidence"]
    assert angular_mse(warm.angles, graph.angles) < 0.5 * angular_mse(cold.angles, graph.angles)
    again = gnnsync.solve(graph, name, start=warm)
    assert again.diagnostics["evidence"] >= warm.diagnostics["evidence"] - 1.0


def test_components_take_their_own_part():
    graph = MeasurementGraph.from_edges("abcxyz", "bcayzx", [0.5, 1, -1.5, 0.1, 0.2, -0.3])
    with pytest.warns(UserWarning, match="2 components"):
        solution = gnnsync.solve(graph, "irls", start=np.arange(6.0))
    assert np.abs(solution.residual()).max() < 1e-6


def test_anchors_and_start_together():
    graph = network()
    solution = gnnsync.solve(graph, "irls", start=graph.angles + 1.0, anchors={0: 0.25})
    off = circular_distance(solution.angles - 0.25, graph.angles - graph.angles[0])
    assert solution.angles[0] == 0.25
    assert np.median(off) < 0.1


@pytest.mark.parametrize(
    ("start", "k", "problem"),
    [
        (np.zeros(9), 1, r"of shape \(9, 1\).*150 nodes and k = 1"),
        (np.zeros((150, 2)), 1, "k = 1"),
        (np.full(150, np.nan), 1, "without an angle"),
        (np.full(150, np.inf), 1, "must be finite"),
    ],
)
def test_wrong_starts_are_refused(start, k, problem):
    with pytest.raises((ParameterError, GraphError), match=problem):
        as_start(network(), k, start)
