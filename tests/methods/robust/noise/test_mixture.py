"""EM under the mixture model: noise levels, groups and evidence."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.methods.robust.noise.mixture import fit_mixture, node_trust
from gnnsync.metrics import angular_mse
from gnnsync.work import limited


def network(eta, sigma=0.0, k=1, n=120, p=0.25, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    return observe(erdos_renyi(n, p, seed), angles, eta, rng=rng, inlier_noise=sigma)


@pytest.mark.parametrize(("eta", "sigma"), [(0.0, 0.3), (0.3, 0.1), (0.5, 0.03)])
def test_noise_is_estimated(eta, sigma):
    graph = network(eta, sigma)
    fit = fit_mixture(graph, graph.angles)
    assert fit.eta == pytest.approx(eta, abs=0.04)
    assert fit.sigma == pytest.approx(sigma, rel=0.15)


def test_exact_inliers_stay_exact():
    graph = network(0.4)
    start = graph.angles + 0.05 * np.random.default_rng(1).standard_normal(graph.angles.shape)
    fit = fit_mixture(graph, start)
    assert angular_mse(fit.angles, graph.angles) < 1e-12
    assert ((fit.membership[:, 0] > 0.5) == (graph.group == 0)).mean() > 0.999


def test_two_groups_are_separated():
    graph = network(0.2, 0.05, k=2)
    fit = fit_mixture(graph, graph.angles)
    inlier = graph.group >= 0
    assert (fit.membership.argmax(axis=1) == graph.group)[inlier].mean() > 0.97
    assert fit.share == pytest.approx([0.4, 0.4], abs=0.05)


def test_heavy_tails_prefer_student():
    rng = np.random.default_rng(3)
    graph = network(0.0, n=150)
    noisy = graph.replace(offset=graph.offset + 0.05 * rng.standard_t(2, graph.num_edges))
    fits = {dof: fit_mixture(noisy, graph.angles, dof=dof) for dof in (np.inf, 4.0)}
    assert fits[4.0].evidence > fits[np.inf].evidence
    normal = network(0.0, 0.05, n=150)
    fits = {dof: fit_mixture(normal, normal.angles, dof=dof) for dof in (np.inf, 4.0)}
    assert fits[np.inf].evidence > fits[4.0].evidence


def test_weights_are_precisions():
    graph = network(0.0, n=100)
    rng = np.random.default_rng(5)
    precise = rng.random(graph.num_edges) < 0.3
    error = np.where(precise, 0.02, 0.4) * rng.standard_normal(graph.num_edges)
    noisy = graph.replace(offset=graph.offset + error)
    weighted = noisy.replace(weight=np.where(precise, 400.0, 1.0))
    plain = angular_mse(fit_mixture(noisy, graph.angles).angles, graph.angles)
    better = angular_mse(fit_mixture(weighted, graph.angles).angles, graph.angles)
    assert better < plain


def test_evidence_gains_nothing_from_a_tree():
    """A tree can be fitted without residual whatever its offsets."""
    rng = np.random.default_rng(0)
    n = 50
    pairs = np.stack([np.arange(1, n), rng.integers(0, np.arange(1, n))])
    offset = rng.uniform(0, 2 * np.pi, n - 1)
    graph = MeasurementGraph(pairs, offset, n)
    fitted = fit_mixture(graph, rng.uniform(0, 1, (n, 1)), max_iterations=200)
    assert fitted.evidence < 0.35 * n


def test_node_trust_is_low_where_edges_are_few():
    graph = network(0.5)
    lone = graph.replace(
        edge_index=np.concatenate([graph.edge_index, [[120], [0]]], axis=1),
        offset=np.append(graph.offset, 1.0),
        num_nodes=121,
        angles=None,
        group=None,
    )
    start = np.append(graph.angles, [[0.0]], axis=0)
    confidence = node_trust(lone, fit_mixture(lone, start))
    assert confidence[:120].min() > 0.99
    assert confidence[120, 0] < 0.75


def started(seed=1):
    graph = network(0.3, 0.1)
    return graph, graph.angles + 0.3 * np.random.default_rng(seed).standard_normal((120, 1))


def test_converged_if_the_angles_will_hardly_move():
    graph, start = started()
    exact = fit_mixture(graph, start, max_iterations=200)
    few = fit_mixture(graph, start, max_iterations=15)
    assert exact.converged
    assert few.converged
    assert few.iterations == 15 < exact.iterations
    moved = np.sqrt(np.square(few.angles - exact.angles).mean())
    assert moved < 0.02 * exact.sigma


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_not_converged_while_the_angles_move(iterations):
    graph, start = started()
    fit = fit_mixture(graph, start, max_iterations=iterations)
    exact = fit_mixture(graph, start, max_iterations=200)
    moved = np.sqrt(np.square(fit.angles - exact.angles).mean())
    assert not fit.converged
    assert moved > 0.01 * exact.sigma


def test_time_limit_ends_em_after_an_iteration():
    graph, start = started()
    with limited(1e-9):
        fit = fit_mixture(graph, start)
    assert fit.iterations == 1
    assert not fit.converged
