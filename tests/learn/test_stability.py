import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders import DIMPA, MagNet
from gnnsync.learn.encoders.dimpa import source_target_matrices
from gnnsync.learn.head import AngleHead
from gnnsync.learn.replicas import replica_generators
from gnnsync.learn.stability import stability_bound
from tests.learn.conftest import simple_graph


def network(k=1, features=2, width=3, hops=2, seed=0, spread=1.0):
    """A DIMPA and a head with random parameters everywhere, two replicas."""
    source = torch.Generator().manual_seed(seed)
    encoder = DIMPA(2, features, k, width=width, hops=hops).double().eval()
    head = AngleHead(2, k, encoder.embedding).double()
    for part in (encoder, head):
        part.reset_parameters(replica_generators([seed, seed + 1]))
    with torch.no_grad():
        for parameter in (encoder.hop_weight, head.vector, head.bias):
            noise = torch.randn(parameter.shape, generator=source, dtype=torch.float64)
            parameter.copy_(spread * noise)
    return encoder, head


def initial_angles(encoder, head, graph, x, replica):
    batch = ReplicaBatch([graph], trials=2, dtype=torch.float64)
    features = torch.tensor(x).expand(2, -1, -1)
    with torch.no_grad():
        return head(encoder(features, batch), features)[replica].numpy()


def changed(graph, rng, size, share):
    """New offsets on some edges."""
    moved = rng.random(graph.num_edges) < share
    noise = size * rng.standard_normal(graph.num_edges)
    return graph.replace(offset=np.where(moved, graph.offset + noise, graph.offset))


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 3),
    hops=st.integers(0, 3),
    size=st.sampled_from([1e-4, 0.1, 3.0]),
    feature_size=st.sampled_from([0.0, 1e-3, 1.0]),
    spread=st.sampled_from([0.05, 1.0]),
)
def test_random_perturbations_never_exceed_the_bound(seed, k, hops, size, feature_size, spread):
    rng = np.random.default_rng(seed)
    graph = simple_graph(seed % 50, n=9)
    other = changed(graph, rng, size, share=0.5)
    x = rng.standard_normal((9, 2))
    y = x + feature_size * rng.standard_normal((9, 2))
    encoder, head = network(k, hops=hops, seed=seed, spread=spread)
    bound = stability_bound(encoder, head, graph, other, x, y, replica=1)
    change = initial_angles(encoder, head, graph, x, 1) - initial_angles(encoder, head, other, y, 1)
    assert np.linalg.norm(change) <= bound.bound * (1 + 1e-9) + 1e-12


def test_nothing_changed_means_bound_zero(make_graph):
    graph, x = make_graph(0, n=9), np.ones((9, 2))
    assert stability_bound(*network(), graph, graph, x, x).bound == 0.0


def test_distances_are_those_of_the_inputs(make_graph, rng):
    graph = make_graph(0, n=9)
    other = changed(graph, rng, 1.0, 0.5)
    x, y = rng.standard_normal((2, 9, 2))
    found = stability_bound(*network(), graph, other, x, y)
    source, target = (
        np.linalg.norm((a - b).toarray())
        for a, b in zip(
            source_target_matrices(graph, 0.5), source_target_matrices(other, 0.5), strict=True
        )
    )
    assert found.distance_source == pytest.approx(source)
    assert found.distance_target == pytest.approx(target)
    assert found.distance_features == pytest.approx(np.linalg.norm(x - y))


def test_the_bound_is_not_idle(make_graph, rng):
    """One node, one feature: for a small change the bound comes within a factor of the truth."""
    graph = make_graph(0, n=9)
    encoder, head = network(features=1, width=1, hops=0, seed=3)
    with torch.no_grad():
        encoder.first.weight.abs_()
        head.bias.zero_()
    x = np.abs(rng.standard_normal((9, 1))) * 1e-6
    y = x * 1.5
    bound = stability_bound(encoder, head, graph, graph, x, y).bound
    change = initial_angles(encoder, head, graph, x, 0) - initial_angles(encoder, head, graph, y, 0)
    # Without hops only ‖I‖_F = 3 is lost against the spectral norm, and signs of the two sides.
    assert bound / 40 < np.linalg.norm(change) <= bound


def test_the_printed_constants_are_no_bound(make_graph):
    """They leave out the head's vector: a long one breaks them, and not ours."""
    graph = make_graph(0, n=9)
    encoder, head = network(features=1, width=1, hops=2, seed=3)
    with torch.no_grad():
        encoder.first.weight.abs_()
        encoder.second.weight.abs_()
        encoder.hop_weight.fill_(1.0)
        head.vector.fill_(1e4)
        head.bias.zero_()
    x, y = np.full((9, 1), 1e-9), np.full((9, 1), 2e-9)
    found = stability_bound(encoder, head, graph, graph, x, y)
    printed = found.factor_features / (1e4 / 4) * found.distance_features
    change = np.linalg.norm(
        initial_angles(encoder, head, graph, x, 0) - initial_angles(encoder, head, graph, y, 0)
    )
    assert printed < change <= found.bound


def test_refuses_what_it_is_not_made_for(make_graph):
    encoder, head = network()
    graph, x = make_graph(0, n=9), np.ones((9, 2))
    with pytest.raises(GraphError, match="must agree"):
        stability_bound(encoder, head, graph, make_graph(0, n=8), x, x)
    with pytest.raises(ParameterError, match="replica"):
        stability_bound(encoder, head, graph, graph, x, x, replica=2)
    with pytest.raises(ParameterError, match="DIMPA"):
        stability_bound(MagNet(2, 2, 1), head, graph, graph, x, x)
