import numpy as np
import pytest
import torch

from gnnsync.errors import ParameterError
from gnnsync.learn.encoders import DiGCN
from gnnsync.learn.encoders.digcn import (
    pagerank_matrix,
    proximity_matrix,
    random_walk,
    stationary_law,
)
from gnnsync.learn.replicas import replica_generators

peer = pytest.importorskip("torch_geometric_signed_directed.nn.directed.DiGCN_Inception_Block")
peer_utils = pytest.importorskip("torch_geometric_signed_directed.utils.directed")


def peer_operators(graph, alpha):
    """Both orders as (edge_index, weight), in the peer's single precision."""
    edges = torch.tensor(graph.edge_index)
    offset = torch.tensor(graph.offset, dtype=torch.float32)
    n = graph.num_nodes
    first = peer_utils.get_appr_directed_adj(alpha, edges, n, torch.float32, offset)
    second = peer_utils.get_second_directed_adj(edges, n, torch.float32, offset)
    return first, second


def to_dense(operator, n):
    (row, col), value = operator
    matrix = torch.zeros(n, n, dtype=torch.float64)
    matrix[row, col] = value.double()
    return matrix.numpy()


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5])
def test_operators_agree_with_the_peer(alpha, make_graph):
    graph = make_graph(3)
    walk = random_walk(graph)
    first, second = (to_dense(o, graph.num_nodes) for o in peer_operators(graph, alpha))
    np.testing.assert_allclose(pagerank_matrix(walk, alpha).toarray(), first, atol=1e-5)
    np.testing.assert_allclose(proximity_matrix(walk).toarray(), second, atol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_layers_agree_with_the_peer(k, make_batch):
    batch = make_batch(graphs=2, trials=2)
    encoder = DiGCN(4, 3, k, width=5).double().eval()
    encoder.reset_parameters(replica_generators([1, 2, 3, 4]))
    with torch.no_grad():
        encoder.first.bias.normal_()
        encoder.second.bias.normal_()
    x = torch.randn(4, batch.num_nodes, 3, dtype=torch.float64)
    z = encoder(x, batch)
    assert z.shape == (4, batch.num_nodes, k, 5)
    for r in range(4):
        operators = peer_operators(batch.graphs[r // 2], encoder.alpha)
        flat = [part for edges, value in operators for part in (edges, value.double())]
        hidden = x[r]
        for block in (encoder.first, encoder.second):
            weight = block.linear.weight[r]
            other = peer.DiGCN_InceptionBlock(*weight.shape[1:]).double()
            with torch.no_grad():
                other.ln.weight.copy_(weight[0].T)
                other.ln.bias.copy_(block.bias[r, 0])
                other.conv1.weight.copy_(weight[1])
                other.conv2.weight.copy_(weight[2])
            hidden = sum(other(hidden, *flat))
            if block is encoder.first:
                hidden = torch.relu(hidden)
        torch.testing.assert_close(z[r].flatten(1), hidden, rtol=1e-4, atol=1e-4)


def test_stationary_law_is_stationary(make_graph):
    walk = random_walk(make_graph(1))
    law = stationary_law(walk, 0.2)
    n = len(law)
    np.testing.assert_allclose(0.8 * (law @ walk) + 0.2 / n, law, atol=1e-13)
    assert law.sum() == pytest.approx(1.0)


def test_a_graph_of_zero_offsets_is_served(make_graph):
    graph = make_graph(0)
    walk = random_walk(graph.replace(offset=np.zeros(graph.num_edges)))
    for matrix in (pagerank_matrix(walk, 0.1), proximity_matrix(walk)):
        np.testing.assert_allclose(matrix.toarray(), np.eye(graph.num_nodes), atol=1e-12)


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"width": 0}, {"dropout": 1.0}])
def test_bad_parameters_are_named(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        DiGCN(1, 1, 1, **options)


def test_repr_names_the_parameters():
    assert "width=16, alpha=0.1" in repr(DiGCN(1, 1, 1))
