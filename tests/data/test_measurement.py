"""Degree laws of the measurement graphs. Seeds are fixed; tolerances in standard errors (se)."""

import math

import networkx as nx
import numpy as np
import pytest

from gnnsync.data import measurement
from gnnsync.data.measurement import barabasi_albert, erdos_renyi, random_geometric

MODELS = [erdos_renyi, barabasi_albert, random_geometric]


@pytest.fixture(autouse=True, params=["networkx", "arrays"])
def source(request, monkeypatch):
    """Every law holds for both ways of drawing."""
    if request.param == "arrays":
        monkeypatch.setattr(measurement, "NETWORKX_NODES", 0)
    return request.param


def degrees(pairs: np.ndarray, n: int) -> np.ndarray:
    return np.bincount(pairs.ravel(), minlength=n)


@pytest.mark.parametrize("model", MODELS)
def test_pairs_are_sorted_distinct_and_seeded(model):
    pairs = model(60, 0.1, 4)
    assert pairs.dtype == np.int64
    assert (pairs[0] < pairs[1]).all()
    assert pairs.min() >= 0
    assert pairs.max() < 60
    key = pairs[0] * 60 + pairs[1]
    assert (np.diff(key) > 0).all()
    np.testing.assert_array_equal(pairs, model(60, 0.1, 4))
    assert not np.array_equal(pairs, model(60, 0.1, 5))


@pytest.mark.parametrize("n", [360, 1001])  # both of NetworkX's algorithms for G(n, p)
@pytest.mark.parametrize("p", [0.02, 0.1])
def test_erdos_renyi_edge_count_and_degree_law(n, p):
    draws = [erdos_renyi(n, p, seed) for seed in range(5)]
    possible = len(draws) * n * (n - 1) / 2
    share = sum(pairs.shape[1] for pairs in draws) / possible
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / possible)  # 4 se
    # Degrees are Binomial(n-1, p), nearly independent: se of the variance is about √(2/N)·var.
    degree = np.concatenate([degrees(pairs, n) for pairs in draws])
    variance = (n - 1) * p * (1 - p)
    assert degree.mean() == pytest.approx((n - 1) * p, rel=4 * math.sqrt((1 - p) / (p * possible)))
    assert degree.var() == pytest.approx(variance, rel=5 * math.sqrt(2 / len(degree)))


def test_erdos_renyi_extremes():
    assert erdos_renyi(10, 0.0, 0).shape == (2, 0)
    assert erdos_renyi(10, 1.0, 0).shape == (2, 45)
    assert erdos_renyi(1001, 0.0, 0).shape == (2, 0)


@pytest.mark.parametrize(
    ("n", "p", "attached"),
    [(360, 0.05, 9), (360, 0.1, 18), (360, 0.15, 27), (200, 0.07, 7), (50, 0.05, 2), (51, 1, 26)],
)
def test_barabasi_albert_edge_count_and_least_degree(n, p, attached):
    pairs = barabasi_albert(n, p, 2)
    assert pairs.shape[1] == (n - attached) * attached
    degree = degrees(pairs, n)
    # Nodes that came later have at least `attached` edges, and the first arrivals soon do; the
    # leaves of the initial star may keep fewer.
    assert (degree[attached + 1 :] >= attached).all()
    assert degree.min() >= 1


def test_barabasi_albert_prefers_the_well_connected():
    """The hubs are among the oldest nodes and far above the mean; G(n, p) has no such nodes."""
    degree = degrees(barabasi_albert(1000, 0.01, 0), 1000)
    assert degree.max() > 8 * degree.mean()
    assert degree[:50].mean() > 3 * degree[500:].mean()


@pytest.mark.parametrize(("n", "p", "edges"), [(2, 0.0, 1), (5, 0.0, 4), (2, 1.0, 1)])
def test_barabasi_albert_attaches_at_least_one_edge_and_fewer_than_n(n, p, edges):
    assert barabasi_albert(n, p, 0).shape == (2, edges)


@pytest.mark.parametrize("p", [0.05, 0.15])
def test_random_geometric_mean_degree(p):
    """Two uniform points of the unit square are within r ≤ 1 with probability
    πr² - 8r³/3 + r⁴/2 (the classical distribution of the distance in a square)."""
    n, radius = 360, 2 * p
    near = math.pi * radius**2 - 8 * radius**3 / 3 + radius**4 / 2
    counts = [random_geometric(n, p, seed).shape[1] for seed in range(30)]
    expected = near * n * (n - 1) / 2
    se = np.std(counts, ddof=1) / math.sqrt(len(counts))
    assert abs(np.mean(counts) - expected) < 4 * se
    assert se < 0.02 * expected  # the test has the power to see an error of 8 %


def test_random_geometric_is_clustered_unlike_erdos_renyi():
    def clustering(pairs):
        return nx.transitivity(nx.Graph(list(map(tuple, pairs.T))))

    assert clustering(random_geometric(300, 0.08, 0)) > 0.5
    assert clustering(erdos_renyi(300, 0.08, 0)) < 0.15


def test_random_geometric_extremes():
    assert random_geometric(10, 0.0, 0).shape == (2, 0)
    assert random_geometric(10, 1.0, 0).shape == (2, 45)


def test_large_graphs_come_without_networkx(source, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    if source == "networkx":
        with pytest.raises(ImportError):
            erdos_renyi(50, 0.1, 0)
    else:
        assert erdos_renyi(50, 0.1, 0).shape[1] > 0


def test_pairs_are_decoded_exactly_where_floats_are_not():
    n = 3_000_000_000
    j = np.array([1, 2, n - 2, n - 1])
    for i in (np.zeros_like(j), j - 1):
        found = measurement._decoded(np.sort(j * (j - 1) // 2 + i))
        np.testing.assert_array_equal(np.unique(found[1]), j)
        np.testing.assert_array_equal(np.sort(found[0]), np.sort(i))
