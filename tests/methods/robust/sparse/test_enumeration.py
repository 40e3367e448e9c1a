"""Samples from all sets of inliers agree with the exact posterior and with the sampler."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.sparse.enumeration import MOST_ENUMERATED, enumerate_inliers
from gnnsync.methods.robust.sparse.gibbs import sample_inliers
from gnnsync.methods.robust.sparse.kernel import series_kernel
from gnnsync.methods.robust.sparse.posterior import sample_angles
from tests.methods.robust.sparse.test_gibbs import exact

COMPLETE = np.array(np.triu_indices(4, 1))
BOW_TIE = np.array([[0, 1, 2, 2, 3, 4], [1, 2, 0, 3, 4, 2]])


def noisy(index: np.ndarray, seed: int, **options) -> MeasurementGraph:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, index.max() + 1)
    offset = angles[index[0]] - angles[index[1]] + 0.1 * rng.standard_normal(index.shape[1])
    offset[seed % index.shape[1]] += 1.5
    return MeasurementGraph(index, offset, len(angles), **options)


def test_the_share_of_samples_is_the_posterior_probability() -> None:
    # Chains of 1, 2 and 4 edges between nodes 0 and 1; the first two nearly agree.
    index = [[0, 0, 2, 0, 3, 4, 5], [1, 2, 1, 3, 4, 5, 1]]
    kernel = series_kernel(MeasurementGraph(index, [0.3, 0.2, 0.13, 0.5, 0.5, 0.5, 0.5], 6))
    order = np.argsort(kernel.doubted)
    sign = np.where(kernel.junctions[kernel.ends[0]] == 0, 1.0, -1.0)
    expected = exact((sign * kernel.offset)[order], kernel.doubted[order].astype(float))
    found = enumerate_inliers(kernel, np.random.default_rng(0), samples=20_000)
    np.testing.assert_allclose(found.inlier.mean(axis=0)[order], expected, atol=0.015)
    np.testing.assert_allclose(found.probability.mean(axis=0)[order], expected, atol=0.015)


@pytest.mark.parametrize(
    ("index", "options"),
    [(COMPLETE, {}), (BOW_TIE, {"seen": (2.0, 9.0)}), (COMPLETE, {"sigma": 0.1})],
)
def test_it_agrees_with_the_sampler(index, options) -> None:
    trusted = np.arange(index.shape[1]) == 2
    weight = np.linspace(0.5, 2.0, index.shape[1])
    kernel = series_kernel(noisy(index, 1, trusted=trusted, weight=weight))
    assert kernel.num_chains <= MOST_ENUMERATED
    rng = np.random.default_rng(0)
    own = enumerate_inliers(kernel, rng, samples=6000, **options)
    other = sample_inliers(kernel, rng, replicas=300, burn_in=30, kept=8, **options)
    for name, slack in (("inlier", 0.04), ("probability", 0.04), ("eta", 0.03)):
        means = (getattr(found, name).mean(axis=0) for found in (own, other))
        np.testing.assert_allclose(*means, atol=slack, err_msg=name)
    for share in (0.25, 0.5, 0.75):
        scales = (np.quantile(found.sigma, share) for found in (own, other))
        np.testing.assert_allclose(*np.log(list(scales)), atol=0.25)
    gaps = [np.exp(1j * np.diff(found.angles, axis=1)).mean(axis=0) for found in (own, other)]
    np.testing.assert_allclose(*gaps, atol=0.06)


def test_a_few_chains_are_enumerated_and_more_are_not() -> None:
    """The sampler took three quarters of the time of a small component."""
    wheel = np.array([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 5, 5, 5, 5, 5]])
    for index, enumerated in ((COMPLETE, True), (BOW_TIE, True), (wheel, False)):
        graph = noisy(index, 1)
        kernel = series_kernel(graph)
        assert (kernel.num_chains <= MOST_ENUMERATED) == enumerated
        found = sample_angles(graph, kernel, np.random.default_rng(0))
        # Outlier shares on a grid, or of a continuous law.
        assert (len(np.unique(found.eta)) <= 200) == enumerated
