"""Confidence over several fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods import GNCAngles
from gnnsync.methods.robust.closures.averaging import averaged_fit
from gnnsync.methods.robust.closures.fit import fit_closures
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales
from tests.methods.pose_chains import laps


def test_fits_count_by_their_evidence() -> None:
    graph, _ = laps()
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    angles = graph.angles[:, 0]
    one = fit_closures(problem, angles, np.ones(graph.num_edges), Scales(0.02, 0.02))
    turned = np.where(np.arange(graph.num_nodes) < 40, 1.0, 0.0)
    other = replace(one, angles=one.angles + turned)
    nodes = averaged_fit(problem, [one, other], one.angles).node_confidence
    alone = averaged_fit(problem, [one], one.angles)
    edges, right = alone.edge_confidence, alone.node_confidence
    doubt = replace(one, probability=np.zeros(graph.num_edges))
    doubted = averaged_fit(problem, [one, doubt], one.angles)
    assert doubted.edge_confidence == pytest.approx(edges / 2)
    assert nodes[:40] == pytest.approx(right[:40] / 2, abs=0.01)
    unlikely = replace(other, evidence=one.evidence - 50.0)
    both = averaged_fit(problem, [one, unlikely], one.angles)
    assert both.node_confidence == pytest.approx(right)
    assert both.node_deviation == pytest.approx(alone.node_deviation)


def test_a_single_closure_that_does_not_fit_leaves_all_angles_in_doubt() -> None:
    n = 50
    index = np.concatenate([[np.arange(1, n), np.arange(n - 1)], [[n - 1], [0]]], axis=1)
    offset = np.append(np.zeros(n - 1), 2.0)
    graph = MeasurementGraph(index, offset, n, trusted=np.arange(n) < n - 1)
    confidence = GNCAngles()(graph).node_confidence
    assert confidence is not None
    assert confidence.mean() < 0.6
