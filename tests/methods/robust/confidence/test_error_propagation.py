"""Propagation of edge noise to the angles."""

import numpy as np
import pytest

from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.methods.robust.confidence.error_propagation import (
    independent_noise_error,
    shared_noise_error,
    triangle_arcs,
    weighted_median,
)
from gnnsync.methods.robust.noise.mixture import fit_mixture
from tests.methods.networks import observed


def _ends(graph, arc):
    m = graph.num_edges
    edge, back = arc % m, arc >= m
    src, dst = graph.edge_index[:, edge]
    return np.where(back, dst, src), np.where(back, src, dst)


def test_arcs_lead_from_the_ends_of_a_side_to_the_third_node():
    graph = observed(erdos_renyi(30, 0.4, 1))
    side, near, far = triangle_arcs(graph, graph.triangles)
    assert len(side) == 3 * len(graph.triangles)
    (near_from, near_to), (far_from, far_to) = _ends(graph, near), _ends(graph, far)
    np.testing.assert_array_equal(near_from, graph.src[side])
    np.testing.assert_array_equal(far_from, graph.dst[side])
    np.testing.assert_array_equal(near_to, far_to)


def test_independent_noise_averages_out():
    """In a complete graph the angles, relative to their mean, have variance σ²(n - 1)/n²."""
    graph = observed(erdos_renyi(50, 1.0, 1), inlier_noise=0.2)
    fit = fit_mixture(graph, graph.angles)
    rng = np.random.default_rng(0)
    every = np.ones(50, dtype=bool)
    error = independent_noise_error(graph, fit, np.ones(graph.num_edges), every, rng)
    expected = fit.sigma * np.sqrt(49) / 50
    assert np.sqrt((error**2).mean()) == pytest.approx(expected, rel=0.1)


def test_shared_noise_does_not_average_out():
    graph = observed(random_geometric(150, 0.2, 1), inlier_noise=0.1)
    fit = fit_mixture(graph, graph.angles)
    residual, one = graph.residual(fit.angles)[:, 0], np.ones(graph.num_edges)
    every = np.ones(150, dtype=bool)
    alone = independent_noise_error(graph, fit, one, every, np.random.default_rng(0))
    shared = shared_noise_error(graph, one, residual, np.random.default_rng(0))
    assert np.median(shared) > 1.5 * np.median(alone)
    twice = shared_noise_error(graph, one, 2 * residual, np.random.default_rng(0))
    np.testing.assert_allclose(twice, 2 * shared)


def test_weighted_median():
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])) == 2.0
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0])) == 3.0
