"""The sampler of inliers agrees with the exact posterior."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import betaln
from scipy.stats import beta

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.methods.robust.sparse.gibbs import PRIOR, SCALES, sample_inliers
from gnnsync.methods.robust.sparse.kernel import Kernel, series_kernel
from gnnsync.topology import component_labels

GRID = np.linspace(-np.pi, np.pi, 800, endpoint=False)


def exact(offset: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Probability of each of several chains between the same two nodes, by summation.

    Over the outlier share, the noise, all sets of inliers and the difference of the two angles.
    """
    etas = (np.arange(200) + 0.5) / 200
    prior = np.diff(beta.cdf(np.linspace(0, 1, 201), *PRIOR))
    right = (1 - etas[:, None]) ** length
    total, inlier = 0.0, np.zeros(len(offset))
    for sigma in SCALES:
        wide = sigma * np.sqrt(length)
        gap = (offset[:, None] - GRID + np.pi) % (2 * np.pi) - np.pi
        turns = 2 * np.pi * np.arange(-2, 3)[:, None, None]
        z = (gap + turns) / wide[:, None]
        density = np.exp(-0.5 * z**2).sum(axis=0) * np.sqrt(2 * np.pi) / wide[:, None]
        for chosen in product((False, True), repeat=len(offset)):
            own = np.array(chosen)
            likelihood = np.prod(density[own], axis=0).mean() if own.any() else 1.0
            share = (prior * np.where(own, right, 1 - right).prod(axis=1)).sum()
            total += likelihood * share
            inlier += own * likelihood * share
    return inlier / total


def test_the_share_of_samples_is_the_posterior_probability() -> None:
    # Chains of 1, 2 and 4 edges between nodes 0 and 1; the first two nearly agree.
    index = [[0, 0, 2, 0, 3, 4, 5], [1, 2, 1, 3, 4, 5, 1]]
    offset = [0.3, 0.2, 0.13, 0.5, 0.5, 0.5, 0.5]
    kernel = series_kernel(MeasurementGraph(index, offset, 6))
    order = np.argsort(kernel.doubted)
    sign = np.where(kernel.junctions[kernel.ends[0]] == 0, 1.0, -1.0)
    expected = exact((sign * kernel.offset)[order], kernel.doubted[order].astype(float))
    rng = np.random.default_rng(0)
    found = sample_inliers(kernel, rng, replicas=200, burn_in=40, kept=20, thin=2)
    np.testing.assert_allclose(found.probability.mean(axis=0)[order], expected, atol=0.03)
    np.testing.assert_allclose(found.inlier.mean(axis=0)[order], expected, atol=0.04)
    assert expected[0] > 0.9 > 0.3 > expected[2]


def test_known_noise_and_outliers_seen_elsewhere_are_used() -> None:
    kernel = series_kernel(MeasurementGraph([[0, 0], [1, 1]], [0.0, 0.2], 2))
    rng = np.random.default_rng(0)
    strict = sample_inliers(kernel, rng, sigma=0.01)
    assert set(strict.sigma) == {0.01}
    assert strict.inlier.all(axis=1).mean() < 0.05
    few = sample_inliers(kernel, rng, sigma=0.2, seen=(0.0, 1000.0))
    many = sample_inliers(kernel, rng, sigma=0.2, seen=(900.0, 100.0))
    assert few.inlier.all(axis=1).mean() > 0.95
    assert many.inlier.all(axis=1).mean() < 0.3
    assert many.eta.mean() > 0.85


def test_two_chains_that_exclude_each_other_are_both_sampled() -> None:
    """One after the other they would change places once in 1/η sweeps."""
    kernel = series_kernel(MeasurementGraph([[0, 0], [1, 1]], [0.0, 1.5], 2))
    found = sample_inliers(kernel, np.random.default_rng(0), sigma=0.01, seen=(1.0, 500.0))
    assert (found.inlier.sum(axis=1) == 1).mean() > 0.95
    np.testing.assert_allclose(found.inlier.mean(axis=0), 0.5, atol=0.1)


def test_exchanges_leave_the_posterior_as_it_is() -> None:
    """On a wheel with two wrong edges and many outliers, where single changes suffice."""
    rng = np.random.default_rng(4)
    index = np.array([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 5, 5, 5, 5, 5]])
    offset = 0.3 * rng.standard_normal(10)
    offset[[2, 7]] += 2.0
    kernel = series_kernel(MeasurementGraph(index, offset, 6))
    many = {"sigma": 0.3, "seen": (40.0, 60.0), "replicas": 300, "kept": 10}
    found = sample_inliers(kernel, rng, **many)
    expected = _by_enumeration(kernel, 0.3, (40.0, 60.0))
    np.testing.assert_allclose(found.inlier.mean(axis=0), expected, atol=0.03)


def _by_enumeration(kernel: Kernel, sigma: float, seen: tuple[float, float]) -> np.ndarray:
    """Probability of each chain, all of one edge, by the likelihood of all sets of inliers.

    Up to a factor 2π for each freedom, the likelihood is that of least squares. Windings are left
    out: σ is small.
    """
    c, k = kernel.num_chains, kernel.num_nodes
    offset = wrap(kernel.offset)
    incidence = np.zeros((c, k))
    incidence[np.arange(c), kernel.ends[0]] = 1.0
    incidence[np.arange(c), kernel.ends[1]] = -1.0
    sets = np.array(list(product((False, True), repeat=c)))
    log = np.empty(len(sets))
    for i, own in enumerate(sets):
        a = incidence[own]
        value = np.linalg.eigvalsh(a.T @ a)
        rank = int((value > 1e-9).sum())
        parts = _components(kernel.ends[:, own], k)
        fitted = a @ np.linalg.pinv(a) @ offset[own] if own.any() else np.zeros(0)
        square = ((offset[own] - fitted) ** 2).sum()
        freedom = int(own.sum()) - rank
        # Trees of the inliers: the determinant of the Laplacian without its zeros, by component.
        trees = np.prod(value[value > 1e-9]) / np.prod(np.bincount(parts))
        log[i] = -0.5 * square / sigma**2 - 0.5 * np.log(trees)
        log[i] += 0.5 * freedom * np.log(2 * np.pi / sigma**2)
        outliers = c - int(own.sum())
        log[i] += betaln(PRIOR[0] + seen[0] + outliers, PRIOR[1] + seen[1] + own.sum())
    weight = np.exp(log - log.max())
    return weight @ sets / weight.sum()


def _components(ends: np.ndarray, k: int) -> np.ndarray:
    return np.unique(component_labels(ends, k), return_inverse=True)[1]
