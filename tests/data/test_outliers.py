"""The outlier model. Seeds are fixed; tolerances are stated in standard errors (se)."""

import numpy as np
import pytest
from scipy import stats

from gnnsync.angles import TWO_PI, wrap
from gnnsync.data.outliers import ORIENTATIONS, observe
from gnnsync.errors import ParameterError

N = 200
PAIRS = np.stack(np.triu_indices(N, 1))
M = PAIRS.shape[1]  # 19900
MIN_P_VALUE = 1e-3


def draw(eta=0.4, k=1, seed=0, **options):
    rng = np.random.default_rng(seed)
    return observe(PAIRS, rng.uniform(0, TWO_PI, (N, k)), eta, rng=rng, **options)


def exact_offset(graph):
    """True offset (m,) of the set each inlier measures, along the stored direction."""
    own = np.maximum(graph.group, 0)
    return graph.angles[graph.src, own] - graph.angles[graph.dst, own]


def is_reversed(graph):
    return graph.src > graph.dst


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("k", [1, 3])
def test_every_pair_is_measured_once(orientation, k):
    graph = draw(k=k, orientation=orientation)
    assert graph.num_edges == M
    np.testing.assert_array_equal(np.sort(graph.edge_index, axis=0), PAIRS)
    assert graph.angles.shape == (N, k)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("eta", [0.0, 0.3, 0.7, 1.0])
def test_outlier_and_group_shares(eta, k):
    group = draw(eta, k).group
    assert group.min() >= -1
    assert group.max() < k
    for label, share in [(-1, eta), *((l_, (1 - eta) / k) for l_ in range(k))]:
        observed = (group == label).mean()
        assert abs(observed - share) <= 4 * np.sqrt(share * (1 - share) / M)  # 4 se; exact at 0, 1


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("k", [1, 3])
def test_inliers_are_exact(orientation, k):
    graph = draw(0.5, k, orientation=orientation)
    inlier = graph.group >= 0
    assert np.abs(wrap(graph.offset - exact_offset(graph)))[inlier].max() < 1e-12


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_outlier_offsets_are_uniform_and_unrelated_to_the_truth(orientation):
    graph = draw(0.6, 2, orientation=orientation)
    outlier = graph.group == -1
    offset = graph.offset[outlier]
    assert stats.kstest(offset / TWO_PI, "uniform").pvalue > MIN_P_VALUE
    for group in range(2):
        truth = graph.angles[graph.src, group] - graph.angles[graph.dst, group]
        difference = (offset - truth[outlier]) % TWO_PI
        assert stats.kstest(difference / TWO_PI, "uniform").pvalue > MIN_P_VALUE


def test_random_orientation_is_a_coin_independent_of_everything():
    graph = draw(0.5, k=2)
    turned = is_reversed(graph)
    half_se = 0.5 / np.sqrt(M)
    assert abs(turned.mean() - 0.5) < 4 * half_se
    i, j = PAIRS
    larger = graph.angles[i, 0] > graph.angles[j, 0]
    for event in (graph.group == -1, graph.group == 0, larger, i + j < N, j - i < 20):
        inside, outside = turned[event], turned[~event]
        se = 0.5 * np.sqrt(1 / len(inside) + 1 / len(outside))
        assert abs(inside.mean() - outside.mean()) < 4 * se
    # Neighbouring pairs too: no runs.
    assert abs((turned[1:] == turned[:-1]).mean() - 0.5) < 4 * half_se


def test_upper_orientation_points_from_the_smaller_to_the_larger_number():
    graph = draw(0.5, k=2, orientation="upper")
    np.testing.assert_array_equal(graph.edge_index, PAIRS)


def test_released_orientation_leaks_the_order_of_the_angles():
    graph = draw(0.5, k=3, orientation="released")
    inlier = graph.group >= 0
    own = graph.group[inlier]
    assert (graph.angles[graph.src[inlier], own] > graph.angles[graph.dst[inlier], own]).all()
    assert (graph.src < graph.dst)[~inlier].all()
    assert is_reversed(graph).mean() == pytest.approx(0.25, abs=4 * 0.5 / np.sqrt(M))  # 4 se


def test_orientations_differ_in_direction_only():
    """The same draw under another orientation is the same measurement, perhaps turned round."""
    graphs = [draw(0.5, 2, orientation=o, inlier_noise=0.1) for o in ORIENTATIONS]
    for graph in graphs[1:]:
        np.testing.assert_array_equal(graph.group, graphs[0].group)
        assert abs(graph.hermitian - graphs[0].hermitian).max() < 1e-12


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("sigma", [0.05, 0.5])
def test_inlier_noise(sigma, orientation):
    graph = draw(0.5, 2, inlier_noise=sigma, orientation=orientation)
    inlier = graph.group >= 0
    count = inlier.sum()
    # Seen from i to j, so that a choice of direction by sign does not bias the noise.
    noise = wrap(graph.offset - exact_offset(graph))[inlier]
    noise = np.where(is_reversed(graph)[inlier], -noise, noise)
    assert abs(noise.mean()) < 4 * sigma / np.sqrt(count)  # 4 se
    assert noise.std() == pytest.approx(sigma, rel=4 / np.sqrt(2 * count))  # 4 se
    assert stats.kstest(noise / sigma, "norm").pvalue > MIN_P_VALUE


def test_noise_leaves_outliers_alone():
    quiet, noisy = (draw(0.5, 1, inlier_noise=sigma) for sigma in (0.0, 0.3))
    outlier = quiet.group == -1
    np.testing.assert_array_equal(quiet.group, noisy.group)
    np.testing.assert_array_equal(quiet.offset[outlier], noisy.offset[outlier])
    assert (quiet.offset[~outlier] != noisy.offset[~outlier]).all()


def test_released_orientation_follows_the_noisy_difference():
    """The non-negative one of the two entries that were *measured* is kept, noise included.

    So an inlier points against the order of the true angles exactly when the noise outweighs
    their difference, which happens for close angles only.
    """
    sigma = 0.2
    quiet, noisy = (draw(0.5, orientation="released", inlier_noise=s) for s in (0.0, sigma))
    inlier = quiet.group >= 0
    difference = quiet.angles[PAIRS[0], 0] - quiet.angles[PAIRS[1], 0]
    changed = (is_reversed(quiet) != is_reversed(noisy)) & inlier
    against = (exact_offset(noisy) < 0) & inlier
    np.testing.assert_array_equal(changed, against)
    assert changed.sum() > 0
    assert np.abs(difference[changed]).max() < 5 * sigma  # 5 standard deviations
    stored = wrap(noisy.offset - exact_offset(noisy))[inlier] + exact_offset(noisy)[inlier]
    assert stored.min() >= 0
    assert (noisy.src < noisy.dst)[~inlier].all()


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_zero_offsets_are_measurements(orientation):
    rng = np.random.default_rng(0)
    graph = observe(PAIRS, np.full((N, 1), 2.5), 0.0, rng=rng, orientation=orientation)
    assert graph.num_edges == M
    np.testing.assert_array_equal(graph.offset, 0.0)
    assert graph.hermitian.nnz == 2 * M


def test_no_pairs():
    none = np.empty((2, 0), dtype=np.int64)
    graph = observe(none, np.zeros((3, 2)), 0.5, rng=np.random.default_rng(0))
    assert (graph.num_edges, graph.num_nodes) == (0, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("eta", 1.1), ("eta", float("nan")), ("orientation", "lower"), ("inlier_noise", -0.1)],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ParameterError, match=f"{name} = "):
        draw(**{name: value})
