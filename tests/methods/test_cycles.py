"""Certificates from closed cycles."""

import numpy as np
import pytest

from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.outliers import observe
from gnnsync.errors import ParameterError
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.cycles import Cycles, certify
from gnnsync.methods.robust.cycles.agreement import largest_agreements, required_agreement
from gnnsync.methods.robust.cycles.paths import arcs_of, closed_clusters, cycle_noise, find_paths
from gnnsync.methods.robust.cycles.rigid_bodies import bodies_of_clusters
from gnnsync.metrics import aligned_error, angular_mse


def network(eta, sigma=0.0, k=1, n=150, p=0.2, seed=0, pairs=erdos_renyi):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(pairs(n, p, seed), angles, eta, rng=rng, inlier_noise=sigma)


def test_certified_nodes_are_right():
    graph = network(0.8, n=200)
    angles, known = certify(graph, 1)
    shift = np.angle(np.exp(1j * (angles - graph.angles))[known].mean())
    error = np.abs(np.angle(np.exp(1j * (angles - graph.angles - shift))))
    assert known.mean() > 0.5
    assert error[known].max() < 1e-6


@pytest.mark.parametrize("k", [2, 3])
def test_sets_are_peeled_apart(k):
    graph = network(0.1, k=k, n=100, p=0.15 * k)
    solution = Cycles()(graph, k)
    assert angular_mse(solution.angles, graph.angles) < 1e-10
    assert solution.diagnostics["certified"] == 1.0


def test_geometric_graph_with_three_sets():
    graph = network(0.2, k=3, n=250, p=0.15, pairs=random_geometric)
    assert angular_mse(Cycles()(graph, 3).angles, graph.angles) < 0.05


def test_clusters_hold_one_group_each():
    graph = network(0.2, k=2, n=250, p=0.06, pairs=random_geometric)
    label, _ = closed_clusters(graph, find_paths(graph, arcs_of(graph), 10**7), 1e-8)
    for cluster in np.unique(label[label >= 0]):
        assert len(np.unique(graph.group[label == cluster])) == 1


def test_two_triangles_at_a_node_are_two_clusters():
    edges = np.array([[0, 1, 2, 2, 3, 4], [1, 2, 0, 3, 4, 2]])
    angles = np.array([0.3, 1.0, 2.5, 4.0, 5.5])
    graph = MeasurementGraph(edges, angles[edges[0]] - angles[edges[1]], 5)
    label, _ = closed_clusters(graph, find_paths(graph, arcs_of(graph), 1000), 1e-8)
    assert len(np.unique(label)) == 2
    bodies = bodies_of_clusters(graph, label)
    assert sorted(bodies.size) == [3, 3]
    # One set of angles: the common node joins them.
    assert certify(graph, 1)[1].all()


def test_noise_level_is_read_off_cycles():
    graph = network(0.0, 0.05, n=80)
    paths = find_paths(graph, arcs_of(graph), 10**6)
    assert cycle_noise(graph, paths) == pytest.approx(0.05, rel=0.6)
    exact = network(0.7, n=80)
    assert cycle_noise(exact, find_paths(exact, arcs_of(exact), 10**6)) < 1e-8


def test_outliers_alone_certify_nothing():
    assert certify(network(1.0, n=80), 1) is None


def test_small_noise_is_tolerated():
    graph = network(0.3, 1e-5, n=100)
    solution = Cycles()(graph)
    assert solution.diagnostics["certified"] > 0.9
    assert angular_mse(solution.angles, graph.angles) < 1e-8


def test_without_certificate_the_spectral_solution_is_settled():
    graph = network(0.3, 0.3, n=80)
    solution = Cycles()(graph)
    assert solution.stop_reason.startswith("no certificate")
    assert solution.diagnostics["certified"] == 0.0
    assert np.median(aligned_error(solution.angles, graph.angles)) < 0.3


def test_copies_of_a_measurement_close_no_cycle():
    graph = MeasurementGraph([[0, 0, 1, 2], [1, 1, 2, 0]], [1.0, 1.0, 2.0, 0.3], 3)
    assert certify(graph, 1) is None


def test_path_limit_is_kept():
    graph = network(0.0, n=60)
    assert len(find_paths(graph, arcs_of(graph), 10).total) == graph.num_edges


def test_agreements_on_the_circle():
    place = np.array([7, 7, 7, 9, 9])
    vote = np.array([0.001, 2 * np.pi - 0.001, 3.0, 1.0, 2.0])
    where, mean, count, total = largest_agreements(place, vote, 0.01)
    assert where.tolist() == [7, 9]
    assert count.tolist() == [2, 1]
    assert total.tolist() == [3, 2]
    assert abs(np.angle(np.exp(1j * mean[0]))) < 1e-9
    same_origin = largest_agreements(place, vote, 0.01, np.array([4, 4, 5, 6, 6]))
    assert same_origin[2].tolist() == [1, 1]


def test_more_votes_are_needed_when_chance_is_likely():
    assert required_agreement(np.array([50]), 1e-8)[0] == 2
    assert required_agreement(np.array([50]), 0.05)[0] > 4


def test_tolerance_is_checked():
    with pytest.raises(ParameterError, match="tolerance"):
        Cycles(tolerance=-1.0)
