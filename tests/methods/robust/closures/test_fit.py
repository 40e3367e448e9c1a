"""Predictions of every edge by all the others, and the evidence."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync.methods.robust.closures.fit import fit_closures, predict
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales
from tests.methods.pose_chains import laps


def test_predictions_are_those_of_a_fit_without_the_edge() -> None:
    graph, _ = laps(laps=3, length=10, closures=30, noise=0.02)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    scales, factor = Scales(0.02, 0.03), problem.factor()
    every = np.ones(graph.num_edges)
    _, error, variance = predict(problem, factor, graph.angles[:, 0], every, scales)
    for edge in problem.closures[:5]:
        left = every.copy()
        left[edge] = 0.0
        angles, _, _ = predict(problem, factor, graph.angles[:, 0], left, scales)
        assert error[edge] == pytest.approx(problem.residual(angles)[edge], abs=1e-6)
        spread = factor.resistance()[edge] + 0.03**2
        assert variance[edge] == pytest.approx(spread, rel=1e-6)


def test_the_truth_has_more_evidence_than_a_turned_half() -> None:
    graph, outlier = laps(false=30)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    truth = graph.angles[:, 0]
    turned = truth + np.where(np.arange(graph.num_nodes) < 120, 0.0, 1.0)
    start = (~outlier).astype(float)
    right = fit_closures(problem, truth, start, Scales(0.02, 0.02))
    doubt = np.where(problem.trusted, 1.0, np.abs(problem.residual(turned)) < 0.2)
    wrong = fit_closures(problem, turned, doubt, Scales(0.02, 0.02), max_iterations=1)
    assert right.evidence > wrong.evidence
