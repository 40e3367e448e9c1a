"""Encoders of the earlier interface, `attach(batch)` and `forward(x)`."""

import numpy as np
import pytest
import torch

from gnnsync.learn import GNNSync
from gnnsync.learn.encoders import DIMPA, Encoder, with_batch
from gnnsync.learn.encoders.base import AttachedEncoder
from gnnsync.learn.head import AngleHead
from gnnsync.learn.replicas import ReplicaLinear


class Plain(Encoder):
    """A linear layer of the features times the number of edges of the graph."""

    def __init__(self, replicas, in_features, groups, width=4):
        super().__init__()
        self.embedding, self.groups = width, groups
        self.linear = ReplicaLinear(replicas, 1, in_features, groups * width)

    def reset_parameters(self, generators):
        self.linear.reset_parameters(generators)

    def forward(self, x, batch):
        scale = batch.operator("edges", lambda b: b.edge_count.view(-1, 1, 1) / 100)
        hidden = self.linear(x.unsqueeze(1)).squeeze(1) * scale
        return hidden.unflatten(-1, (self.groups, self.embedding))


class Old(Plain):
    """The same in the earlier interface."""

    def attach(self, batch):
        self.scale = batch.edge_count.view(-1, 1, 1) / 100

    def forward(self, x):
        hidden = self.linear(x.unsqueeze(1)).squeeze(1) * self.scale
        return hidden.unflatten(-1, (self.groups, self.embedding))


class OldWithScores(Old):
    """With scores of its own."""

    def scores(self, x, vector):
        return AngleHead.score(_Vector(vector), self(x))


class _Vector:
    def __init__(self, vector):
        self.vector = vector


@pytest.mark.parametrize("kind", [Old, OldWithScores])
def test_it_trains_as_its_successor(kind, make_graph, quick):
    graphs = [make_graph(0, n=14), make_graph(1, n=14, p=0.7)]
    found = [
        GNNSync(encoder=encoder, training=quick(max_steps=12)).fit(graphs, 2, seeds=[1, 2])
        for encoder in (Plain, kind)
    ]
    torch.testing.assert_close(found[0].history["train"], found[1].history["train"])
    for one, other in zip(found[0].solutions, found[1].solutions, strict=True):
        np.testing.assert_allclose(np.exp(1j * one.angles), np.exp(1j * other.angles), atol=1e-9)


def test_it_is_attached_anew_to_every_batch(make_batch):
    encoder = with_batch(Old(4, 1, 1).double())
    assert isinstance(encoder, AttachedEncoder)
    encoder.reset_parameters([torch.Generator().manual_seed(r) for r in range(4)])
    batches = [make_batch(graphs=2, trials=2), make_batch(graphs=4, trials=1)]
    x = torch.ones(4, 13, 1, dtype=torch.float64)
    first, second, again = (encoder(x, batches[i]) for i in (0, 1, 0))
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_other_encoders_are_left_as_they_are():
    encoder = DIMPA(1, 1, 1)
    assert with_batch(encoder) is encoder
