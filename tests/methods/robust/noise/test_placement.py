"""Posterior means of nodes that the measurements leave open."""

from dataclasses import replace

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.methods.robust.noise.placement import angle_density, place_open_nodes, two_core


def lollipop():
    """A triangle 0-1-2 with a tail 2-3-4, all offsets 0."""
    index = np.array([[0, 1, 0, 2, 3], [1, 2, 2, 3, 4]])
    return MeasurementGraph(index, np.zeros(5), 5)


def test_the_two_core_has_no_tails():
    graph = lollipop()
    fit = fit_mixture(graph, np.zeros((5, 1)))
    assert two_core(graph, fit, 0).tolist() == [True, True, True, False, False]


def test_density_follows_many_known_angles_and_is_uniform_without():
    angles = np.random.default_rng(0).normal(1.0, 0.2, 2000)
    density = angle_density(angles, np.ones(2000))
    grid = 2 * np.pi * np.arange(len(density)) / len(density)
    assert grid[density.argmax()] == pytest.approx(1.0, abs=0.1)
    assert density.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(angle_density(angles, np.zeros(2000)), 1.0)


def test_an_open_node_between_two_equal_predictions_takes_their_mean():
    """Node 3 has two edges to a known triangle, whose predictions 1 and 2 contradict each other."""
    index = np.array([[0, 1, 0, 3, 3], [1, 2, 2, 0, 1]])
    graph = MeasurementGraph(index, np.array([0.0, 0.0, 0.0, 1.0, 2.0]), 4)
    known = np.array([[True], [True], [True], [False]])
    fit = fit_mixture(graph, np.zeros((4, 1)), move=False, max_iterations=1)
    placed = place_open_nodes(graph, replace(fit, share=np.array([0.9])), known)
    np.testing.assert_array_equal(placed[:3], 0.0)
    assert 0.9 < placed[3, 0] < 2.1
