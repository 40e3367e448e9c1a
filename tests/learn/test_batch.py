import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.operators import LinearOperator, Propagation


def test_rows_and_replicas_are_inverse(make_batch):
    batch = make_batch(graphs=3, trials=2)
    x = torch.randn(6, batch.num_nodes, 4, dtype=torch.float64)
    rows = batch.node_rows(x)
    assert rows.shape == (3 * batch.num_nodes, 8)
    assert torch.equal(batch.replica_nodes(rows), x)
    # Node i of graph g is row g·n + i; trial t holds columns 4t..4t+3.
    assert torch.equal(rows[batch.num_nodes + 5, 4:], x[3, 5])


def test_incidence_takes_differences_along_the_edges(make_batch):
    batch = make_batch(graphs=3, trials=1)
    x = torch.randn(3, batch.num_nodes, 2, dtype=torch.float64)
    found = batch.incidence(batch.node_rows(x)).view(3, batch.max_edges, 2)
    for g, graph in enumerate(batch.graphs):
        src, dst = torch.tensor(graph.edge_index)
        torch.testing.assert_close(found[g, : graph.num_edges], x[g, src] - x[g, dst])
        assert not found[g, graph.num_edges :].any()


def test_edges_phases_and_hermitian_are_those_of_the_graphs(make_batch):
    batch = make_batch(graphs=2, trials=1)
    n = batch.num_nodes
    src, dst = (end.view(2, -1) for end in batch.ends)
    real, imag = (part.view(2, -1) for part in batch.phases)
    matrix, stacked = batch.hermitian.matrix.to_dense(), batch.hermitian.stacked.to_dense()
    torch.testing.assert_close(torch.complex(*stacked.chunk(2)), matrix)
    for g, graph in enumerate(batch.graphs):
        m, block = graph.num_edges, slice(g * n, (g + 1) * n)
        assert (src[g, :m] - g * n).tolist() == graph.src.tolist()
        assert (dst[g, :m] - g * n).tolist() == graph.dst.tolist()
        assert not real[g, m:].any()
        assert not imag[g, m:].any()
        np.testing.assert_allclose(matrix[block, block], graph.hermitian.toarray(), atol=1e-15)
        entry = torch.complex(real[g, :m], imag[g, :m]).numpy()
        np.testing.assert_allclose(entry, graph.hermitian.toarray()[graph.src, graph.dst])


def test_triangles_are_padded(make_batch):
    batch = make_batch(graphs=3, trials=1)
    triangles = batch.triangles
    counts = [len(graph.triangles) for graph in batch.graphs]
    assert (triangles.mean_weight > 0).sum(dim=(1, 2)).tolist() == counts
    torch.testing.assert_close(
        triangles.mean_weight.sum(dim=1), torch.ones(3, 1, dtype=torch.float64)
    )
    quantity = torch.randn(3, batch.max_edges, dtype=torch.float64)
    sums = triangles.sums(quantity.view(-1, 1)).view(3, -1)
    for g, graph in enumerate(batch.graphs):
        own = quantity[g].numpy()[: graph.num_edges]
        np.testing.assert_allclose(sums[g, : counts[g]], graph.triangles.sums(own), atol=1e-12)
        assert not sums[g, counts[g] :].any()


def test_what_is_derived_is_built_once_per_device(make_batch):
    batch = make_batch(graphs=1, trials=1)
    before = batch.hermitian, batch.own_ends, batch.triangles
    batch.to("cpu")
    assert batch.hermitian is before[0]
    assert batch.own_ends is before[1]
    assert batch.triangles is before[2]
    batch.to("meta")
    assert "hermitian" not in vars(batch)
    assert "own_ends" not in vars(batch)
    assert batch.triangles is not before[2]


def test_refuses_graphs_that_do_not_fit(make_graph):
    with pytest.raises(GraphError, match=r"\[5, 6\] nodes"):
        ReplicaBatch([make_graph(0, 5), make_graph(0, 6)])
    empty = MeasurementGraph(np.empty((2, 0)), np.empty(0), 5)
    with pytest.raises(GraphError, match="graph 1 has no edges"):
        ReplicaBatch([make_graph(0, 5), empty])
    with pytest.raises(GraphError, match="no graph"):
        ReplicaBatch([])
    with pytest.raises(ParameterError, match="trials"):
        ReplicaBatch([make_graph(0, 5)], trials=0)


def test_linear_operator_gradient_is_the_transpose():
    matrix = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0]])
    operator = LinearOperator(matrix, torch.float64)
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(operator(x), torch.tensor(matrix) @ x)
    assert torch.autograd.gradcheck(operator, (x,))
    assert repr(operator) == "LinearOperator(shape=(2, 3), entries=3)"


def test_propagation_multiplies_each_channel_by_its_matrix():
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((2, 3, 5, 5)) * (rng.random((2, 3, 5, 5)) < 0.4)
    propagation = Propagation(matrices, trials=2, dtype=torch.float64)
    x = torch.randn(4, 3, 5, 2, dtype=torch.float64)
    expected = torch.tensor(matrices).repeat_interleave(2, dim=0) @ x
    torch.testing.assert_close(propagation(x), expected)
