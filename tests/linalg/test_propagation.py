import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.linalg import propagation
from gnnsync.linalg.propagation import angle_variance, difference_variance
from gnnsync.work import Work, watched


def dense(graph, precision):
    laplacian = np.zeros((graph.num_nodes,) * 2)
    for (s, t), w in zip(graph.edge_index.T, precision, strict=True):
        laplacian[[s, t], [s, t]] += w
        laplacian[[s, t], [t, s]] -= w
    return np.linalg.pinv(laplacian)


def test_variances_are_those_of_the_pseudo_inverse(make_multigraph, rng):
    graph = make_multigraph(1, n=14, m=30, connected=True)
    precision = rng.uniform(1.0, 5.0, graph.num_edges)
    inverse = dense(graph, precision)
    np.testing.assert_allclose(angle_variance(graph, precision, rng), inverse.diagonal())
    expected = inverse[2, 2] + inverse[7, 7] - 2 * inverse[2, 7]
    assert difference_variance(graph, precision, 2, 7) == pytest.approx(expected)
    assert difference_variance(graph, precision, 3, 3) == 0.0


def test_what_no_precision_joins_is_unknown(rng):
    graph = MeasurementGraph([[0, 1, 2], [1, 2, 3]], np.zeros(3), 4)
    variance = angle_variance(graph, np.array([1.0, 1.0, 0.0]), rng)
    assert np.isnan(variance).tolist() == [False, False, False, True]
    assert np.isnan(difference_variance(graph, np.array([1.0, 1.0, 0.0]), 0, 3))
    assert difference_variance(graph, np.array([2.0, 2.0, 0.0]), 0, 2) == pytest.approx(1.0)


def test_held_nodes_have_no_variance(rng):
    chain = MeasurementGraph([[0, 1, 2], [1, 2, 3]], np.zeros(3), 4)
    held = np.array([True, False, False, True])
    variance = angle_variance(chain, np.ones(3), rng, held)
    np.testing.assert_allclose(variance, [0.0, 2 / 3, 2 / 3, 0.0], atol=1e-12)


def test_large_graphs_are_factorised_or_sampled(rng):
    n = propagation._DENSE_NODES + 50
    index = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    ring = MeasurementGraph(index, np.zeros(n), n)
    exact = angle_variance(ring, np.ones(n), rng)
    np.testing.assert_allclose(exact, (n**2 - 1) / (12 * n))
    pairs = np.array([(i, j) for i in range(n) for j in rng.choice(n, 5) if i != j]).T
    graph = MeasurementGraph(pairs, np.zeros(pairs.shape[1]), n)
    sampled = angle_variance(graph, np.ones(graph.num_edges), rng)
    np.testing.assert_allclose(
        sampled.mean(), dense(graph, np.ones(graph.num_edges)).trace() / n, rtol=0.1
    )


def test_sampling_ends_at_the_time_limit(rng):
    n = propagation._DENSE_NODES + 50
    pairs = np.array([(i, (i + j) % n) for i in range(n) for j in range(1, 6)]).T
    graph = MeasurementGraph(pairs, np.zeros(pairs.shape[1]), n)
    with watched(Work(time_limit=1e-9)) as work:
        assert np.isnan(angle_variance(graph, np.ones(graph.num_edges), rng)).all()
    assert work.cut_short
