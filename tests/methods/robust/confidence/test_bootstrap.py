"""Networks resampled from a solution."""

from dataclasses import replace

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.methods.robust.confidence.bootstrap import bootstrap, closure, resample
from gnnsync.methods.robust.confidence.error_propagation import triangle_arcs
from gnnsync.methods.robust.noise.law import LAPLACE
from gnnsync.methods.robust.noise.mixture import fit_mixture
from tests.methods.networks import observed


def _at_truth(graph):
    return fit_mixture(graph, graph.angles, move=False)


def test_a_rigid_network_is_recovered():
    graph = observed(random_geometric(150, 0.15, 1), eta=0.2, inlier_noise=0.1)
    result = bootstrap(graph, fit_mixture(graph, graph.angles), np.random.default_rng(0))
    assert result.recovered.min() > 0.6
    assert result.recovered.mean() > 0.98
    assert result.excess == 0.0


def test_halves_joined_by_few_edges_are_not_recovered():
    """Rigid halves joined by five edges, two of them outliers."""
    rng = np.random.default_rng(0)
    half = erdos_renyi(40, 0.3, 1)
    joints = np.stack([rng.permutation(40)[:5], 40 + rng.permutation(40)[:5]])
    index = np.concatenate([half, half + 40, joints], axis=1)
    angles = rng.uniform(0, 6, 80)
    noise = np.where(rng.random(index.shape[1]) < 0.5, 0.3 * rng.standard_normal(), 0.0)
    outlier = rng.random(index.shape[1]) < 0.6
    outlier[-5:] = [True, True, False, False, False]
    noise = np.where(outlier, rng.uniform(-3, 3, len(outlier)), noise)
    offset = angles[index[0]] - angles[index[1]] + noise
    graph = MeasurementGraph(index, offset, 80, angles=angles)
    recovered = bootstrap(graph, _at_truth(graph), np.random.default_rng(0)).recovered
    assert recovered.mean() < 0.9


@pytest.mark.parametrize("dof", [np.inf, 4.0, LAPLACE])
def test_resampled_offsets_have_the_noise_of_the_fit(dof):
    graph = observed(erdos_renyi(200, 0.3, 1), eta=0.3, inlier_noise=0.1)
    fit = replace(_at_truth(graph), dof=dof)
    network = resample(graph, fit, np.random.default_rng(0))
    residual = np.abs(network.residual(fit.angles)[:, 0])
    assert network.num_edges == graph.num_edges
    assert (residual > 0.9).mean() == pytest.approx(0.3 * (1 - 0.9 / np.pi), abs=0.03)
    middle = {np.inf: 0.674, 4.0: 0.741, LAPLACE: np.log(2)}[dof]
    near = residual[(fit.edge_confidence > 0.5) & (residual < 0.9)]
    assert np.median(near) == pytest.approx(middle * fit.sigma, rel=0.12)


def test_closure_of_independent_noise_is_one_and_of_rotated_nodes_zero():
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(60, 1)
    still = np.zeros((60, 1))
    alone = MeasurementGraph(np.stack([i, j]), 0.1 * rng.standard_normal(len(i)), 60)
    rotation = 0.1 * rng.standard_normal(60)
    together = MeasurementGraph(np.stack([i, j]), wrap(rotation[i] - rotation[j]), 60)
    for graph, value in ((alone, 1.0), (together, 0.0)):
        fit = fit_mixture(graph, still, move=False)
        assert closure(graph, fit, graph.triangles) == pytest.approx(value, abs=0.05)


def test_noise_shared_by_edges_lowers_the_closure():
    """Every edge has the mean of the noise with which its two ends see their common neighbours."""
    graph = observed(random_geometric(200, 0.15, 1), inlier_noise=0.02)
    side, near, far = triangle_arcs(graph, graph.triangles)
    drawn = np.random.default_rng(1).standard_normal(2 * graph.num_edges)
    count = np.maximum(np.bincount(side, minlength=graph.num_edges), 1)
    shared = np.bincount(side, drawn[near] - drawn[far], graph.num_edges) / np.sqrt(count)
    smooth = graph.replace(offset=graph.offset + 0.1 * shared)
    fit = fit_mixture(smooth, graph.angles)
    assert bootstrap(smooth, fit, np.random.default_rng(0)).excess > 0.05
