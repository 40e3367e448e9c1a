import numpy as np
import pytest
import torch

from gnnsync.angles import circular_mean
from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.features import (
    DegreeFeatures,
    MethodFeatures,
    RandomFeatures,
    replica_features,
)
from gnnsync.methods import SpectralRN


@pytest.mark.parametrize("k", [1, 2])
def test_method_features_are_the_angles_of_the_method_with_mean_pi(k, make_graph):
    graph = make_graph(2)
    features = MethodFeatures(SpectralRN())
    assert features.width(k) == k
    found = features(graph, k, seed=5)
    angles = SpectralRN()(graph, k).angles
    turn = np.exp(1j * (found - angles))
    np.testing.assert_allclose(turn, np.broadcast_to(turn[:1], turn.shape), atol=1e-12)
    np.testing.assert_allclose(circular_mean(found, axis=0), np.pi)
    assert found.min() >= 0
    assert found.max() < 2 * np.pi


def test_features_that_are_not_centred_are_as_the_method_returns_them(make_graph):
    graph = make_graph(2)
    found = MethodFeatures(SpectralRN(), centred=False)(graph, 2, seed=5)
    np.testing.assert_array_equal(found, SpectralRN()(graph, 2).angles)


def test_random_features():
    for columns, width in ((None, 2), (5, 5)):
        features = RandomFeatures(columns)
        assert features.width(2) == width
    with pytest.raises(ParameterError, match="columns"):
        RandomFeatures(0)


def test_degree_features_count_edges_and_offsets(triangle_and_tail):
    found = DegreeFeatures()(triangle_and_tail, 1, 0)
    # Out-degree, in-degree, outgoing and incoming offsets, over the mean degree 4/5.
    expected = [[2, 0, 3.7, 0], [1, 1, 2, 1], [1, 2, 0.5, 4.7], [0, 1, 0, 0.5], [0, 0, 0, 0]]
    np.testing.assert_allclose(found, np.array(expected) * 5 / 4)


def test_trials_share_a_method_but_not_noise(make_graph):
    batch = ReplicaBatch([make_graph(0), make_graph(1)], trials=2)
    shared = replica_features(MethodFeatures(SpectralRN()), batch, 1, [1, 2, 3, 4])
    assert shared.shape == (4, batch.num_nodes, 1)
    assert torch.equal(shared[0], shared[1])
    assert not torch.equal(shared[0], shared[2])
    noise = replica_features(RandomFeatures(3), batch, 1, [1, 2, 1, 4])
    assert noise.shape == (4, batch.num_nodes, 3)
    assert not torch.equal(noise[0], noise[1])
    assert torch.equal(noise[0], noise[2])


def test_features_that_are_not_finite_are_refused(make_graph):
    class Broken(DegreeFeatures):
        def __call__(self, graph, k, seed):
            return np.full((graph.num_nodes, 4), np.nan)

    with pytest.raises(GraphError, match="not finite"):
        replica_features(Broken(), ReplicaBatch([make_graph(0)]), 1, [0])
