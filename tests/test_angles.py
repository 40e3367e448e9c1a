from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnnsync.angles import (
    TWO_PI,
    align,
    align_columns,
    circular_distance,
    circular_mean,
    match_columns,
    reduce_angle,
    resultant,
    wrap,
)

angle = st.floats(-1e4, 1e4, allow_nan=False)
angle_vectors = arrays(np.float64, st.integers(1, 20), elements=st.floats(0, TWO_PI))
# Adding angles up to 1e4 rounds to about 1e-12.
CLOSE = 1e-11


@given(angle)
def test_reduce_angle_range_and_congruence(x):
    reduced = reduce_angle(x)
    assert 0 <= reduced < TWO_PI
    assert abs(np.exp(1j * reduced) - np.exp(1j * x)) < CLOSE


@pytest.mark.parametrize("x", [-1e-17, -1e-300, -4e-16, -5e-324, -0.0])
def test_reduce_angle_never_returns_two_pi(x):
    assert 0 <= reduce_angle(x) < TWO_PI


@given(angle)
def test_wrap_range_and_congruence(x):
    wrapped = wrap(x)
    assert -np.pi <= wrapped < np.pi
    assert abs(np.exp(1j * wrapped) - np.exp(1j * x)) < CLOSE


@pytest.mark.parametrize("ulps", range(-3, 4))
def test_wrap_stays_in_range_beside_the_cut(ulps):
    for edge in (-np.pi, np.pi, 3 * np.pi):
        x = edge + ulps * np.spacing(edge)
        assert -np.pi <= wrap(x) < np.pi


@pytest.mark.parametrize("turns", [-1000, -3, -1, 0, 1, 2, 1000])
def test_wrap_is_congruent_beside_the_cut(turns):
    cut = (2 * turns + 1) * np.pi
    x = cut + np.spacing(cut) * np.arange(-50, 51)
    wrapped = wrap(x)
    assert ((wrapped >= -np.pi) & (wrapped < np.pi)).all()
    assert (circular_distance(wrapped, x) < CLOSE).all()
    np.testing.assert_allclose(np.abs(wrapped), np.pi, atol=CLOSE)


def test_wrap_leaves_angles_within_the_range_as_they_are(rng):
    x = np.append(rng.uniform(-np.pi, np.pi, 1000), [-np.pi, 0.0, 1e-300, -1e-17])
    np.testing.assert_array_equal(wrap(x), x)


def test_wrap_of_huge_angles_stays_in_range():
    x = np.geomspace(1e5, 1e300, 2000)
    for wrapped in (wrap(x), wrap(-x)):
        assert ((wrapped >= -np.pi) & (wrapped < np.pi)).all()
    near = x[x < 1e12]  # floats still far less than a turn apart
    assert np.abs(np.exp(1j * wrap(near)) - np.exp(1j * near)).max() < 1e-3


def test_wrap_of_what_is_no_number_is_nan():
    with np.errstate(invalid="ignore"):
        assert np.isnan(wrap([np.nan, np.inf, -np.inf])).all()


def test_wrap_keeps_the_shape():
    assert np.ndim(wrap(7.0)) == 0
    assert wrap(np.zeros((2, 0, 3))).shape == (2, 0, 3)


@given(angle, angle)
def test_circular_distance_is_a_bounded_symmetric_distance(a, b):
    distance = circular_distance(a, b)
    assert 0 <= distance <= np.pi
    assert distance == pytest.approx(circular_distance(b, a), abs=CLOSE)
    assert circular_distance(a, a) == 0
    assert distance == pytest.approx(min((a - b) % TWO_PI, (b - a) % TWO_PI), abs=CLOSE)


@given(angle, angle, angle)
def test_circular_distance_triangle_inequality(a, b, c):
    assert circular_distance(a, c) <= circular_distance(a, b) + circular_distance(b, c) + CLOSE


@given(angle_vectors, angle)
def test_circular_mean_turns_with_its_argument(x, shift):
    assume(abs(np.exp(1j * x).mean()) > 1e-3)  # directions that nearly cancel have no stable mean
    turned = circular_mean(x + shift)
    assert circular_distance(turned, circular_mean(x) + shift) < 1e-8


def test_circular_mean_weights_axis_and_vanishing_sum():
    assert circular_mean([0.1, TWO_PI - 0.1]) == pytest.approx(0.0, abs=1e-12)
    assert circular_mean([0.0, np.pi / 2], weight=[1.0, 0.0]) == 0.0
    assert circular_mean([0.3, 2.0], weight=[0.0, 5.0]) == pytest.approx(2.0)
    columns = np.array([[1.0, 2.0], [1.2, 2.4]])
    np.testing.assert_allclose(circular_mean(columns, axis=0), [1.1, 2.2])
    assert circular_mean([0.5, 0.5 + np.pi]) == 0.0


@given(angle_vectors, angle)
def test_align_undoes_a_rotation(truth, shift):
    aligned = align(truth + shift, truth)
    assert circular_distance(aligned, truth).max() < 1e-8
    assert (aligned >= 0).all()
    assert (aligned < TWO_PI).all()


def test_align_is_the_best_chordal_shift(rng):
    truth = rng.uniform(0, TWO_PI, 30)
    estimate = truth + 0.8 * rng.standard_normal(30) + 2.0

    def chordal(shifted):
        return (np.abs(np.exp(1j * shifted) - np.exp(1j * truth)) ** 2).sum()

    grid = [chordal(estimate - shift) for shift in np.linspace(0, TWO_PI, 500)]
    assert chordal(align(estimate, truth)) <= min(grid)


def test_resultant_tells_shift_and_agreement(rng):
    truth = rng.uniform(0, TWO_PI, 10)
    value = resultant(truth + 0.4, truth)
    assert abs(value) == pytest.approx(1.0)
    assert np.angle(value) == pytest.approx(0.4)


def test_columns_are_matched_and_aligned(rng):
    truth = rng.uniform(0, TWO_PI, (25, 4))
    place = np.array([2, 0, 3, 1])  # column l of the truth is shown as column place[l]
    estimate = np.empty_like(truth)
    estimate[:, place] = truth + rng.uniform(0, TWO_PI, 4)
    np.testing.assert_array_equal(match_columns(estimate, truth), place)
    assert circular_distance(align_columns(estimate, truth), truth).max() < 1e-12


def test_matching_is_as_good_as_the_best_permutation(rng):
    truth, estimate = rng.uniform(0, TWO_PI, (2, 6, 4))
    order = match_columns(estimate, truth)

    def agreement(permutation):
        return sum(abs(resultant(estimate[:, j], truth[:, i])) for i, j in enumerate(permutation))

    assert agreement(order) == pytest.approx(max(map(agreement, permutations(range(4)))))
