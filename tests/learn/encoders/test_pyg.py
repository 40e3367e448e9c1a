from functools import partial

import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

from gnnsync.errors import ParameterError
from gnnsync.learn.encoders import PyG
from gnnsync.learn.encoders.pyg import directed_sage
from gnnsync.learn.replicas import copy_replicas, replica_generators


def drawn(k=2, seeds=(1, 2, 3, 4), **options):
    encoder = PyG(len(seeds), 3, k, width=5, **options).double().eval()
    encoder.reset_parameters(replica_generators(list(seeds)))
    return encoder


@pytest.mark.parametrize("conv", [directed_sage, SAGEConv, GCNConv, partial(GATConv, heads=1)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_is_the_layers_one_after_the_other(conv, k, make_batch):
    batch = make_batch(graphs=2, trials=2)
    encoder = drawn(k, conv=conv)
    x = torch.randn(4, batch.num_nodes, 3, dtype=torch.float64)
    z = encoder(x, batch)
    assert z.shape == (4, batch.num_nodes, k, 5)
    for r, layers in enumerate(encoder.replica_modules):
        graph = batch.graphs[r // 2]
        edges = torch.tensor(graph.edge_index)
        more = (torch.tensor(graph.offset),) if conv is GCNConv else ()
        hidden = torch.relu(layers.first(x[r], edges, *more))
        torch.testing.assert_close(z[r].flatten(1), layers.second(hidden, edges, *more))


def test_offsets_reach_a_layer_that_takes_weights(make_graph):
    from gnnsync.learn.batch import ReplicaBatch

    graph = make_graph(0)
    other = graph.replace(offset=graph.offset * 0.5)
    x = torch.randn(1, graph.num_nodes, 3, dtype=torch.float64)
    for conv, differs in ((GCNConv, True), (SAGEConv, False)):
        found = [
            drawn(seeds=[1], conv=conv)(x, ReplicaBatch([g], dtype=torch.float64))
            for g in (graph, other)
        ]
        assert torch.equal(*found) is not differs


def test_replicas_are_drawn_from_their_own_seed_and_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    both = PyG(2, 3, 1)
    both.reset_parameters(replica_generators([8, 9]))
    assert torch.equal(torch.random.get_rng_state(), before)
    alone = PyG(1, 3, 1)
    alone.reset_parameters(replica_generators([9]))
    for one, other in zip(
        both.replica_modules[1].parameters(), alone.replica_modules[0].parameters(), strict=True
    ):
        assert torch.equal(one, other)
    weights = [layers.first.lin.weight for layers in both.replica_modules]
    assert not torch.equal(*weights)


def test_best_states_are_copied_by_owner():
    encoder = PyG(2, 3, 1)
    encoder.reset_parameters(replica_generators([1, 2]))
    source = dict(encoder.named_parameters())
    target = {name: torch.zeros_like(value) for name, value in source.items()}
    with torch.no_grad():
        copy_replicas(source, target, [1])
    for name, value in target.items():
        expected = source[name] if ".1." in name else torch.zeros_like(value)
        assert torch.equal(value, expected), name


def test_a_layer_of_another_width_is_refused():
    with pytest.raises(ParameterError, match=r"conv = .* gives 160"):
        PyG(1, 1, 1, conv=partial(GATConv, heads=10))


def test_what_is_no_layer_is_refused():
    with pytest.raises(ParameterError, match=r"conv = .* made|conv = .* makes a layer"):
        PyG(1, 1, 1, conv=torch.nn.ReLU)


def test_repr_names_the_layers():
    shown = repr(PyG(1, 2, 3))
    assert "width=16" in shown
    assert "DirGNNConv(SAGEConv(2, 48" in shown
