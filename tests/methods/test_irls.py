"""Iteratively reweighted least squares."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.errors import ParameterError
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods import (
    IRLS,
)
from gnnsync.metrics import angular_mse
from tests.methods.networks import noisy


def test_irls_lowers_its_objective_and_p_changes_it():
    graph = noisy(eta=0.5)
    z = {p: np.exp(1j * IRLS(p=p)(graph).angles[:, 0]) for p in (0.5, 1.0, 2.0)}
    operator = EdgeOperator(graph)

    def cost(p, phase):
        return graph.edge_weight @ operator.squared_chord(phase) ** (p / 2)

    for p in (1.0, 2.0):
        assert cost(p, z[p]) == min(cost(p, phase) for phase in z.values())
    assert cost(0.5, z[0.5]) < cost(0.5, z[2.0])


def test_long_chains_converge():
    """A path of 800 nodes with ten closures, one in five of them wrong."""
    rng = np.random.default_rng(0)
    n, closures = 800, 10
    path = np.stack([np.arange(n - 1), np.arange(1, n)])
    index = np.concatenate([path, rng.choice(n, (2, closures), replace=False)], axis=1)
    angles = np.cumsum(0.3 * rng.standard_normal(n))
    offset = angles[index[0]] - angles[index[1]]
    offset[:-closures] += 0.001 * rng.standard_normal(n - 1)
    offset[-2:] += 2.0
    graph = MeasurementGraph(index, offset, n, angles=angles[:, None])
    found = IRLS()(graph)
    assert found.converged
    assert angular_mse(found.angles, graph.angles) < 1e-3


def test_irls_iteration_limit_is_reported():
    found = IRLS(max_iterations=3)(noisy(eta=0.6))
    assert not found.converged
    assert (found.iterations, found.stop_reason) == (3, "iteration limit")


@pytest.mark.parametrize(("field", "value"), [("p", 0.0), ("epsilon_min", 2.0)])
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        IRLS(**{field: value})
