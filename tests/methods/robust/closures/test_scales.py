"""Noise estimated before any closure is believed."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales, initial_scales
from tests.methods.pose_chains import laps


@pytest.mark.parametrize("noise", [0.005, 0.02])
def test_the_noise_of_odometry_is_found_among_false_closures(noise: float) -> None:
    graph, _ = laps(laps=8, closures=300, false=100, noise=noise)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    (found,) = initial_scales(problem, np.random.default_rng(0))
    assert found.trusted == pytest.approx(noise, rel=1.0)


def test_few_closures_leave_several_estimates() -> None:
    graph, _ = laps(closures=20, false=12)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    found = initial_scales(problem, np.random.default_rng(0))
    assert 1 < len(found) == len(set(found)) <= 5


def test_variance_follows_the_weights() -> None:
    graph, _ = laps(closures=12)
    weight = np.full(graph.num_edges, 4.0)
    variance = Scales(0.2, 0.6).variance(ClosureProblem.of(graph, weight))
    assert variance[graph.edge_trusted] == pytest.approx(0.01)
    assert variance[~graph.edge_trusted] == pytest.approx(0.09)
