import numpy as np
import pytest
import torch

from gnnsync.learn.inductive.batch import collate
from gnnsync.methods.robust.unrolled.start import prepare
from tests.learn.inductive.small_stream import noisy_graph


def prepared(seed, k=1, **changes):
    graph = noisy_graph(seed, k=k).replace(**changes)
    return prepare(graph, k, rng=np.random.default_rng(0))


def test_graphs_lie_side_by_side():
    parts = [prepared(seed, k=2) for seed in range(3)]
    batch = collate(parts)
    assert batch.num_graphs == 3
    assert batch.k == 2
    assert batch.num_nodes == sum(p.graph.num_nodes for p in parts)
    assert (batch.node_graph[batch.ends] == batch.edge_graph).all()
    first = parts[0].graph
    start, residual = batch.start[: first.num_nodes].numpy(), batch.residual.double().numpy()
    difference = start[first.src] - start[first.dst]
    offset = difference + residual[: first.num_edges]
    gap = np.exp(1j * offset) - np.exp(1j * first.offset[:, None])
    assert np.abs(gap).max() < 1e-5


def test_means_are_those_of_each_graph():
    batch = collate([prepared(seed) for seed in range(2)])
    value = torch.randn(batch.ends.shape[1], 3)
    expected = [value[batch.edge_graph == g].mean(0) for g in range(2)]
    torch.testing.assert_close(batch.graph_mean(value), torch.stack(expected))


def test_weights_are_relative_and_the_unknown_is_marked():
    graph = noisy_graph(0)
    weight = np.random.default_rng(0).uniform(1, 9, graph.num_edges)
    batch = collate([prepared(0, weight=weight, angles=None, group=None)])
    assert batch.weight.mean().item() == pytest.approx(1.0)
    assert batch.truth.isnan().all()
    assert (batch.group == -2).all()
    assert not batch.known.any()


def test_the_scale_of_the_weights_does_not_matter():
    graph = noisy_graph(0)
    weight = np.random.default_rng(0).uniform(1, 9, graph.num_edges)
    one, other = (collate([prepared(0, weight=scale * weight)]) for scale in (1.0, 100.0))
    torch.testing.assert_close(one.degree, other.degree)
    torch.testing.assert_close(one.weight, other.weight)
    assert one.degree.sum().item() == 2 * graph.num_edges


def test_moving_keeps_everything():
    batch = collate([prepared(0)])
    moved = batch.to("cpu")
    assert torch.equal(moved.ends, batch.ends)
    assert moved.num_graphs == batch.num_graphs
