"""Moves of single nodes to better supported angles."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.noise.local_search import (
    improve,
    local_search,
    rough_fit,
    strongest_agreement,
)
from gnnsync.metrics import angular_mse
from tests.methods.networks import synthetic


def test_misplaced_nodes_are_moved_back():
    graph = synthetic(0.6, n=120, p=0.25)
    start = graph.angles.copy()
    start[:12] += np.random.default_rng(2).uniform(1, 5, (12, 1))
    fit = local_search(graph, start)
    assert angular_mse(fit.angles, graph.angles) < 1e-10


def test_search_ends_at_a_known_fit():
    graph = synthetic(0.6, n=120, p=0.25)
    start = graph.angles.copy()
    start[:12] += np.random.default_rng(2).uniform(1, 5, (12, 1))
    rough, seen = rough_fit(graph, start), []

    def known(fit):
        seen.append(fit)
        return True

    fit = improve(graph, rough, known=known)
    assert len(seen) == 1
    assert fit.evidence == seen[0].evidence
    assert fit.iterations == rough.iterations + seen[0].iterations


def test_strongest_agreement_crosses_the_cut():
    """Predictions at 3.1 and -3.1 are neighbours on the circle."""
    graph = MeasurementGraph([[0, 0, 0], [1, 2, 3]], [3.1, -3.1, 1.0], 4)
    place, support, current = strongest_agreement(graph, np.zeros(4), np.ones(3), np.ones(4), 0.2)
    assert support[0] == pytest.approx(2.0)
    assert abs(abs(place[0]) - np.pi) < 1e-9
    assert current[0] == pytest.approx(0.0)
