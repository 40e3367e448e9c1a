import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi
from gnnsync.methods.robust.costs import candidate_costs, cycle_costs, search_costs
from tests.methods.networks import synthetic


def test_larger_graphs_and_more_groups_take_longer():
    small, large = synthetic(0.3, 0.1, n=60), synthetic(0.3, 0.1, n=200)
    total = [
        sum(search_costs(graph, k, extended=extended).values())
        for graph, k, extended in (
            (small, 1, False),
            (large, 1, False),
            (large, 2, False),
            (large, 2, True),
        )
    ]
    assert total == sorted(total)
    assert cycle_costs(large) > cycle_costs(small) > 0


def test_large_graphs_have_the_network_alone():
    pairs = erdos_renyi(30_000, 5e-4, 0)
    graph = MeasurementGraph(pairs, np.zeros(pairs.shape[1]), 30_000)
    assert list(search_costs(graph, 1, extended=False)) == [
        "network",
        "noise law",
        "final angles",
        "confidence",
    ]


@pytest.mark.parametrize("name", ["network", "gnc", "cemp", "spectral", "belief", "cycles"])
def test_candidates_are_found_and_fitted(name):
    costs = candidate_costs(name)
    assert costs["fit"] > 0
    assert (costs["angles"] > 0) is (name != "cycles")
