"""Nodes whose edges are all noisy."""

import numpy as np
import pytest

from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise import noisy_nodes
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.methods.robust.noise.noisy_nodes import place_noisy_nodes
from gnnsync.metrics import angular_mse


def network(eta, sigma, noisy, k=1, n=150, seed=0):
    """Noise σ on every edge, and 1 rad more on those at the first `noisy` nodes."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    graph = observe(erdos_renyi(n, 0.2, seed), angles, eta, rng=rng, inlier_noise=sigma)
    at_noisy = (graph.edge_index < noisy).any(axis=0)
    more = np.where(at_noisy, rng.standard_normal(graph.num_edges), 0.0)
    return graph.replace(offset=graph.offset + more)


def test_noisy_nodes_use_all_their_edges():
    graph = network(0.1, 0.1, noisy=15)
    start = graph.angles.copy()
    # A narrow noise law places them at a chance agreement of a few edges.
    start[:15] += 1.5
    fit = fit_mixture(graph, start, dof=4.0, move=False)
    placed = place_noisy_nodes(graph, fit, np.random.default_rng(0))
    assert np.array_equal(placed[15:], fit.angles[15:])
    assert angular_mse(placed[:15], graph.angles[:15]) < 0.3
    assert angular_mse(placed, graph.angles) < 0.2 * angular_mse(fit.angles, graph.angles)


def test_angles_found_despite_outliers_are_kept():
    graph = network(0.05, 0.1, noisy=0)
    rng = np.random.default_rng(1)
    wrong = (graph.edge_index < 12).any(axis=0) & (rng.random(graph.num_edges) < 0.5)
    offset = np.where(wrong, rng.uniform(0, 2 * np.pi, graph.num_edges), graph.offset)
    graph = graph.replace(offset=offset)
    fit = fit_mixture(graph, graph.angles, dof=4.0)
    assert noisy_nodes._suspects(graph, fit)[:12].mean() > 0.5
    assert place_noisy_nodes(graph, fit, rng) is fit.angles


def test_two_groups_are_not_changed():
    graph = network(0.1, 0.1, noisy=15, k=2)
    fit = fit_mixture(graph, graph.angles, dof=4.0)
    assert place_noisy_nodes(graph, fit, np.random.default_rng(0)) is fit.angles


def test_a_suspect_is_aligned_with_its_regular_neighbours():
    """A path 0-1-2-3-4-5-6 with suspects 1, 3, 4, 5: 4 is reached through others."""
    path = MeasurementGraph(np.stack([np.arange(6), np.arange(1, 7)]), np.zeros(6), 7)
    difference = np.array([0.1, 9.0, 0.3, 9.0, 9.0, 9.0, 0.7])
    suspect = np.isin(np.arange(7), [1, 3, 4, 5])
    rotation = noisy_nodes._local_rotation(path, difference, suspect)
    assert rotation[[1, 3, 4, 5]] == pytest.approx([0.2, 0.3, 0.5, 0.7])


def test_a_suspect_far_from_regular_nodes_takes_the_mean_rotation():
    path = MeasurementGraph(np.stack([np.arange(5), np.arange(1, 6)]), np.zeros(5), 6)
    suspect = np.arange(6) > 1
    rotation = noisy_nodes._local_rotation(path, np.full(6, 0.4), suspect)
    assert rotation[2:] == pytest.approx(np.full(4, 0.4))
