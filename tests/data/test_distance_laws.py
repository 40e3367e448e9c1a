import numpy as np
import pytest
from scipy.spatial.distance import pdist

from gnnsync.data.distance_laws import NOISE, add_gross_errors, disc_graph, noisy_distances
from gnnsync.data.shapes import UniformSquare
from gnnsync.errors import GraphError, ParameterError

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def test_the_disc_graph_holds_all_pairs_within_the_radius():
    points = UniformSquare(80)()
    pairs, distance, radius = disc_graph(points, 9)
    assert 2 * len(distance) / 80 == 9
    assert distance.max() == radius
    assert (pdist(points) <= radius).sum() == len(distance)
    np.testing.assert_allclose(
        distance, np.linalg.norm(points[pairs[0]] - points[pairs[1]], axis=1)
    )
    assert (pairs[0] < pairs[1]).all()
    assert (np.diff(pairs[0] * 80 + pairs[1]) > 0).all()


def test_pairs_as_far_apart_as_the_last_are_all_taken():
    pairs, distance, radius = disc_graph(SQUARE, 1)
    assert radius == 1
    assert distance.tolist() == [1] * 4
    assert pairs.T.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert disc_graph(SQUARE, 3)[0].shape == (2, 6)


@pytest.mark.parametrize(
    ("points", "degree", "error", "message"),
    [
        (SQUARE, 4, ParameterError, "degree = 4: must be at most 3"),
        (SQUARE, 0, ParameterError, "degree"),
        (SQUARE[[0, 1, 2, 1]], 3, GraphError, "points 1 and 3 are at one place: remove one"),
        (np.zeros((3, 2)), 2, GraphError, "all points are at one place"),
    ],
)
def test_points_without_a_disc_graph_are_refused(points, degree, error, message):
    with pytest.raises(error, match=message):
        disc_graph(points, degree)


@pytest.mark.parametrize("law", NOISE)
def test_noise_has_the_stated_deviation_and_one_shape_at_every_level(law):
    true = np.random.default_rng(0).uniform(0.5, 1.5, 40_000)
    small, _ = noisy_distances(true, law, 0.1, np.random.default_rng(1))
    large, deviation = noisy_distances(true, law, 0.2, np.random.default_rng(1))
    np.testing.assert_allclose(large - true, 2 * (small - true), atol=1e-12)
    assert ((large - true) / deviation).std() == pytest.approx(1, abs=0.02)
    if law != "additive":
        np.testing.assert_allclose(deviation, 0.2 * true / np.sqrt(3))
    else:
        assert np.ptp(deviation) == 0


def test_uniform_noise_is_bounded_and_distances_stay_positive():
    true = np.full(1000, 2.0)
    measured, _ = noisy_distances(true, "uniform", 0.3, np.random.default_rng(0))
    assert 1.39 < measured.min() < 1.42
    assert 2.58 < measured.max() < 2.61
    true[0] = 1e-6
    measured, _ = noisy_distances(true, "additive", 0.9, np.random.default_rng(3))
    assert measured.min() > 0
    with pytest.raises(ParameterError, match="eta"):
        noisy_distances(true, "uniform", 1.0, np.random.default_rng(0))


def test_gross_errors_lengthen_a_share_of_the_distances():
    distance = np.ones(20_000)
    draw = [
        add_gross_errors(distance, p, (0.5, 2.0), 3.0, np.random.default_rng(5)) for p in (0.1, 0.2)
    ]
    (_, few), (measured, many) = draw
    assert few.mean() == pytest.approx(0.1, abs=0.01)
    assert (many | ~few).all()  # more of them include the fewer
    extra = measured - distance
    assert (extra[~many] == 0).all()
    assert extra[many].min() == pytest.approx(1.5, abs=0.01)
    assert extra[many].max() == pytest.approx(6.0, abs=0.01)
