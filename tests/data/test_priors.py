"""Laws of the priors. Seeds are fixed; tolerances are stated in standard errors (se)."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from gnnsync.angles import TWO_PI, wrap
from gnnsync.data.priors import (
    GammaAngles,
    NormalBlockAngles,
    NormalIIDAngles,
    NormalRankOneAngles,
    UniformAngles,
)
from gnnsync.errors import ParameterError

PRIORS = [
    GammaAngles(),
    NormalRankOneAngles(),
    NormalIIDAngles(),
    NormalBlockAngles(),
    UniformAngles(),
]
MIN_P_VALUE = 1e-3  # of the goodness-of-fit tests


def draw_many(prior, n: int, k: int, times: int) -> np.ndarray:
    """`times` independent draws (times, n, k), centred at π and wrapped to [-π, π)."""
    rng = np.random.default_rng(3)
    return wrap(np.stack([prior(n, k, rng) for _ in range(times)]) - np.pi)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_shape_range_and_seed(prior):
    first = prior(50, 3, np.random.default_rng(1))
    assert first.shape == (50, 3)
    assert first.min() >= 0
    assert first.max() < TWO_PI
    np.testing.assert_array_equal(first, prior(50, 3, np.random.default_rng(1)))
    assert not np.array_equal(first, prior(50, 3, np.random.default_rng(2)))


def wrapped_cdf(law, turns: int = 40):
    """Distribution function on [0, 2π) of a law reduced mod 2π."""
    whole = np.arange(-turns, turns + 1) * TWO_PI
    return lambda x: (
        law.cdf(np.asarray(x)[..., None] + whole) - law.cdf(np.broadcast_to(whole, (1, len(whole))))
    ).sum(axis=-1)


@pytest.mark.parametrize(
    ("prior", "law"),
    [
        (GammaAngles(), stats.gamma(0.5, scale=TWO_PI)),
        (GammaAngles(shape=3.0, scale=0.7), stats.gamma(3.0, scale=0.7)),
        (NormalIIDAngles(), stats.norm(np.pi, 1.0)),
        (UniformAngles(), stats.uniform(0, TWO_PI)),
    ],
    ids=["gamma", "gamma with other parameters", "normal", "uniform"],
)
def test_independent_priors_follow_their_law(prior, law):
    angles = prior(4000, 2, np.random.default_rng(5))
    assert stats.kstest(angles.ravel(), wrapped_cdf(law)).pvalue > MIN_P_VALUE


@pytest.mark.parametrize("prior", [GammaAngles(), NormalIIDAngles(), UniformAngles()], ids=repr)
def test_independent_priors_are_uncorrelated_between_nodes_and_sets(prior):
    x = draw_many(prior, 4, 2, 4000).reshape(4000, 8)
    correlation = np.corrcoef(x, rowvar=False)[np.triu_indices(8, 1)]
    assert np.abs(correlation).max() < 4 / np.sqrt(4000)  # 28 correlations, 4 se


def test_iid_normal_moments():
    x = draw_many(NormalIIDAngles(), 10_000, 1, 1)
    # Wrapping N(0, 1) to ±π changes the variance by less than .02.
    assert abs(x.mean()) < 4 / 100  # 4 se
    assert x.var() == pytest.approx(1.0, abs=4 * np.sqrt(2) / 100 + 0.02)


def quiet(x: np.ndarray) -> bool:
    """Whether centred angles are so small that none of them can have been wrapped.

    If one had |z·w| > 2π - 1.5, its neighbours would not all be below 1.5.
    """
    return bool(np.abs(x).max() < 1.5)


def rank(x: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(x, tol=1e-12 * np.linalg.norm(x)))


def test_rank_one_sets_are_multiples_of_one_vector():
    """θ_l = π + z_l·w: centred columns are exactly proportional, with new factors every draw."""
    draws = (NormalRankOneAngles()(200, 3, np.random.default_rng(s)) - np.pi for s in range(200))
    unwrapped = [x for x in draws if quiet(x)]
    assert len(unwrapped) >= 5
    assert all(rank(x) == 1 for x in unwrapped)
    assert np.ptp([x[0, 0] / x[0, 1] for x in unwrapped]) > 0.5


def test_rank_one_law_of_one_angle_and_of_two():
    times = 4000
    x = draw_many(NormalRankOneAngles(), 2, 1, times)[:, :, 0]
    z, w = np.random.default_rng(8).standard_normal((2, times))
    for node in range(2):
        assert stats.ks_2samp(x[:, node], wrap(z * w)).pvalue > MIN_P_VALUE
    # Over draws of w two nodes are uncorrelated, E[x_i²x_j²] = E[z⁴] = 3 before wrapping: 4 se.
    assert abs(np.corrcoef(x, rowvar=False)[0, 1]) < 4 * np.sqrt(3 / times)
    # Their squares share z²: 8 se of no correlation is exceeded by far.
    assert np.corrcoef(x**2, rowvar=False)[0, 1] > 8 / np.sqrt(times)


@pytest.mark.parametrize(("n", "blocks"), [(60, 6), (61, 4), (8, 4), (20, 1)])
def test_each_block_has_rank_one_and_factors_of_its_own(n, blocks):
    parts = np.array_split(np.arange(n), blocks)
    checked = 0
    for seed in range(200):
        x = NormalBlockAngles(blocks)(n, 3, np.random.default_rng(seed)) - np.pi
        unwrapped = [part for part in parts if quiet(x[part])]
        assert all(rank(x[part]) == 1 for part in unwrapped)
        for first, second in pairwise(unwrapped):
            assert rank(x[np.concatenate([first, second])]) == 2
        checked += len(unwrapped)
    assert checked >= 5 * blocks


def test_default_is_the_papers_six_blocks():
    assert NormalBlockAngles().blocks == 6
    assert (GammaAngles().shape, GammaAngles().scale) == (0.5, TWO_PI)


def test_blocks_are_independent_and_nodes_within_a_block_are_not():
    """Squares within a block share z² and correlate; between blocks they do not."""
    times = 4000
    x = draw_many(NormalBlockAngles(2), 4, 1, times)[:, :, 0] ** 2
    correlation = np.corrcoef(x, rowvar=False)
    between = correlation[:2, 2:]
    assert np.abs(between).max() < 4 / np.sqrt(times)  # 4 se
    assert correlation[0, 1] > 8 / np.sqrt(times)
    assert correlation[2, 3] > 8 / np.sqrt(times)


def test_bad_parameters_are_named():
    for value in (0, -1.0, float("nan"), float("inf"), "1", True):
        with pytest.raises(ParameterError, match="shape = "):
            GammaAngles(shape=value)
        with pytest.raises(ParameterError, match="scale = "):
            GammaAngles(scale=value)
    for value in (0, 2.0, True, "6"):
        with pytest.raises(ParameterError, match="blocks = "):
            NormalBlockAngles(value)
    with pytest.raises(ParameterError, match="blocks = 6: must be at most the number of nodes, 5"):
        NormalBlockAngles(6)(5, 1, np.random.default_rng(0))
