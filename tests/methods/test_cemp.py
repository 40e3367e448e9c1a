"""Corruption levels, sampled triangles and spanning trees."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from gnnsync import MeasurementGraph
from gnnsync.errors import ParameterError
from gnnsync.methods import CEMPGCW, CEMPMST
from gnnsync.methods.cemp import sample_triangles, tree_angles
from gnnsync.metrics import angular_mse
from tests.methods.networks import SHAPES, networks, observed


def true_corruption(graph):
    return np.abs(graph.residual(graph.angles[:, 0])) / np.pi


def test_levels_rank_edges_by_their_true_corruption():
    for graph in networks(eta=0.5):
        level, _ = CEMPGCW().corruption(graph, np.random.default_rng(0))
        assert spearmanr(level, true_corruption(graph))[0] > 0.8
        misaligned = np.roll(level, 1)
        assert spearmanr(misaligned, true_corruption(graph))[0] < 0.1


def test_levels_of_a_tetrahedron_with_one_bad_edge():
    """First average: a good edge sees the bad one in one of its two triangles, or in none."""
    index = np.array([[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]])
    graph = MeasurementGraph(index, np.array([np.pi / 2, 0, 0, 0, 0, 0]), 4)
    # β so small that all beliefs are equal.
    level, iterations = CEMPGCW(beta=1e-9, beta_max=1e-9).corruption(
        graph, np.random.default_rng(0)
    )
    np.testing.assert_allclose(level, [0.5, 0.25, 0.25, 0.25, 0.25, 0.0], atol=1e-8)
    assert iterations == 2
    # With β = 32 the weights concentrate on the five good edges; the bad one keeps its level.
    level, _ = CEMPGCW().corruption(graph, np.random.default_rng(0))
    np.testing.assert_allclose(level, [0.5, 0, 0, 0, 0, 0], atol=1e-2)


def test_confidence_is_one_minus_corruption():
    graph = networks(eta=0.5, seeds=(10,))[0]
    level, _ = CEMPMST().corruption(graph, np.random.default_rng(0))
    np.testing.assert_allclose(CEMPMST()(graph).edge_confidence, 1 - level)


@pytest.mark.parametrize("kind", [CEMPGCW, CEMPMST])
def test_stop_reason_without_triangles(kind):
    graph = observed(SHAPES["cycle"], inlier_noise=0.01)
    solution = kind()(graph)
    assert "no triangles" in solution.stop_reason
    assert solution.iterations == 0


def test_sampled_triangles_are_some_of_each_edge():
    graph = networks(eta=0.5, seeds=(10,))[0]
    everything = graph.triangles
    some = sample_triangles(everything, graph.num_edges, 3, np.random.default_rng(0))
    assert len(some) < len(everything)
    per_edge = np.bincount(some.edges.ravel(), minlength=graph.num_edges)
    available = np.bincount(everything.edges.ravel(), minlength=graph.num_edges)
    assert (per_edge >= np.minimum(available, 3)).all()
    rows = set(map(tuple, everything.edges.tolist()))
    assert set(map(tuple, some.edges.tolist())) <= rows


def test_a_sample_of_triangles_suffices_at_moderate_noise():
    graphs = networks(eta=0.4, seeds=(10, 20))
    mse = [angular_mse(CEMPMST(max_triangles_per_edge=5)(g).angles, g.angles) for g in graphs]
    assert np.mean(mse) < 0.05


def test_tree_takes_the_cheapest_edges():
    """A triangle with a doubled side: the costly copy and the costly side are left out."""
    index = np.array([[0, 1, 0, 1], [1, 2, 2, 0]])
    graph = MeasurementGraph(index, np.array([1.0, 2.0, 0.0, 3.0]), 3)
    angles = tree_angles(graph, np.array([0.9, 0.1, 0.8, 0.2]))
    residual = np.abs(graph.residual(angles))
    assert residual[[1, 3]].max() < 1e-12
    assert residual[[0, 2]].min() > 0.1


def test_tree_prefers_weight_among_equals():
    graph = MeasurementGraph(
        np.array([[0, 1, 0], [1, 2, 2]]), np.array([1.0, 1.0, 1.0]), 3, weight=np.array([3, 1, 2])
    )
    residual = np.abs(graph.residual(tree_angles(graph, np.zeros(3))))
    np.testing.assert_array_equal(residual > 0.1, [False, True, False])


@pytest.mark.parametrize(
    ("field", "value"),
    [("beta", 0), ("beta_max", 0.5), ("growth", 1), ("max_triangles_per_edge", 0)],
)
def test_parameters_out_of_range(field, value):
    with pytest.raises(ParameterError, match=field):
        CEMPGCW(**{field: value})
