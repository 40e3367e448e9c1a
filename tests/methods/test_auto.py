"""The default method."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.outliers import observe
from gnnsync.errors import ParameterError
from gnnsync.methods import auto as auto_module
from gnnsync.methods.auto import PARTS, Auto
from gnnsync.methods.irls import IRLS
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.metrics import angular_mse
from tests.methods.networks import synthetic


@pytest.mark.parametrize("seed", [0, 1])
def test_exact_inliers_among_many_outliers(seed):
    graph = synthetic(0.75, n=200, seed=seed)
    solution = Auto()(graph)
    assert angular_mse(solution.angles, graph.angles) < 0.03
    assert solution.diagnostics["eta"] == pytest.approx(0.75, abs=0.05)
    inlier = graph.group == 0
    assert solution.edge_confidence[inlier].mean() > 0.9
    assert solution.edge_confidence[~inlier].mean() < 0.1


def test_noisy_inliers():
    graph = synthetic(0.5, 0.2, n=200)
    solution = Auto()(graph)
    assert angular_mse(solution.angles, graph.angles) < 0.03
    assert solution.diagnostics["sigma"] == pytest.approx(0.2, rel=0.2)


@pytest.mark.parametrize("sigma", [0.0, 0.05])
def test_two_groups(sigma):
    graph = synthetic(0.2, sigma, k=2, p=0.3)
    solution = Auto()(graph, 2)
    assert angular_mse(solution.angles, graph.angles) < 0.01
    inlier = graph.group >= 0
    agree = (solution.edge_group == graph.group)[inlier].mean()
    assert max(agree, 1 - agree) > 0.9


def test_planted_second_solution():
    """Outliers that agree with one another on a fifth of the edges."""
    rng = np.random.default_rng(4)
    graph = synthetic(0.3, 0.05, n=150)
    rival = rng.uniform(0, 2 * np.pi, 150)
    planted = (graph.group < 0) & (rng.random(graph.num_edges) < 2 / 3)
    offset = np.where(planted, rival[graph.src] - rival[graph.dst], graph.offset)
    graph = graph.replace(offset=offset)
    mine = angular_mse(Auto()(graph).angles, graph.angles)
    assert mine <= 1.1 * angular_mse(IRLS()(graph).angles, graph.angles)


def test_heavy_tailed_noise():
    rng = np.random.default_rng(5)
    graph = synthetic(0.0, n=150)
    graph = graph.replace(offset=graph.offset + 0.15 * rng.standard_t(1.5, graph.num_edges))
    mine = angular_mse(Auto()(graph).angles, graph.angles)
    assert mine <= 1.1 * angular_mse(IRLS()(graph).angles, graph.angles)


def test_geometric_graph():
    graph = synthetic(0.3, n=200, p=0.08, pairs=random_geometric, seed=2)
    assert angular_mse(Auto()(graph).angles, graph.angles) < 0.2


def test_large_graphs_take_the_cheaper_way(monkeypatch, caplog):
    monkeypatch.setattr(auto_module, "LARGE_GRAPH_EDGES", 100)
    graph = synthetic(0.3)
    with caplog.at_level("INFO"):
        solution = Auto()(graph)
    assert "the network alone" in caplog.text
    assert angular_mse(solution.angles, graph.angles) < 1e-8


def test_same_seed_same_angles():
    graph = synthetic(0.6, 0.1)
    assert np.array_equal(Auto()(graph, seed=3).angles, Auto()(graph, seed=3).angles)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="max_paths"):
        Auto(max_paths=0)
    with pytest.raises(ParameterError, match="sweeps"):
        Auto(sweeps=0)
    with pytest.raises(ParameterError, match="without"):
        Auto(without="cycles+certificate")


def test_a_complete_certificate_ends_the_search(caplog):
    with caplog.at_level("DEBUG"):
        Auto()(synthetic(0.2, n=300, p=0.2))
    assert "closed cycles" in caplog.text
    assert "gnc" not in caplog.messages


@pytest.mark.parametrize("part", PARTS)
def test_works_without_a_part(part):
    graph = synthetic(0.3, 0.1, k=1 if part in {"cemp", "bootstrap"} else 2, p=0.4)
    solution = Auto(without=part)(graph, graph.angles.shape[1])
    assert angular_mse(solution.angles, graph.angles) < 0.05


def test_candidates_that_agree_end_the_search(caplog):
    with caplog.at_level("DEBUG"):
        Auto(without="network")(synthetic(0.2, 0.1))
    assert "cemp" in caplog.messages
    assert "belief" not in caplog.messages


def test_the_network_takes_the_place_of_cemp_and_belief_propagation(caplog):
    with caplog.at_level("DEBUG"):
        Auto()(synthetic(0.2, 0.1))
    assert "network" in caplog.messages
    assert "cemp" not in caplog.messages
    assert "belief" not in caplog.messages


def test_noisy_graph_is_not_searched_for_all_cycles(caplog):
    graph = synthetic(0.2, 0.1, n=300, p=0.2)
    with caplog.at_level("DEBUG"):
        Auto()(graph)
    assert "no certificate" in caplog.text


@pytest.mark.parametrize("trusted", [False, True])
def test_a_tree_is_solved_along_its_edges(trusted):
    rng = np.random.default_rng(4)
    index = np.array([np.arange(1, 2000), [rng.integers(i) for i in range(1, 2000)]])
    offset = rng.uniform(0, 2 * np.pi, 1999)
    graph = MeasurementGraph(index, offset, 2000, trusted=np.full(1999, trusted))
    solution = Auto()(graph)
    assert solution.converged
    assert np.abs(graph.residual(solution.angles)).max() < 1e-9
    assert (
        (solution.node_confidence == 1.0).all()
        if trusted
        else np.isnan(solution.node_confidence).all()
    )


def test_angles_at_rest_count_as_converged_where_em_goes_on():
    """With many outliers EM creeps on, while the posterior that the angles come from is at rest."""
    n = 3000
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 2 * np.pi, (n, 1))
    graph = observe(erdos_renyi(n, 0.007, 0), truth, 0.6, rng=rng, inlier_noise=0.2)
    assert not fit_mixture(graph, graph.angles).converged
    assert Auto(without="gnc+cycles+laws")(graph).converged
