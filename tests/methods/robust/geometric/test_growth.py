"""Groups grown from small cores of the graph."""

import numpy as np

from gnnsync.data.measurement import random_geometric
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.auto import Auto
from gnnsync.methods.robust.geometric.growth import (
    core_around,
    grow_core,
    grow_from_cores,
)
from gnnsync.methods.robust.initialisation import initial_angles
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.metrics import angular_mse
from tests.methods.networks import observed


def geometric(k=2, n=200, p=0.2, seed=1, eta=0.2, **options):
    return observed(random_geometric(n, p, seed), k=k, seed=seed, eta=eta, **options)


def adjacency(graph):
    return EdgeOperator(graph).adjacency(np.ones(graph.num_edges))


def test_growth_separates_groups_where_eigenvectors_do_not():
    """The local search from unmixed eigenvectors ends far from the truth, growth does not."""
    graph = geometric(k=3, n=250, p=0.15, seed=3, inlier_noise=0.05)
    rng = np.random.default_rng(0)
    spectral = local_search(graph, initial_angles(graph, 3, rng))
    fit, certain = grow_from_cores(graph, 3, rng)
    assert certain
    assert angular_mse(spectral.angles, graph.angles) > 0.3
    assert angular_mse(fit.angles, graph.angles) < 0.05
    assert angular_mse(Auto()(graph, 3).angles, graph.angles) < 0.05


def test_a_true_core_grows_into_the_truth():
    graph = geometric(inlier_noise=0.05)
    matrix = adjacency(graph)
    core = core_around(matrix, 0, 50)
    part = graph.subgraph(core)[0]
    angles = grow_core(graph, matrix, core, fit_mixture(part, part.angles))
    assert angular_mse(angles, graph.angles) < 0.02


def test_a_core_is_connected_and_close():
    graph = geometric()
    core = core_around(adjacency(graph), 5, 40)
    assert core[0] == 5
    assert len(set(core.tolist())) == 40
    part = graph.subgraph(core)[0]
    assert part.is_connected
    assert 2 * part.num_edges / 40 > 20


def test_a_core_ends_where_its_component_ends():
    pairs = np.array([[0, 1, 3], [1, 2, 4]])
    assert sorted(core_around(adjacency(observed(pairs)), 0, 10).tolist()) == [0, 1, 2]


def test_same_seed_same_fit():
    graph = geometric(n=120, inlier_noise=0.1)
    one, two = (grow_from_cores(graph, 2, np.random.default_rng(4))[0] for _ in range(2))
    assert np.array_equal(one.angles, two.angles)
