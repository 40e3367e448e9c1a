import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnsync.angles import wrap
from gnnsync.errors import ParameterError
from gnnsync.learn.inductive.batch import collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.methods.robust.unrolled.start import prepare
from tests.learn.inductive.small_stream import noisy_graph


def random_network(seed=0, **options):
    """A network whose perceptrons do something: all parameters are moved from their start."""
    torch.manual_seed(seed)
    network = UnrolledPropagation(**{"layers": 4, "hidden": 4, **options})
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return network.eval()


def directions(network, graphs, k=1, layers=None):
    """Mean directions e^{ix} (n, k) of the absolute angles, as far as they are certain."""
    prepared = [prepare(graph, k, rng=np.random.default_rng(0)) for graph in graphs]
    batch = collate(prepared)
    with torch.no_grad():
        mean = network.mean_directions(network.final(batch, layers))
    return mean.numpy() * np.exp(1j * batch.start.numpy())


def assert_same_up_to_rotation(found, expected, tolerance=2e-3):
    turn = (expected * found.conj()).sum(axis=0)
    assert np.abs(found * turn / np.abs(turn) - expected).max() < tolerance


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([1, 2]))
def test_equivariance(seed, k):
    """Relabelled nodes, reordered and reversed edges, and nodes rotated one by one."""
    rng = np.random.default_rng(seed)
    graph, network = noisy_graph(seed, k=k, eta=0.2), random_network(seed)
    n, m = graph.num_nodes, graph.num_edges
    expected = directions(network, [graph], k)
    label, order, back = rng.permutation(n), rng.permutation(m), rng.random(m) < 0.5
    turn = rng.uniform(0, 2 * np.pi, n)
    offset = graph.offset + turn[graph.src] - turn[graph.dst]
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)
    moved = graph.replace(
        edge_index=label[index][:, order],
        offset=np.where(back, -offset, offset)[order],
        group=graph.group[order],
        angles=None,
    )
    found = directions(network, [moved], k)[label] * np.exp(-1j * turn)[:, None]
    # The groups have no order.
    found = max(
        (found, found[:, ::-1]), key=lambda f: np.abs((f * expected.conj()).sum(axis=0)).sum()
    )
    assert_same_up_to_rotation(found, expected)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_batch_is_its_graphs_one_by_one(k):
    graphs, network = [noisy_graph(seed, k=k) for seed in range(3)], random_network()
    together = directions(network, graphs, k)
    alone = np.concatenate([directions(network, [graph], k) for graph in graphs])
    assert np.abs(together - alone).max() < 1e-4


@pytest.mark.parametrize("tied", [False, True])
def test_any_number_of_layers(tied):
    graph, network = noisy_graph(1), random_network(tied=tied)
    batch = collate([prepare(graph, 1, rng=np.random.default_rng(0))])
    for layers in (1, 4, 9):
        states = network(batch, layers)
        assert len(states) == layers
        assert torch.isfinite(states[-1].log_belief).all()
    assert len(network(batch)) == network.num_sweeps(batch) == 4


def test_float32_throughout_and_probabilities():
    graph, network = noisy_graph(2, k=2), random_network()
    state = network.final(collate([prepare(graph, 2, rng=np.random.default_rng(0))]))
    for name in ("log_message", "log_belief", "share", "log_sigma", "membership"):
        assert getattr(state, name).dtype == torch.float32, name
    marginals = network.marginals(state)
    torch.testing.assert_close(marginals.sum(-1), torch.ones(marginals.shape[:2]))
    assert (state.share.sum(1) < 1).all()


def test_every_parameter_has_a_gradient():
    graph, network = noisy_graph(3), random_network()
    batch = collate([prepare(graph, 1, rng=np.random.default_rng(0))])
    network.mean_directions(network.final(batch)).abs().sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


def test_an_untrained_network_is_annealed_belief_propagation():
    graph = noisy_graph(4, n=60, eta=0.5)
    found = np.angle(directions(UnrolledPropagation(), [graph])[:, 0])
    off = wrap(found - graph.angles[:, 0])
    off = wrap(off - np.angle(np.exp(1j * off).mean()))
    assert np.sqrt(np.mean(off**2)) < 0.2


@pytest.mark.parametrize(
    ("options", "name"), [({"layers": 0}, "layers"), ({"bins": 9}, "bins"), ({"hidden": 0}, "hid")]
)
def test_bad_sizes_are_refused(options, name):
    with pytest.raises(ParameterError, match=name):
        UnrolledPropagation(**options)
