from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnnsync import MeasurementGraph
from gnnsync.angles import TWO_PI, wrap
from gnnsync.errors import GraphError, ParameterError
from gnnsync.metrics import (
    aligned_error,
    angular_mse,
    average_normalized_error,
    cycle_inconsistency,
    estimate_outliers,
    geodesic_mse,
    set_agreement,
    upset,
)

pairs_of_columns = arrays(
    np.float64,
    st.tuples(st.just(2), st.integers(1, 15), st.integers(1, 3)),
    elements=st.floats(0, TWO_PI),
)


def svd_mse(estimate: np.ndarray, truth: np.ndarray) -> float:
    """4 - 2·Σ singular values of Q for one set of angles, with explicit 2 × 2 matrices."""

    def rot(x: np.ndarray) -> np.ndarray:
        return np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]).transpose(2, 0, 1)

    q = (rot(truth).transpose(0, 2, 1) @ rot(estimate)).mean(axis=0)
    return 4 - 2 * np.linalg.svd(q, compute_uv=False).sum()


def best_permutation(cost, estimate: np.ndarray, truth: np.ndarray) -> float:
    k = truth.shape[1]
    return min(
        np.mean([cost(estimate[:, j], truth[:, i]) for i, j in enumerate(order)])
        for order in permutations(range(k))
    )


def grid_variance(estimate: np.ndarray, truth: np.ndarray, shifts: int = 2000) -> float:
    shift = np.linspace(0, TWO_PI, shifts, endpoint=False)[:, None]
    return (wrap(estimate - truth - shift) ** 2).mean(axis=1).min()


@given(pairs_of_columns)
def test_angular_mse_is_the_svd_formula(pair):
    estimate, truth = pair
    expected = best_permutation(svd_mse, estimate, truth)
    assert angular_mse(estimate, truth) == pytest.approx(expected, abs=1e-7)
    assert 0 <= angular_mse(estimate, truth) <= 4


@pytest.mark.parametrize("metric", [angular_mse, geodesic_mse])
@given(pair=pairs_of_columns, shift=st.floats(0, TWO_PI), seed=st.integers(0, 99))
def test_invariant_under_rotation_of_sets_and_their_order(metric, pair, shift, seed):
    estimate, truth = pair
    order = np.random.default_rng(seed).permutation(truth.shape[1])
    shifts = shift * np.arange(1, truth.shape[1] + 1)
    assert metric((estimate + shifts)[:, order], truth) == pytest.approx(
        metric(estimate, truth), abs=1e-9
    )


@pytest.mark.parametrize("metric", [angular_mse, geodesic_mse])
def test_zero_exactly_for_the_truth_up_to_rotation(metric, rng):
    truth = rng.uniform(0, TWO_PI, (20, 3))
    assert metric(truth + np.array([1.0, 2.0, 3.0]), truth) == pytest.approx(0, abs=1e-12)
    off = truth.copy()
    off[0, 0] += 1.0
    assert metric(off, truth) > 1e-3


def test_angular_mse_known_values():
    assert angular_mse(np.array([0.0, np.pi]), np.zeros(2)) == pytest.approx(4.0)
    assert angular_mse(np.array([0.0, np.pi / 2]), np.zeros(2)) == pytest.approx(4 - 2 * 2**0.5)


@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])
def test_geodesic_mse_is_the_minimum_over_all_shifts(rng, noise):
    for _ in range(10):
        n = int(rng.integers(1, 25))
        truth = rng.uniform(0, TWO_PI, n)
        estimate = truth + rng.uniform(0, TWO_PI) + noise * rng.standard_normal(n)
        exact, grid = geodesic_mse(estimate, truth), grid_variance(estimate, truth)
        step = TWO_PI / 2000
        # At the best shift the slope is 0, so half a grid step costs at most (step/2)².
        assert grid - (step / 2) ** 2 - 1e-12 <= exact <= grid + 1e-12


def test_geodesic_mse_matches_sets_by_its_own_cost(rng):
    estimate, truth = rng.uniform(0, TWO_PI, (2, 6, 3))
    exact = best_permutation(lambda r, t: geodesic_mse(r, t), estimate, truth)
    assert geodesic_mse(estimate, truth) == pytest.approx(exact)


def test_metrics_refuse_bad_input(rng):
    truth = rng.uniform(0, TWO_PI, (5, 2))
    for metric in (angular_mse, geodesic_mse, aligned_error):
        with pytest.raises(GraphError, match=r"estimate has shape \(5, 1\).*\(5, 2\)"):
            metric(truth[:, 0], truth)
        broken = truth.copy()
        broken[3, 1] = np.nan
        with pytest.raises(GraphError, match=r"estimate\[3, 1\] is nan"):
            metric(broken, truth)


def test_aligned_error_is_zero_but_for_the_one_wrong_node(rng):
    truth = rng.uniform(0, TWO_PI, (40, 2))
    estimate = (truth + np.array([0.5, 4.0]))[:, ::-1].copy()
    assert aligned_error(estimate, truth).max() < 1e-12
    estimate[7, 0] += np.pi  # shown column 0 is true column 1; the mean shift stays as it was
    error = aligned_error(estimate, truth)
    assert error[7, 1] == pytest.approx(np.pi)
    assert np.delete(error, 7, axis=0).max() < 1e-12


def test_upset_formulas(triangle_and_tail):
    graph = triangle_and_tail
    angles = np.array([[0.0, 1.0], [0.5, 0.0], [2.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    residuals = []
    for src, dst, offset in zip(graph.src, graph.dst, graph.offset, strict=True):
        per_set = (angles[src] - angles[dst] - offset) % TWO_PI
        residuals.append(np.minimum(per_set, TWO_PI - per_set).min())
    residuals = np.array(residuals)
    assert upset(graph, angles) == pytest.approx(residuals.mean())
    assert upset(graph, angles, "frobenius") == pytest.approx(np.sqrt((residuals**2).sum()) / 4)
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    weighted = graph.replace(weight=weight)
    assert upset(weighted, angles) == pytest.approx(weight @ residuals / weight.sum())
    one = graph.replace(weight=np.full(4, 7.0))
    for norm in ("mean", "frobenius"):
        assert upset(one, angles, norm) == pytest.approx(upset(graph, angles, norm))


@pytest.mark.parametrize("norm", ["mean", "frobenius"])
def test_upset_ignores_rotation_and_edge_direction(make_multigraph, rng, norm):
    graph = make_multigraph(1, weighted=True)
    angles = rng.uniform(0, TWO_PI, (graph.num_nodes, 2))
    value = upset(graph, angles, norm)
    assert upset(graph, graph.angles, norm) == pytest.approx(0, abs=1e-12)
    assert upset(graph, angles + np.array([1.0, 2.0]), norm) == pytest.approx(value)
    reverse = graph.replace(edge_index=graph.edge_index[::-1], offset=-graph.offset)
    assert upset(reverse, angles, norm) == pytest.approx(value)


def test_upset_edge_cases(triangle_and_tail):
    empty = MeasurementGraph(np.empty((2, 0)), [], 2)
    assert upset(empty, np.zeros(2)) == 0.0
    with pytest.raises(ParameterError, match="norm = 'l1': must be one of mean, frobenius"):
        upset(triangle_and_tail, np.zeros(5), norm="l1")
    with pytest.raises(GraphError, match="angles have 6 rows: the graph has 5 nodes"):
        upset(triangle_and_tail, np.zeros(6))
    with pytest.raises(GraphError, match=r"angles\[2\] is nan"):
        upset(triangle_and_tail, np.array([0, 0, np.nan, 0, 0]))


def test_cycle_inconsistency_formula(triangle_and_tail, make_multigraph, rng):
    assert cycle_inconsistency(triangle_and_tail) == pytest.approx(0.3)
    exact = make_multigraph(2)
    assert cycle_inconsistency(exact) == pytest.approx(0, abs=1e-12)
    noisy = exact.replace(offset=rng.uniform(0, TWO_PI, exact.num_edges))
    sums = noisy.triangles.sums(noisy.offset)
    expected = np.minimum(sums % TWO_PI, -sums % TWO_PI).mean()
    assert cycle_inconsistency(noisy) == pytest.approx(expected)
    reverse = noisy.replace(edge_index=noisy.edge_index[::-1], offset=-noisy.offset)
    assert cycle_inconsistency(reverse) == pytest.approx(expected)


def test_cycle_inconsistency_counts_triangles_of_one_group(triangle_and_tail):
    for group, expected in [([1, 1, 1, -1], 0.3), ([0, 0, 0, 0], 0.3)]:
        assert cycle_inconsistency(triangle_and_tail, np.array(group)) == pytest.approx(expected)
    for group in ([0, 1, 1, 1], [-1, -1, -1, 0], [0, 0, -1, 0]):
        assert np.isnan(cycle_inconsistency(triangle_and_tail, np.array(group)))
    assert np.isnan(cycle_inconsistency(MeasurementGraph([[0], [1]], [1.0], 2)))


def test_average_normalized_error():
    truth = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    assert average_normalized_error(truth, truth) == 0.0
    # ‖P - centre‖² = 4 points · 2; one point off by 3 gives 3/√8.
    moved = truth.copy()
    moved[0, 0] = 3.0
    assert average_normalized_error(moved, truth) == pytest.approx(3 / 8**0.5)
    assert average_normalized_error(moved + 5, truth + 5) == pytest.approx(3 / 8**0.5)
    assert average_normalized_error(7 * moved, 7 * truth) == pytest.approx(3 / 8**0.5)
    centre = np.broadcast_to(truth.mean(axis=0), truth.shape)
    assert average_normalized_error(centre, truth) == pytest.approx(1.0)


def test_average_normalized_error_refuses():
    with pytest.raises(GraphError, match=r"points have shape \(3, 2\) and the truth \(4, 2\)"):
        average_normalized_error(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(GraphError, match="all true points coincide"):
        average_normalized_error(np.zeros((3, 2)), np.ones((3, 2)))


@given(outliers=st.floats(0, 0.7), noise=st.floats(0.02, 0.3), seed=st.integers(0, 100))
def test_outlier_fraction_and_noise_are_recovered(outliers, noise, seed):
    rng = np.random.default_rng(seed)
    is_outlier = rng.random(20_000) < outliers
    residual = np.where(
        is_outlier, rng.uniform(-np.pi, np.pi, 20_000), noise * rng.normal(size=20_000)
    )
    found = estimate_outliers(residual)
    assert found[0] == pytest.approx(outliers, abs=0.03)
    assert found[1] == pytest.approx(noise, rel=0.1)


def test_outliers_of_no_exact_and_random_residuals():
    assert estimate_outliers(np.empty(0)) == (0.0, 0.0)
    assert estimate_outliers(np.zeros(10)) == pytest.approx((0, 1e-6), abs=1e-6)
    rng = np.random.default_rng(0)
    assert estimate_outliers(rng.uniform(-np.pi, np.pi, 5000))[0] > 0.9


def test_set_agreement_is_that_of_the_closest_pair(rng):
    one, other = rng.uniform(0, TWO_PI, (2, 2000))
    assert set_agreement(np.stack([one, other, one + 1.0], axis=1)) == pytest.approx(1.0)
    assert set_agreement(np.stack([one, other], axis=1)) == pytest.approx(
        abs(np.exp(1j * (one - other)).mean())
    )
    assert set_agreement(np.stack([one, other], axis=1)) < 0.1
    assert np.isnan(set_agreement(one))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_mse_of_either_sign_is_that_of_the_best_signs_and_order(k):
    rng = np.random.default_rng(k)
    truth = rng.uniform(0, 2 * np.pi, (30, k))
    estimate = truth[:, ::-1] + rng.normal(0, 0.3, (30, k))
    estimate[:, 0] *= -1
    signs = product([1, -1], repeat=k)
    best = min(angular_mse(estimate * np.array(sign), truth) for sign in signs)
    assert angular_mse(estimate, truth, either_sign=True) == pytest.approx(best)
    assert angular_mse(estimate, truth) > best + 0.5
