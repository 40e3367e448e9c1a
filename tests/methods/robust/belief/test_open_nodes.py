"""Posterior of open nodes, with the other angles held."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.open_nodes import open_nodes_posterior
from gnnsync.methods.robust.belief.propagation import propagate
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.methods.robust.noise.placement import angle_density, cell_of
from tests.methods.networks import synthetic


def solved(graph, is_open):
    fit = local_search(graph, graph.angles)
    return fit, open_nodes_posterior(graph, fit, is_open, sweeps=30, tol=1e-4)


def test_held_nodes_keep_the_fitted_angle():
    graph = synthetic(0.3, 0.2)
    is_open = np.arange(graph.num_nodes) % 5 == 0
    fit, found = solved(graph, is_open)
    mean = point_estimates(found.marginals, found.origin)[1]
    assert np.abs(wrap(mean - fit.angles))[~is_open].max() < 1e-12
    assert found.marginals.sum(axis=2) == pytest.approx(1.0)


def test_open_nodes_have_the_means_of_the_whole_propagation():
    graph = synthetic(0.4, 0.2, p=0.3)
    is_open = np.arange(graph.num_nodes) % 5 == 0
    fit, found = solved(graph, is_open)
    whole = propagate(graph, fit.angles, like=fit, tol=1e-4)
    mean, expected = (point_estimates(p.marginals, p.origin)[1] for p in (found, whole))
    assert np.abs(wrap(mean - expected))[is_open].max() < 0.1


def test_a_single_open_node_has_the_exact_posterior():
    """Node 2 has two contradictory measurements, of which the better weighted one wins."""
    index, offset = [[0, 2, 2], [1, 0, 1]], [0.0, 1.0, 3.0]
    graph = MeasurementGraph(index, offset, 3, weight=np.array([1.0, 1.0, 9.0]))
    fit = fit_mixture(graph, np.array([[0.0], [0.0], [3.0]]), move=False, max_iterations=1)
    fit = type(fit)(**{**vars(fit), "share": np.array([0.7]), "sigma": 0.3})
    is_open = np.array([False, False, True])
    found = open_nodes_posterior(graph, fit, is_open, sweeps=50, tol=1e-9)
    bins = found.marginals.shape[2]
    angle = found.origin[2, 0] + 2 * np.pi * np.arange(bins) / bins
    density = angle_density(fit.angles[:, 0], np.array([1.0, 1.0, 0.0]))
    expected = density[cell_of(angle, len(density))]
    mean_weight = 11.0 / 3.0
    for centre, weight in ((1.0, 1.0), (3.0, 9.0)):
        scale = 0.3 / np.sqrt(weight / mean_weight)
        away = wrap(angle - centre)[:, None] + 2 * np.pi * np.arange(-3, 4)
        law = np.exp(-0.5 * (away / scale) ** 2).sum(axis=1) / (scale * np.sqrt(2 * np.pi))
        expected *= 0.3 / (2 * np.pi) + 0.7 * law
    expected /= expected.sum()
    assert np.abs(found.marginals[2, 0] - expected).max() < 1e-3
