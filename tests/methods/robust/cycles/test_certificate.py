"""Angles certified by closed cycles."""

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.cycles.certificate import certify
from tests.methods.networks import synthetic


def test_certified_nodes_are_right():
    graph = synthetic(0.8, n=200)
    angles, known = certify(graph, 1)
    shift = np.angle(np.exp(1j * (angles - graph.angles))[known].mean())
    error = np.abs(np.angle(np.exp(1j * (angles - graph.angles - shift))))
    assert known.mean() > 0.5
    assert error[known].max() < 1e-6


def test_outliers_alone_certify_nothing():
    assert certify(synthetic(1.0, n=80), 1) is None


def test_copies_of_a_measurement_close_no_cycle():
    graph = MeasurementGraph([[0, 0, 1, 2], [1, 1, 2, 0]], [1.0, 1.0, 2.0, 0.3], 3)
    assert certify(graph, 1) is None
