import numpy as np
import pytest

from gnnsync.angles import wrap
from gnnsync.data.priors import UniformAngles
from gnnsync.data.stream.families import ErdosRenyi
from gnnsync.data.stream.laws import (
    INLIER_LAWS,
    OUTLIER_LAWS,
    BiasedOutliers,
    ClusteredOutliers,
    ExactOffsets,
    NormalNoise,
    SecondSolution,
    StudentNoise,
    UniformOutliers,
    measured,
)
from gnnsync.errors import ParameterError

PAIRS = ErdosRenyi()(400, 60, np.random.default_rng(0))
ANGLES = UniformAngles()(400, 2, np.random.default_rng(1))


def graph(**options):
    options = {
        "eta": 0.4,
        "sigma": 0.1,
        "inlier_law": NormalNoise(),
        "outlier_law": UniformOutliers(),
        "rng": np.random.default_rng(2),
        **options,
    }
    return measured(PAIRS, ANGLES, **options)


def own_residual(g):
    """Residual (m,) with respect to the true group; meaningless for outliers."""
    group = np.maximum(g.group, 0)
    return wrap(g.offset - g.angles[g.src, group] + g.angles[g.dst, group])


@pytest.mark.parametrize("name", INLIER_LAWS)
def test_noise_has_unit_scale(name):
    noise = INLIER_LAWS[name](400_000, np.random.default_rng(0))
    assert noise.mean() == pytest.approx(0.0, abs=0.01)
    # The fourth moment of Student's t with 4 degrees of freedom is infinite: a wide tolerance.
    assert noise.std() == pytest.approx(0.0 if name == "exact" else 1.0, rel=0.05)


def test_noise_without_a_variance_has_the_median_of_a_normal():
    noise = StudentNoise(2.0)(400_000, np.random.default_rng(0))
    assert np.median(np.abs(noise)) == pytest.approx(0.6745, rel=0.01)
    with pytest.raises(ParameterError, match="degrees_of_freedom = 0"):
        StudentNoise(0)


@pytest.mark.parametrize("name", INLIER_LAWS)
def test_inliers_measure_their_group_with_the_stated_noise(name):
    g = graph(inlier_law=INLIER_LAWS[name], sigma=0.2)
    residual = own_residual(g)[g.group >= 0]
    expected = 0.0 if name == "exact" else 0.2
    assert residual.std() == pytest.approx(expected, rel=0.05, abs=1e-9)


@pytest.mark.parametrize("eta", [0.0, 0.25, 0.8])
def test_outliers_and_groups_have_their_shares(eta):
    group = graph(eta=eta).group
    four_deviations = 4 * np.sqrt(0.25 / len(group))
    assert (group == -1).mean() == pytest.approx(eta, abs=four_deviations)
    assert (group == 0).mean() == pytest.approx((1 - eta) / 2, abs=four_deviations)


def test_weights_are_precisions_of_the_inliers():
    weight = np.where(np.arange(PAIRS.shape[1]) % 2, 4.0, 0.25)
    g = graph(weight=weight, eta=0.1)
    residual, inlier = own_residual(g), g.group >= 0
    np.testing.assert_array_equal(g.weight, weight)
    assert residual[inlier & (weight == 4.0)].std() == pytest.approx(0.05, rel=0.05)
    assert residual[inlier & (weight == 0.25)].std() == pytest.approx(0.2, rel=0.05)


def test_edges_are_directed_at_random():
    g = graph()
    assert (g.src < g.dst).mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("name", OUTLIER_LAWS)
def test_the_law_of_outliers_leaves_inliers_alone(name):
    g = graph(outlier_law=OUTLIER_LAWS[name], inlier_law=ExactOffsets())
    residual = np.abs(own_residual(g))
    assert residual[g.group >= 0].max() < 1e-9
    assert np.median(residual[g.group < 0]) > 0.3


def test_clustered_outliers_have_few_directions():
    law = ClusteredOutliers(directions=1, spread=(0.1, 0.1))
    g = graph(outlier_law=law)
    assert np.abs(np.exp(1j * g.offset[g.group < 0]).mean()) > 0.99
    assert np.abs(np.exp(1j * g.offset[g.group >= 0]).mean()) < 0.1


@pytest.mark.parametrize("eta", [0.3, 0.8])
def test_a_second_solution_is_weaker_than_the_truth(eta):
    shares = []
    for seed in range(6):
        hidden = np.random.default_rng(seed).uniform(0, 2 * np.pi, 400)
        edges = PAIRS
        rng = np.random.default_rng(seed)
        most = min(0.7 * (1 - eta) / (2 * eta), 1.0)
        offset = SecondSolution(noise=0.0)(edges, ANGLES, most, rng)
        agrees = np.abs(wrap(hidden[edges[0]] - hidden[edges[1]] - offset)) < 1e-9
        shares.append(agrees.mean() * eta)
    assert max(shares) < 0.8 * (1 - eta) / 2
    assert max(shares) > 0.02


def test_biased_outliers_have_one_bias():
    law = BiasedOutliers(bias=(1.0, 1.0), spread=(0.1, 0.1))
    single = measured(
        PAIRS,
        ANGLES[:, :1],
        0.5,
        0.1,
        inlier_law=NormalNoise(),
        outlier_law=law,
        rng=np.random.default_rng(2),
    )
    residual = own_residual(single)[single.group < 0]
    assert np.abs(residual.mean()) == pytest.approx(1.0, abs=0.02)
    assert residual.std() == pytest.approx(0.1, rel=0.1)
