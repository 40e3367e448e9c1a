"""Closed cycles as a method."""

import numpy as np
import pytest

from gnnsync.data.measurement import random_geometric
from gnnsync.errors import ParameterError
from gnnsync.methods.cycles import Cycles
from gnnsync.metrics import aligned_error, angular_mse
from tests.methods.networks import synthetic


@pytest.mark.parametrize("k", [2, 3])
def test_groups_are_separated(k):
    graph = synthetic(0.1, k=k, n=100, p=0.15 * k)
    solution = Cycles()(graph, k)
    assert angular_mse(solution.angles, graph.angles) < 1e-10
    assert solution.diagnostics["certified"] == 1.0


def test_geometric_graph_with_three_groups():
    graph = synthetic(0.2, k=3, n=250, p=0.15, pairs=random_geometric)
    assert angular_mse(Cycles()(graph, 3).angles, graph.angles) < 0.05


def test_small_noise_is_tolerated():
    graph = synthetic(0.3, 1e-5, n=100)
    solution = Cycles()(graph)
    assert solution.diagnostics["certified"] > 0.9
    assert angular_mse(solution.angles, graph.angles) < 1e-8


def test_without_certificate_a_local_search_starts_from_the_spectral_solution():
    graph = synthetic(0.3, 0.3, n=80)
    solution = Cycles()(graph)
    assert solution.stop_reason.startswith("no certificate")
    assert solution.diagnostics["certified"] == 0.0
    assert np.median(aligned_error(solution.angles, graph.angles)) < 0.3


def test_tolerance_is_checked():
    with pytest.raises(ParameterError, match="tolerance"):
        Cycles(tolerance=-1.0)
