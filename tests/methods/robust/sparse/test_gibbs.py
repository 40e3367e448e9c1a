"""The sampler of inliers agrees with the exact posterior."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import beta

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.sparse.gibbs import PRIOR, SCALES, sample_inliers
from gnnsync.methods.robust.sparse.kernel import series_kernel

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
