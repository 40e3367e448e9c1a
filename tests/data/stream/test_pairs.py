import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gnnsync.data.stream.pairs import (
    distinct_pairs,
    joined,
    nearest_pairs,
    numbered_pairs,
    sampled,
    shortest_pairs,
    wanted_pairs,
)
from gnnsync.topology import component_labels


def test_numbers_count_all_pairs_once():
    n = 40
    pairs = numbered_pairs(np.arange(n * (n - 1) // 2))
    assert (pairs[0] < pairs[1]).all()
    assert distinct_pairs(*pairs, n).shape == (2, n * (n - 1) // 2)
    assert pairs.max() == n - 1


def test_distinct_pairs_are_ordered_and_without_loops():
    pairs = distinct_pairs(np.array([3, 1, 2, 2]), np.array([1, 3, 2, 0]), 4)
    np.testing.assert_array_equal(pairs, [[0, 1], [2, 3]])


def test_wanted_pairs_are_enough_for_a_tree_and_no_more_than_all():
    assert wanted_pairs(10, 0.5) == 9
    assert wanted_pairs(10, 4) == 20
    assert wanted_pairs(10, 30) == 45


def test_each_component_is_joined_to_the_largest_by_its_shortest_link():
    points = np.array([[0.0], [1.0], [2.0], [5.0], [6.0]])
    pairs = np.array([[0, 1, 3], [1, 2, 4]])
    result = joined(pairs, 5, np.random.default_rng(0), points)
    np.testing.assert_array_equal(result, [[0, 1, 2, 3], [1, 2, 3, 4]])


@given(n=st.integers(2, 60), m=st.integers(0, 60), seed=st.integers(0, 99))
def test_joining_adds_one_link_per_further_component(n, m, seed):
    rng = np.random.default_rng(seed)
    pairs = distinct_pairs(rng.integers(n, size=m), rng.integers(n, size=m), n)
    more = int(component_labels(pairs, n).max())
    result = joined(pairs, n, rng)
    assert result.shape[1] == pairs.shape[1] + more
    assert component_labels(result, n).max() == 0


def test_a_sample_keeps_the_order():
    pairs = numbered_pairs(np.arange(45))
    kept = sampled(pairs, 10, np.random.default_rng(0))
    assert kept.shape == (2, 10)
    assert sampled(kept, 10, np.random.default_rng(0)) is kept


def test_shortest_pairs_are_those_within_a_radius():
    points = np.random.default_rng(1).random((80, 2))
    pairs = shortest_pairs(points, 600, np.random.default_rng(0))
    i, j = np.triu_indices(80, 1)
    length = np.linalg.norm(points[i] - points[j], axis=1)
    expected = np.sort(np.argsort(length)[:600])
    np.testing.assert_array_equal(pairs, np.stack([i, j])[:, expected])


def test_nearest_pairs_hold_the_nearest_neighbour_of_every_point():
    points = np.random.default_rng(1).random((80, 3))
    pairs = nearest_pairs(points, 400, np.random.default_rng(0))
    assert pairs.shape == (2, 400)
    found = set(zip(*pairs.tolist(), strict=True))
    distance = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(80)
    for i, j in enumerate(distance.argmin(axis=1)):
        assert (min(i, j), max(i, j)) in found
