"""What every encoder must do."""

import numpy as np
import pytest
import torch

from gnnsync.learn import GNNSync
from gnnsync.learn.encoders import DIMPA, DiGCN, MagNet, PyG
from gnnsync.learn.head import group_scores
from gnnsync.learn.replicas import prepare_replicas

ENCODERS = [DIMPA, DiGCN, MagNet, PyG]
each = pytest.mark.parametrize("kind", ENCODERS, ids=lambda kind: kind.__name__)


def build(kind, batch, k, seeds):
    encoder = kind(len(seeds), 2, k).double()
    prepare_replicas(torch.nn.ModuleList([encoder]), seeds)
    return encoder


@each
@pytest.mark.parametrize("k", [1, 2, 3])
def test_shape(kind, k, make_batch):
    batch = make_batch(graphs=2, trials=2)
    encoder = build(kind, batch, k, [1, 2, 3, 4])
    z = encoder(torch.randn(4, batch.num_nodes, 2, dtype=torch.float64), batch)
    assert z.shape == (4, batch.num_nodes, k, encoder.embedding)


@each
def test_replicas_do_not_mix(kind, make_batch):
    """Breaking the features of one replica changes neither values nor gradients of another."""
    batch = make_batch(graphs=2, trials=2)
    x = torch.randn(4, batch.num_nodes, 2, dtype=torch.float64)
    results = []
    for broken in (False, True):
        encoder = build(kind, batch, 2, [1, 2, 3, 4])
        own = x.clone()
        if broken:
            own[2] = torch.nan
        own.requires_grad_()
        z = encoder(own, batch)
        z.square().sum().backward()
        results.append((z.detach(), own.grad))
    for whole, part in zip(*results, strict=True):
        assert torch.equal(whole[[0, 1, 3]], part[[0, 1, 3]])
        assert not torch.equal(whole[2], part[2])


@each
def test_a_replica_is_what_it_would_be_alone(kind, make_graph, quick):
    graphs = [make_graph(0, n=14), make_graph(1, n=14, p=0.7)]
    method = GNNSync(encoder=kind, training=quick(max_steps=12))
    together = method.fit(graphs, 2, seeds=[5, 6, 7, 8], trials=2)
    alone = method.fit(graphs[1:], 2, seeds=[8])
    torch.testing.assert_close(together.history["train"][:, 3], alone.history["train"][:, 0])
    np.testing.assert_allclose(
        np.exp(1j * together.solutions[3].angles), np.exp(1j * alone.solutions[0].angles), atol=1e-7
    )


@each
def test_relabelling_the_nodes_permutes_the_embedding(kind, make_graph):
    from gnnsync.learn.batch import ReplicaBatch

    graph = make_graph(4)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    renamed = graph.replace(edge_index=np.argsort(order)[graph.edge_index])
    x = torch.randn(1, graph.num_nodes, 2, dtype=torch.float64)
    found = []
    for g, features in ((graph, x), (renamed, x[:, order])):
        batch = ReplicaBatch([g], dtype=torch.float64)
        found.append(build(kind, batch, 2, [1]).eval()(features, batch))
    torch.testing.assert_close(found[0][:, order], found[1])


@each
def test_dropout_acts_in_training_only(kind, make_batch):
    batch = make_batch(graphs=1, trials=1)
    encoder = build(kind, batch, 1, [1])
    x = torch.randn(1, batch.num_nodes, 2, dtype=torch.float64)
    trained, evaluated = encoder.train()(x, batch), encoder.eval()(x, batch)
    assert not torch.equal(trained, evaluated)
    assert torch.equal(evaluated, encoder(x, batch))


@each
def test_training_moves_every_parameter(kind, make_batch):
    batch = make_batch(graphs=1, trials=2)
    encoder = build(kind, batch, 2, [1, 2])
    x = torch.randn(2, batch.num_nodes, 2, dtype=torch.float64)
    encoder(x, batch).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


@each
@pytest.mark.parametrize("k", [1, 3])
def test_scores_are_the_inner_products_of_the_embeddings(kind, k, make_batch):
    """In value and in gradient, with dropout and without."""
    batch = make_batch(graphs=2, trials=2)
    encoder = build(kind, batch, k, [1, 2, 3, 4])
    for training in (True, False):
        encoder.train(training)
        x = torch.randn(4, batch.num_nodes, 2, dtype=torch.float64, requires_grad=True)
        shape = (4, k, encoder.embedding, 1)
        vector = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        wanted = [x, vector, *encoder.parameters()]
        direction = torch.randn(4, batch.num_nodes, k, dtype=torch.float64)
        found, expected = encoder.scores(x, vector, batch), group_scores(encoder(x, batch), vector)
        torch.testing.assert_close(found, expected)
        for own, other in zip(
            torch.autograd.grad((found * direction).sum(), wanted),
            torch.autograd.grad((expected * direction).sum(), wanted),
            strict=True,
        ):
            torch.testing.assert_close(own, other)
