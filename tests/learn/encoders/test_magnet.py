import numpy as np
import pytest
import torch

from gnnsync.errors import ParameterError
from gnnsync.learn.encoders import MagNet
from gnnsync.learn.encoders.magnet import scaled_magnetic_laplacian
from gnnsync.learn.replicas import replica_generators

peer = pytest.importorskip("torch_geometric_signed_directed.nn.directed")
peer_utils = pytest.importorskip("torch_geometric_signed_directed.utils.directed")


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25])
def test_laplacian_agrees_with_the_peer(q, make_multigraph):
    """Also with parallel and mutual edges, which add up in A."""
    graph = make_multigraph(1)
    n = graph.num_nodes
    (row, col), real, imag = peer_utils.get_magnetic_Laplacian(
        torch.tensor(graph.edge_index), torch.tensor(graph.offset), q=q, num_nodes=n
    )
    laplacian = np.zeros((n, n), dtype=complex)
    np.add.at(laplacian, (row.numpy(), col.numpy()), real.numpy() + 1j * imag.numpy())
    found = scaled_magnetic_laplacian(graph, q).toarray()
    np.testing.assert_allclose(found, laplacian - np.eye(n), atol=1e-12)
    np.testing.assert_allclose(found, found.conj().T, atol=1e-14)
    assert np.abs(np.linalg.eigvalsh(found)).max() <= 1 + 1e-12


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_layers_agree_with_the_peer(k, order, make_batch):
    batch = make_batch(graphs=2, trials=2)
    width = 4
    encoder = MagNet(4, 3, k, width=width, order=order).double().eval()
    encoder.reset_parameters(replica_generators([1, 2, 3, 4]))
    with torch.no_grad():
        encoder.first.bias.normal_()
        encoder.second.bias.normal_()
    x = torch.randn(4, batch.num_nodes, 3, dtype=torch.float64)
    z = encoder(x, batch)
    assert z.shape == (4, batch.num_nodes, k, 2 * width)
    relu = peer.complex_relu.complex_relu_layer()
    for r in range(4):
        graph = batch.graphs[r // 2]
        edges, offset = torch.tensor(graph.edge_index), torch.tensor(graph.offset)
        real, imag = x[r], torch.zeros_like(x[r])
        for layer in (encoder.first, encoder.second):
            weight = layer.weight[r, 0].unflatten(0, (order + 1, -1))
            other = peer.MagNetConv(*weight.shape[1:], K=order, q=0.25, trainable_q=False).double()
            with torch.no_grad():
                other.weight.copy_(weight)
                other.bias.copy_(layer.bias[r, 0, 0])
            real, imag = relu(*other(real, imag, edges, offset))
        ours = z[r].unflatten(-1, (2, width))
        torch.testing.assert_close(ours[:, :, 0].flatten(1), real)
        torch.testing.assert_close(ours[:, :, 1].flatten(1), imag)


def test_a_charge_of_one_over_two_pi_gives_the_phases_of_h(make_graph):
    graph = make_graph(0)
    found = scaled_magnetic_laplacian(graph, 1 / (2 * np.pi)).toarray()
    phase = -found[graph.src, graph.dst]
    np.testing.assert_allclose(phase / np.abs(phase), np.exp(1j * graph.offset), atol=1e-12)


def test_a_graph_of_zero_offsets_is_served(make_graph):
    graph = make_graph(0)
    zeros = graph.replace(offset=np.zeros(graph.num_edges))
    assert not scaled_magnetic_laplacian(zeros, 0.25).toarray().any()


@pytest.mark.parametrize("options", [{"order": 0}, {"width": 0}, {"q": "half"}])
def test_bad_parameters_are_named(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        MagNet(1, 1, 1, **options)


def test_repr_names_the_parameters():
    assert "width=8, order=1, q=0.25" in repr(MagNet(1, 1, 1))
