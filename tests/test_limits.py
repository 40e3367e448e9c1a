"""Thresholds, bands and information limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import GraphError, ParameterError
from gnnsync.limits import (
    InformationLimit,
    information_limit,
    instance_limit,
    least_squares_oracle,
    overlap,
    random_guess_mse,
    spectral_band,
    spectral_curve,
    spectral_threshold,
)
from gnnsync.metrics import angular_mse


@pytest.mark.parametrize(("p", "eta"), [(0.05, 0.764), (0.10, 0.833), (0.15, 0.864)])
def test_spectral_threshold(p, eta):
    assert spectral_threshold(359 * p) == pytest.approx(eta, abs=5e-4)
    assert spectral_threshold(359 * p, 2) == pytest.approx(2 * eta - 1, abs=1e-3)


def test_threshold_of_a_graph_too_sparse_is_zero():
    assert spectral_threshold(3, 2) == 0.0


def test_overlap_is_the_mean_phase_of_a_noisy_number():
    """Monte Carlo: Re phase(√γ + complex normal noise of unit variance)."""
    rng = np.random.default_rng(0)
    noise = (rng.standard_normal(200_000) + 1j * rng.standard_normal(200_000)) / np.sqrt(2)
    for gamma in (0.1, 1.0, 5.0):
        number = np.sqrt(gamma) + noise
        assert overlap(gamma) == pytest.approx((number / np.abs(number)).real.mean(), abs=5e-3)
    assert overlap(0.0) == 0.0
    assert overlap(np.inf) == 1.0
    assert overlap(1e9) == pytest.approx(1.0, abs=1e-8)


def test_curve_is_the_upper_edge_of_the_band_and_rises():
    eta = np.linspace(0, 1, 51)
    for k in (1, 2, 3):
        least, greatest = spectral_band(50.0, eta, k)
        np.testing.assert_array_equal(greatest, spectral_curve(50.0, eta, k))
        assert (least <= greatest).all()
        assert (np.diff(greatest) >= -1e-12).all()
        assert np.isfinite(least).all()
        above = eta > spectral_threshold(50.0, k)
        np.testing.assert_array_equal(greatest[above], 4.0)


def test_random_guess():
    assert random_guess_mse(360) == pytest.approx(3.813, abs=1e-3)
    rng = np.random.default_rng(0)
    guess, truth = rng.uniform(0, 7, (2, 1000, 360))
    mean = np.mean([angular_mse(a, b) for a, b in zip(guess, truth, strict=True)])
    assert random_guess_mse(360) == pytest.approx(mean, abs=0.01)


@pytest.mark.parametrize(
    ("p", "eta", "oracle", "certifiable"),
    [(0.15, 0.9, 0.019, 0.12), (0.05, 0.8, 0.12, 0.55)],
)
def test_information_limit_by_formula(p, eta, oracle, certifiable):
    limit = information_limit(359 * p, eta)
    assert limit.oracle == pytest.approx(oracle, rel=0.05)
    assert limit.certifiable == pytest.approx(certifiable, rel=0.01)


@given(st.floats(0, 100), st.floats(0, 1), st.integers(1, 5))
def test_information_limit_solves_its_equations(degree, eta, k):
    limit = information_limit(degree, eta, k)
    c, s = degree * (1 - eta) / k, limit.connected
    assert 0 <= limit.certified <= s <= 1
    assert s == pytest.approx(1 - np.exp(-c * s), abs=1e-9)
    assert (s > 0) == (c > 1)


@pytest.mark.parametrize("k", [1, 2])
def test_instances_approach_the_formula(k):
    n, degree, eta = 20_000, 10.0, 0.6
    rng = np.random.default_rng(0)
    pairs = erdos_renyi(n, degree / (n - 1), 1)
    graph = observe(pairs, rng.uniform(0, 6, (n, k)), eta, rng=rng)
    formula, instance = information_limit(degree, eta, k), instance_limit(graph)
    assert instance.connected == pytest.approx(formula.connected, abs=0.02)
    assert instance.certified == pytest.approx(formula.certified, abs=0.02)


def test_limit_of_a_small_instance(triangle_and_tail):
    """Inliers: a triangle (3 of 5 nodes) and a bridge to a fourth node."""
    graph = triangle_and_tail.replace(group=np.zeros(4))
    limit = instance_limit(graph)
    assert limit == InformationLimit(0.8, 0.6)
    assert limit.oracle == pytest.approx(0.8)
    assert limit.certifiable == pytest.approx(1.6)
    assert instance_limit(graph.replace(group=np.full(4, -1))) == InformationLimit(0.0, 0.0)


def test_limits_average_over_groups(triangle_and_tail):
    """Group 0 has the triangle (3 of 5 nodes); group 1 the tail alone, a bridge."""
    graph = triangle_and_tail.replace(group=np.array([0, 0, 0, 1]))
    limit = instance_limit(graph)
    assert limit.connected == pytest.approx((0.6 + 0.4) / 2)
    assert limit.certified == pytest.approx((0.6 + 0.0) / 2)


def test_least_squares_oracle_without_noise_is_the_oracle():
    rng = np.random.default_rng(0)
    graph = observe(erdos_renyi(200, 0.03, 1), rng.uniform(0, 6, (200, 2)), 0.5, rng=rng)
    assert least_squares_oracle(graph) == pytest.approx(instance_limit(graph).oracle, abs=1e-9)


def test_least_squares_oracle_with_noise():
    """About 4·σ²/(2c): each node averages c = d(1-η) noisy inliers; .002 at p=.15, η=.8, σ=.1."""
    rng = np.random.default_rng(0)
    graph = observe(
        erdos_renyi(360, 0.15, 1), rng.uniform(0, 6, (360, 1)), 0.8, rng=rng, inlier_noise=0.1
    )
    assert least_squares_oracle(graph) == pytest.approx(0.002, abs=0.0006)


def test_the_truth_is_needed():
    graph = MeasurementGraph(np.array([[0], [1]]), np.array([1.0]), 2)
    with pytest.raises(GraphError, match="group"):
        instance_limit(graph)
    with pytest.raises(GraphError, match="angles"):
        least_squares_oracle(graph.replace(group=np.array([0])))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: spectral_threshold(0), "degree"),
        (lambda: spectral_curve(10, 1.5), "eta"),
        (lambda: spectral_band(10, 0.5, 0), "k"),
        (lambda: information_limit(10, -0.1), "eta"),
        (lambda: random_guess_mse(0), "n"),
    ],
)
def test_arguments_out_of_range(call, name):
    with pytest.raises(ParameterError, match=name):
        call()
