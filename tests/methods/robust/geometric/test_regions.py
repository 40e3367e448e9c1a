"""Extended graphs and their regions."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import barabasi_albert, erdos_renyi, random_geometric
from gnnsync.errors import GnnsyncError
from gnnsync.methods.robust.geometric import regions
from gnnsync.methods.robust.geometric.regions import find_regions, is_extended
from tests.methods.networks import observed


def rng():
    return np.random.default_rng(0)


def geometric(k=1, **options):
    return observed(
        random_geometric(200, 0.1, 2), **{"eta": 0.3, "inlier_noise": 0.05} | options, k=k
    )


@pytest.mark.parametrize(
    ("pairs", "extended"),
    [
        (erdos_renyi(200, 0.05, 1), False),
        (barabasi_albert(200, 0.05, 1), False),
        (random_geometric(200, 0.06, 1), True),
        (random_geometric(300, 0.12, 1), True),
    ],
    ids=["erdos_renyi", "barabasi_albert", "sparse geometric", "geometric"],
)
def test_which_graphs_have_regions(pairs, extended):
    assert is_extended(observed(pairs), np.random.default_rng(0)) is extended


def test_regions_are_the_sides_of_the_cuts_of_least_conductance():
    """Two dense parts joined by one edge are separated by the first cut."""
    half = erdos_renyi(30, 0.4, 1)
    index = np.concatenate([half, half + 30, [[3], [40]]], axis=1)
    graph = MeasurementGraph(index, np.zeros(index.shape[1]), 60)
    first = find_regions(graph, np.ones(graph.num_edges), rng())[:2]
    assert sorted(sorted(part.tolist()) for part in first) == [[*range(30)], [*range(30, 60)]]


def test_parts_without_inlier_edges_between_them_are_regions():
    half = erdos_renyi(30, 0.4, 1)
    joints = np.array([[0, 1, 2], [31, 32, 33]])
    index = np.concatenate([half, half + 30, joints], axis=1)
    graph = MeasurementGraph(index, np.zeros(index.shape[1]), 60)
    weight = np.ones(graph.num_edges)
    weight[-3:] = 0.0
    first = find_regions(graph, weight, rng())[:2]
    assert sorted(len(part) for part in first) == [30, 30]


def test_small_and_scattered_graphs_have_no_regions():
    graph = MeasurementGraph(np.array([[0], [1]]), np.zeros(1), 40)
    assert find_regions(graph, np.ones(1), rng()) == []


def test_a_part_whose_eigenvectors_are_not_found_is_left_whole(monkeypatch):
    def fail(*_, **__):
        raise GnnsyncError("no convergence")

    monkeypatch.setattr(regions, "top_eigenvectors", fail)
    graph = geometric()
    assert find_regions(graph, np.ones(graph.num_edges), rng()) == []
