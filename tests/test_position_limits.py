"""The bound of positions against dense matrices, against estimates, and in special cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError
from gnnsync.position_limits import multiplicative_deviation, position_bound
from gnnsync.positions import position_rmse


def disc_network(n, radius, seed, anchors=0, eta=0.1):
    points = np.random.default_rng(seed).random((n, 2))
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray").T.astype(np.int64)
    return network_of(points, pairs, anchors, eta)


def network_of(points, pairs, anchors=0, eta=0.1):
    points, pairs = np.asarray(points, dtype=float), np.asarray(pairs)
    distance = np.hypot(*(points[pairs[0]] - points[pairs[1]]).T)
    return DistanceNetwork(
        pairs,
        distance,
        len(points),
        deviation=multiplicative_deviation(distance, eta),
        anchors=np.arange(anchors),
        anchor_positions=points[:anchors],
        points=points,
    )


def dense_information(network):
    """F (2n, 2n), and the motions N (2n, 3)."""
    p, (i, j), n = network.points, network.pairs, network.num_points
    rows = np.zeros((network.num_edges, n, 2))
    edge = np.arange(network.num_edges)
    unit = (p[i] - p[j]) / network.distance[:, None]
    rows[edge, i], rows[edge, j] = unit, -unit
    rows = rows.reshape(-1, 2 * n) / network.deviation[:, None]
    motion = np.zeros((n, 2, 3))
    motion[:, 0, 0] = motion[:, 1, 1] = 1.0
    motion[:, 0, 2], motion[:, 1, 2] = -p[:, 1], p[:, 0]
    return rows.T @ rows, motion.reshape(-1, 3)


def blocks(matrix):
    n = len(matrix) // 2
    return matrix.reshape(n, 2, n, 2)[np.arange(n), :, np.arange(n), :]


COMPLETE = np.stack(np.triu_indices(6, 1))


@pytest.mark.parametrize("seed", range(3))
def test_without_anchors_it_is_the_pseudo_inverse(seed):
    network = disc_network(40, 0.4, seed)
    bound = position_bound(network, scored=np.ones(40, bool))
    assert bound.finite.all()
    expected = blocks(np.linalg.pinv(dense_information(network)[0], rcond=1e-12))
    np.testing.assert_allclose(bound.covariance, expected, rtol=1e-6, atol=1e-12)
    assert bound.rmse() == pytest.approx(np.sqrt(np.trace(expected.sum(axis=0)) / 40))


def test_motion_fitted_over_the_scored_points():
    network = disc_network(30, 0.4, 1)
    scored = np.arange(30) < 12
    information, motion = dense_information(network)
    part = motion * np.repeat(scored, 2)[:, None]
    project = np.eye(60) - motion @ np.linalg.inv(part.T @ part) @ part.T
    expected = blocks(project @ np.linalg.pinv(information) @ project.T)
    bound = position_bound(network, scored=scored)
    np.testing.assert_allclose(bound.covariance, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("anchors", [3, 5])
def test_with_anchors_it_is_the_inverse_on_the_others(anchors):
    network = disc_network(30, 0.4, 2, anchors)
    information = dense_information(network)[0][2 * anchors :, 2 * anchors :]
    bound = position_bound(network)
    np.testing.assert_allclose(
        bound.covariance[anchors:], blocks(np.linalg.inv(information)), rtol=1e-6
    )
    assert not bound.covariance[:anchors].any()


def test_two_anchors_are_as_good_as_their_exact_distance():
    network = disc_network(20, 0.6, 3, anchors=2)
    free = network.replace(anchors=None, anchor_positions=None)
    known = np.append(free.deviation, 1e-5)
    pairs = np.append(free.pairs, [[0], [1]], axis=1)
    joined = (free.pairs == np.array([[0], [1]])).all(axis=0)
    assert not joined.any() or joined.sum() == 1
    far = np.append(free.distance, np.hypot(*(network.points[0] - network.points[1])))
    keep = np.append(~joined, True)
    exact = free.replace(pairs=pairs[:, keep], distance=far[keep], deviation=known[keep])
    scored = np.ones(20, bool)
    two, one = position_bound(network, scored=scored), position_bound(exact, scored=scored)
    np.testing.assert_allclose(two.covariance, one.covariance, rtol=1e-3, atol=1e-9)
    assert two.rmse() < position_bound(free, scored=scored).rmse()


@settings(deadline=None, max_examples=60)
@given(st.integers(5, 9), st.integers(0, 10_000), st.booleans())
def test_a_further_distance_never_raises_it(n, seed, anchored):
    rng = np.random.default_rng(seed)
    every = np.stack(np.triu_indices(n, 1))
    chosen = every[:, rng.permutation(every.shape[1])]
    size = int(rng.integers(min(2 * n - 3, chosen.shape[1] - 1), chosen.shape[1]))
    points = rng.normal(size=(n, 2))
    few, more = (network_of(points, chosen[:, :k], 3 * anchored) for k in (size, size + 1))
    scored = np.ones(n, bool)
    less, after = (position_bound(network, scored=scored) for network in (few, more))
    if anchored:
        assert (after.finite | ~less.finite).all()
    if anchored or less.finite.all():
        drop = less.covariance[less.finite] - after.covariance[less.finite]
        size = np.trace(less.covariance[less.finite], axis1=1, axis2=2)
        assert (np.linalg.eigvalsh(drop)[:, 0] >= -1e-6 * size).all()


def test_flexible_parts_have_no_bound():
    # A rigid body of 6 points, a point on a bar, and a body of 4 points elsewhere.
    rng = np.random.default_rng(0)
    other = np.stack(np.triu_indices(4, 1)) + 7
    pairs = np.concatenate([COMPLETE, [[0], [6]], other], axis=1)
    network = network_of(rng.normal(size=(12, 2)), pairs)
    bound = position_bound(network)
    assert np.flatnonzero(~bound.finite).tolist() == [6, 11]
    assert np.flatnonzero(~bound.localizable).tolist() == [6, 11]
    assert np.isinf(bound.deviation[[6, 11]]).all()
    assert np.isnan(bound.covariance[6, 0, 1])
    assert np.isfinite(bound.rmse())
    assert np.isinf(bound.rmse(np.ones(12, bool)))


def test_a_part_that_can_be_reflected_has_a_bound_but_is_not_localizable():
    pairs = np.concatenate([COMPLETE, [[0, 1], [6, 6]]], axis=1)
    bound = position_bound(network_of(np.random.default_rng(1).normal(size=(7, 2)), pairs))
    assert bound.finite.all()
    assert np.flatnonzero(~bound.localizable).tolist() == [6]
    assert not bound.scored[6]


def test_points_on_one_line_have_no_bound():
    points = np.stack([np.arange(6.0), 2 * np.arange(6.0)], axis=1)
    bound = position_bound(network_of(points, COMPLETE))
    assert not bound.finite.any()
    assert np.isnan(bound.rmse())


def test_a_point_on_the_line_of_its_two_neighbours_has_none_but_all_others_have():
    points = np.random.default_rng(2).normal(size=(7, 2))
    points[6] = (points[0] + 2 * points[1]) / 3
    pairs = np.concatenate([COMPLETE, [[0, 1], [6, 6]]], axis=1)
    bound = position_bound(network_of(points, pairs))
    assert np.flatnonzero(~bound.finite).tolist() == [6]
    information, motion = dense_information(network_of(points, pairs))
    part = motion * (np.arange(14) < 12)[:, None]
    project = np.eye(14) - motion @ np.linalg.inv(part.T @ part) @ part.T
    expected = blocks(project @ np.linalg.pinv(information, rcond=1e-10) @ project.T)
    np.testing.assert_allclose(bound.covariance[:6], expected[:6], rtol=1e-5)


def test_points_estimated_at_one_place_and_on_an_axis():
    network = disc_network(20, 0.6, 5)
    estimate = network.points.copy()
    estimate[1] = estimate[0]
    assert np.isfinite(position_bound(network, estimate).rmse())
    estimate[:, 1] = 0.0
    assert not position_bound(network, estimate).finite.any()


def test_distances_of_infinite_deviation_do_not_count():
    network = disc_network(20, 0.6, 5)
    sigma = network.deviation.copy()
    sigma[::5] = np.inf
    kept = np.isfinite(sigma)
    one, two = position_bound(network, deviation=sigma), position_bound(network.keep_edges(kept))
    np.testing.assert_allclose(one.covariance, two.covariance)


def test_all_points_anchors_and_a_missing_deviation():
    network = network_of(np.random.default_rng(0).normal(size=(6, 2)), COMPLETE, anchors=6)
    assert position_bound(network).rmse() == 0.0
    with pytest.raises(ParameterError, match="deviation"):
        position_bound(network.replace(deviation=None))


@pytest.mark.parametrize("anchors", [0, 3])
def test_maximum_likelihood_attains_it_at_small_noise(anchors):
    network = disc_network(14, 0.55, 4, anchors, eta=1e-3)
    bound = position_bound(network)
    n, (i, j) = network.num_points, network.pairs
    rng, trials = np.random.default_rng(0), 300
    errors = []
    free = np.arange(n) >= anchors

    for _ in range(trials):
        distance = network.distance + network.deviation * rng.standard_normal(len(i))
        found = network.points.copy()
        for _ in range(4):  # Gauss-Newton from the truth
            step = found[i] - found[j]
            length = np.hypot(step[:, 0], step[:, 1])
            rows = np.zeros((len(i), n, 2))
            rows[np.arange(len(i)), i] = step / length[:, None]
            rows[np.arange(len(i)), j] = -step / length[:, None]
            rows = rows[:, free].reshape(len(i), -1) / network.deviation[:, None]
            right = (distance - length) / network.deviation
            found[free] += np.linalg.lstsq(rows, right, rcond=1e-9)[0].reshape(-1, 2)
        errors.append(position_rmse(found, network, bound.scored) ** 2)
    # The mean square over the trials has this relative sampling error.
    spread = np.std(errors) / np.mean(errors) / np.sqrt(trials)
    assert np.mean(errors) == pytest.approx(bound.rmse() ** 2, rel=3.5 * spread)
    assert spread < 0.06
