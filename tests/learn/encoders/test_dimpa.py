import numpy as np
import pytest
import torch

from gnnsync.errors import ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders import DIMPA
from gnnsync.learn.encoders.dimpa import source_target_matrices
from gnnsync.learn.replicas import replica_generators
from tests.oracles import dense as oracle

peer = pytest.importorskip("torch_geometric_signed_directed.nn.directed")


@pytest.fixture
def attached(make_batch):
    """An evaluated encoder on 2 graphs × 2 trials, hop weights all different."""

    def make(k, **options):
        batch = make_batch(graphs=2, trials=2)
        encoder = DIMPA(4, 3, k, **options).double().eval()
        encoder.reset_parameters(replica_generators([1, 2, 3, 4]))
        with torch.no_grad():
            encoder.hop_weight.uniform_(-1, 2)
        return encoder, batch

    return make


@pytest.mark.parametrize("k", [1, 2, 3])
def test_contiguous_slices_cut_source_and_target_side_by_side(k, attached):
    encoder, batch = attached(k, width=4)
    x = torch.randn(4, batch.num_nodes, 3, dtype=torch.float64)
    own = encoder(x, batch).unflatten(-1, (2, 4))
    encoder.slices = "contiguous"
    side_by_side = torch.cat([own[:, :, :, side].flatten(2) for side in range(2)], dim=2)
    sliced = encoder(x, batch)
    torch.testing.assert_close(sliced, side_by_side.unflatten(-1, (k, 8)))
    vector = torch.randn(4, k, 8, 1, dtype=torch.float64)
    torch.testing.assert_close(
        encoder.scores(x, vector, batch), torch.einsum("rnke,rkeo->rnk", sliced, vector)
    )


def test_the_head_starts_as_it_is_told():
    for start, bound in (("xavier", 1.414 * (6 / 17) ** 0.5), ("linear", 0.25)):
        head = DIMPA(50, 1, 2, head_start=start).head(50, 2)
        head.reset_parameters(replica_generators(range(50)))
        assert 0.95 * bound < head.vector.abs().max() < bound
        # torch.nn.Linear draws its bias from the same interval as its weights.
        assert head.bias.abs().max() == 0 if start == "xavier" else head.bias.abs().max() > 0.2
        assert head.bias.abs().max() < bound
    reference = torch.nn.Linear(16, 1)
    assert reference.weight.abs().max() < 0.25
    with pytest.raises(ParameterError, match="head_start"):
        DIMPA(1, 1, 1, head_start="zero")


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_agrees_with_the_dense_oracle_and_the_peer(k, hops, attached):
    width = 4
    encoder, batch = attached(k, width=width, hops=hops, tau=0.7)
    x = torch.randn(4, batch.num_nodes, 3, dtype=torch.float64)
    z = encoder(x, batch)
    assert z.shape == (4, batch.num_nodes, k, 2 * width)
    for r in range(4):
        graph = batch.graphs[r // 2]
        a = oracle.dense(graph).a
        sides = [
            oracle.dimpa_side(
                x[r],
                oracle.row_normalised(matrix, 0.7),
                encoder.first.weight[r, c],
                encoder.second.weight[r, c],
                encoder.hop_weight[r, c].flatten(),
            )
            for c, matrix in enumerate((a, a.T))
        ]
        ours = z[r].unflatten(-1, (2, width))
        for c, side in enumerate(sides):
            torch.testing.assert_close(ours[:, :, c].flatten(1), side)

        other = peer.DIMPA(hops, 0.7).double()
        with torch.no_grad():
            other._w_s.copy_(encoder.hop_weight[r, 0].view(-1, 1))
            other._w_t.copy_(encoder.hop_weight[r, 1].view(-1, 1))
        inner = [
            torch.relu(x[r] @ encoder.first.weight[r, c]) @ encoder.second.weight[r, c]
            for c in range(2)
        ]
        theirs = other(
            *inner, torch.tensor(graph.edge_index), torch.tensor(graph.offset, dtype=torch.float64)
        )
        together = torch.cat([ours[:, :, c].flatten(1) for c in range(2)], dim=1)
        torch.testing.assert_close(together, theirs, rtol=1e-5, atol=1e-5)


def test_rows_of_both_matrices_sum_to_one(make_graph):
    for matrix in source_target_matrices(make_graph(0), 0.5):
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
        assert (matrix.diagonal() > 0).all()


def test_repr_names_the_parameters():
    assert "width=8, hops=2, tau=0.5" in repr(DIMPA(1, 1, 1))


def test_operators_are_kept_on_the_batch_by_their_parameters(attached):
    encoder, batch = attached(1, tau=0.7)
    same, other = DIMPA(4, 3, 1, tau=0.7), DIMPA(4, 3, 1, tau=0.3)
    assert encoder.propagation(batch) is same.propagation(batch)
    assert encoder.propagation(batch) is not other.propagation(batch)


def test_a_graph_of_zero_offsets_is_served(make_graph):
    graph = make_graph(0)
    batch = ReplicaBatch([graph.replace(offset=np.zeros(graph.num_edges))])
    encoder = DIMPA(1, 1, 1)
    encoder.reset_parameters(replica_generators([0]))
    assert torch.isfinite(encoder.eval()(torch.ones(1, batch.num_nodes, 1), batch)).all()
