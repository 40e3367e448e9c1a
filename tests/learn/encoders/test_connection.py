from functools import partial

import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.errors import ParameterError
from gnnsync.learn import GNNSync
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders import Connection
from gnnsync.learn.head import PhaseHead
from gnnsync.learn.losses import RobustLoss
from gnnsync.learn.replicas import prepare_replicas
from gnnsync.learn.steps import Reweighted


def network(batch, k, seeds, features=None, **options):
    """Encoder and head, drawn from the seeds: a function from features to angles."""
    encoder = Connection(len(seeds), k if features is None else features, k, **options).double()
    head = encoder.head(len(seeds), k).double()
    prepare_replicas(torch.nn.ModuleList([encoder, head]), seeds)
    return encoder, head


def angles_of(encoder, head, x, batch):
    return head.angles(encoder.scores(x, head.vector, batch), x)


def phase(angles):
    return torch.polar(torch.ones_like(angles), angles)


@pytest.mark.parametrize(("k", "features"), [(1, 1), (2, 2), (3, 3), (1, 4), (2, 1)])
def test_shape(k, features, make_batch):
    batch = make_batch(graphs=2, trials=2)
    encoder, head = network(batch, k, [1, 2, 3, 4], features)
    x = torch.randn(4, batch.num_nodes, features, dtype=torch.float64)
    assert encoder(x, batch).shape == (4, batch.num_nodes, k, encoder.embedding)
    assert angles_of(encoder, head, x, batch).shape == (4, batch.num_nodes, k)
    torch.testing.assert_close(head(encoder(x, batch), x), angles_of(encoder, head, x, batch))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_global_rotation_of_the_features_rotates_the_angles(k, make_batch):
    """Each set by its own angle; scores turn exactly, lengths stay."""
    batch = make_batch(graphs=2, trials=2)
    encoder, head = network(batch, k, [1, 2, 3, 4])
    x = 6 * torch.rand(4, batch.num_nodes, k, dtype=torch.float64)
    turn = 20 * torch.rand(4, 1, k, dtype=torch.float64) - 10
    scores, turned = (encoder.scores(y, head.vector, batch) for y in (x, x + turn))
    torch.testing.assert_close(turned, scores * phase(turn))
    torch.testing.assert_close(phase(head.angles(turned, x)), phase(head.angles(scores, x) + turn))


def test_every_node_may_be_turned_by_itself(make_graph):
    """Changing each node's zero changes offsets, features and answer alike."""
    graph = make_graph(3, weighted=True)
    turn = np.random.default_rng(0).uniform(0, 7, graph.num_nodes)
    other = graph.replace(offset=graph.offset + turn[graph.src] - turn[graph.dst])
    x = 6 * torch.rand(1, graph.num_nodes, 2, dtype=torch.float64)
    shift = torch.tensor(turn).view(1, -1, 1)
    found = []
    for g, y in ((graph, x), (other, x + shift)):
        batch = ReplicaBatch([g], dtype=torch.float64)
        found.append(angles_of(*network(batch, 2, [1]), y, batch))
    torch.testing.assert_close(phase(found[1]), phase(found[0] + shift))


def test_direction_and_names_do_not_matter(make_graph):
    graph = make_graph(2, weighted=True)
    rng = np.random.default_rng(0)
    back, order = rng.random(graph.num_edges) < 0.5, rng.permutation(graph.num_nodes)
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)
    offset = np.where(back, -graph.offset, graph.offset)
    other = MeasurementGraph(np.argsort(order)[index], offset, graph.num_nodes, weight=graph.weight)
    x = 6 * torch.rand(1, graph.num_nodes, 2, dtype=torch.float64)
    found = []
    for g, y in ((graph, x), (other, x[:, order])):
        batch = ReplicaBatch([g], dtype=torch.float64)
        found.append(angles_of(*network(batch, 2, [1]), y, batch))
    torch.testing.assert_close(phase(found[1]), phase(found[0][:, order]))


def exact_batch(n=12, trials=1):
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, n)
    i, j = np.triu_indices(n, 1)
    graph = MeasurementGraph(np.stack([i, j]), angles[i] - angles[j], n, angles=angles)
    return ReplicaBatch([graph], trials, torch.float64), torch.tensor(angles).view(1, n, 1)


def test_exact_angles_stay_exact():
    """All neighbours then send what the node has: every entry keeps the phase of the input."""
    batch, truth = exact_batch()
    encoder, head = network(batch, 1, [3])
    score = encoder.scores(truth, head.vector, batch)
    # The learned sum may point either way, but to the same side for all nodes.
    relative = score * phase(-truth)
    torch.testing.assert_close(relative, relative[:, :1].expand_as(relative))


def test_an_edge_that_disagrees_is_hardly_heard(make_graph):
    """Changing one offset by half a turn moves the message less, the steeper the gate."""
    batch, truth = exact_batch()
    graph = batch.graphs[0]
    offset = graph.offset.copy()
    offset[0] += np.pi
    broken = ReplicaBatch([graph.replace(offset=offset)], dtype=torch.float64)
    moved = []
    for slope in (0.0, 20.0):
        encoder, _ = network(broken, 1, [3], layers=1)
        with torch.no_grad():
            encoder.slope.fill_(slope)
        z = encoder(truth, broken)
        half = z.shape[-1] // 2
        turned = torch.complex(z[..., :half], z[..., half:]) * phase(-truth).unsqueeze(-1)
        moved.append(
            turned.imag.abs().max().item() + (turned.real - turned.real[:, 5:6]).abs().max().item()
        )
    assert moved[1] < 1e-3 * moved[0]


def test_replicas_do_not_mix(make_batch):
    batch = make_batch(graphs=2, trials=2)
    x = torch.randn(4, batch.num_nodes, 2, dtype=torch.float64)
    results = []
    for broken in (False, True):
        encoder, head = network(batch, 2, [1, 2, 3, 4])
        own = x.clone()
        if broken:
            own[2] = torch.nan
        own.requires_grad_()
        z = encoder.scores(own, head.vector, batch)
        (z.real.square() + z.imag).sum().backward()
        results.append((z.detach(), own.grad))
    for whole, part in zip(*results, strict=True):
        torch.testing.assert_close(whole[[0, 1, 3]], part[[0, 1, 3]])


@pytest.mark.parametrize("k", [1, 2])
def test_a_replica_is_what_it_would_be_alone(k, make_graph, quick):
    graphs = [make_graph(0, n=14), make_graph(1, n=14, p=0.7)]
    method = GNNSync(
        encoder=partial(Connection, dropout=0.3),
        steps=partial(Reweighted, count=2),
        loss=RobustLoss(),
        training=quick(max_steps=12),
    )
    together = method.fit(graphs, k, seeds=[5, 6, 7, 8], trials=2)
    alone = method.fit(graphs[1:], k, seeds=[8])
    torch.testing.assert_close(together.history["train"][:, 3], alone.history["train"][:, 0])
    np.testing.assert_allclose(
        np.exp(1j * together.solutions[3].angles), np.exp(1j * alone.solutions[0].angles), atol=1e-7
    )


@pytest.mark.parametrize("k", [1, 2])
def test_gradients(k, make_batch):
    batch = make_batch(graphs=1, trials=1, n=5)
    encoder, head = network(batch, k, [1], width=2, layers=1)
    x = (6 * torch.rand(1, 5, k, dtype=torch.float64)).requires_grad_()
    parameters = [*encoder.parameters(), head.vector]

    def angles(x, *_):
        found = angles_of(encoder, head, x, batch)
        return torch.cat([found.sin(), found.cos()])

    assert torch.autograd.gradcheck(angles, (x, *parameters))
    loss = angles(x).sum()
    loss.backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad.abs().sum() > 0, name


def test_dropout_acts_in_training_only(make_batch):
    batch = make_batch(graphs=1, trials=1)
    encoder, _ = network(batch, 1, [1], dropout=0.5)
    x = torch.randn(1, batch.num_nodes, 1, dtype=torch.float64)
    trained, evaluated = encoder.train()(x, batch), encoder.eval()(x, batch)
    assert not torch.equal(trained, evaluated)
    assert torch.equal(evaluated, encoder(x, batch))


def test_the_head_starts_near_the_features(make_batch):
    batch = make_batch(graphs=2, trials=1)
    encoder, head = network(batch, 2, [1, 2])
    x = 6 * torch.rand(2, batch.num_nodes, 2, dtype=torch.float64)
    head.calibrate(encoder(x, batch), x, 0.25)
    added = encoder.scores(x, head.vector, batch) - phase(x)
    torch.testing.assert_close(added.abs().mean(dim=1), torch.full_like(x[:, 0], 0.25))
    assert repr(head) == f"PhaseHead(replicas=2, groups=2, embedding={encoder.embedding})"


@pytest.mark.parametrize("options", [{"width": 0}, {"layers": 0}, {"dropout": 1.0}])
def test_bad_parameters_are_named(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        Connection(1, 1, 1, **options)


def test_repr():
    assert "width=8, layers=2" in repr(Connection(1, 1, 1))
    assert isinstance(Connection(1, 1, 1).head(1, 1), PhaseHead)
