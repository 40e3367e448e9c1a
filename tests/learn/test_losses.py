import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph, metrics
from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import CycleLoss, DefaultLoss, LinearLoss, UpsetLoss, replica_residual
from tests.oracles import dense as oracle

LOSSES = {
    "frobenius": (UpsetLoss("frobenius"), lambda r, d: oracle.upset_loss(r, d, "frobenius")),
    "mean": (UpsetLoss("mean"), lambda r, d: oracle.upset_loss(r, d, "mean")),
    "cycle": (CycleLoss(), oracle.cycle_loss),
    "cycle with variance": (CycleLoss(0.7), lambda r, d: oracle.cycle_loss(r, d, 0.7)),
    "cycle over all": (
        CycleLoss(average="all"),
        lambda r, d: oracle.cycle_loss(r, d, average="all"),
    ),
    "default, cycle": (
        DefaultLoss("cycle", "frobenius", 0.3, average="all"),
        lambda r, d: (
            oracle.upset_loss(r, d, "frobenius")
            if r.shape[1] == 1
            else oracle.cycle_loss(r, d, 0.3, "all")
        ),
    ),
    "default, sum": (
        DefaultLoss("sum"),
        lambda r, d: oracle.upset_loss(r, d) + (r.shape[1] > 1) * oracle.cycle_loss(r, d),
    ),
    "default": (DefaultLoss(), oracle.upset_loss),
    "linear": (
        LinearLoss(0.4, "frobenius"),
        lambda r, d: oracle.cycle_loss(r, d) + 0.4 * oracle.upset_loss(r, d, "frobenius"),
    ),
    "sum": (LinearLoss(), lambda r, d: oracle.cycle_loss(r, d) + oracle.upset_loss(r, d)),
}


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("name", LOSSES)
def test_value_and_gradient_agree_with_the_dense_oracle(name, k, make_batch, random_angles):
    """On graphs with different numbers of edges, weights, and two trials each."""
    loss, reference = LOSSES[name]
    batch = make_batch(graphs=3, trials=2)
    angles = random_angles(batch, k, seed=k)
    value = loss(angles, batch)
    assert value.shape == (6,)
    # Different factors per replica would show any mixing between them.
    factor = torch.arange(1.0, 7.0, dtype=torch.float64)
    (gradient,) = torch.autograd.grad((factor * value).sum(), angles)
    for r in range(batch.replicas):
        own = angles[r].detach().requires_grad_()
        expected = reference(own, oracle.dense(batch.graphs[r // 2]))
        (slope,) = torch.autograd.grad(factor[r] * expected, own)
        torch.testing.assert_close(value[r], expected)
        torch.testing.assert_close(gradient[r], slope)


@pytest.mark.parametrize("norm", ["mean", "frobenius"])
@pytest.mark.parametrize("k", [1, 3])
def test_upset_loss_is_the_metric(norm, k, make_batch, random_angles):
    batch = make_batch(graphs=2, trials=1)
    angles = random_angles(batch, k).detach()
    value = UpsetLoss(norm)(angles, batch)
    for r, graph in enumerate(batch.graphs):
        assert value[r].item() == pytest.approx(metrics.upset(graph, angles[r].numpy(), norm))


def test_residual_and_group_of_a_padded_edge_are_empty(make_batch, random_angles):
    batch = make_batch(graphs=2, trials=1)
    residual, group = replica_residual(random_angles(batch, 3), batch)
    short = min(range(2), key=lambda g: batch.graphs[g].num_edges)
    m = batch.graphs[short].num_edges
    assert residual[short, m:].abs().max() == 0
    assert residual[short, :m].min() > 0
    assert group.shape == (2, batch.max_edges)


def exact_batch(seed=0, n=9):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n)
    i, j = np.triu_indices(n, 1)
    graph = MeasurementGraph(np.stack([i, j]), angles[i] - angles[j], n, angles=angles)
    return ReplicaBatch([graph], dtype=torch.float64), torch.tensor(angles).view(1, n, 1)


@pytest.mark.parametrize("norm", ["mean", "frobenius"])
def test_a_perfect_fit_has_zero_loss_and_a_finite_gradient(norm):
    batch, truth = exact_batch()
    angles = truth.clone().requires_grad_()
    loss = UpsetLoss(norm)(angles, batch)
    loss.sum().backward()
    assert loss.item() < 1e-14
    assert torch.isfinite(angles.grad).all()


@pytest.mark.parametrize("loss", [UpsetLoss(), UpsetLoss("frobenius"), CycleLoss(), LinearLoss()])
def test_rotating_all_angles_changes_nothing(loss, make_batch, random_angles):
    batch = make_batch()
    angles = random_angles(batch, 2).detach()
    rotated = angles + torch.rand(batch.replicas, 1, 2, dtype=torch.float64) * 20 - 10
    torch.testing.assert_close(loss(rotated, batch), loss(angles, batch))


def reversed_edges(graph: MeasurementGraph, which: np.ndarray) -> MeasurementGraph:
    index = np.where(which, graph.edge_index[::-1], graph.edge_index)
    return graph.replace(edge_index=index, offset=np.where(which, -graph.offset, graph.offset))


def test_reversing_edges_changes_the_cycle_loss_but_not_the_upset_loss(make_graph, random_angles):
    """Reversed and negated, an edge says the same thing. The upset loss knows that.

    The paper's cycle loss does not: confidence multiplies the offset, and c·a and c·(2π - a) are
    not negatives of each other mod 2π unless c = 1.
    """
    graph = make_graph(1, weighted=True)
    other = reversed_edges(graph, np.arange(graph.num_edges) % 3 == 0)
    before, after = (ReplicaBatch([g], dtype=torch.float64) for g in (graph, other))
    angles = random_angles(before, 2).detach()
    for norm in ("mean", "frobenius"):
        upset = UpsetLoss(norm)
        torch.testing.assert_close(upset(angles, before), upset(angles, after))
    cycle = CycleLoss()
    assert abs(cycle(angles, before) - cycle(angles, after)).item() > 1e-3


def test_cycle_loss_needs_a_triangle():
    square = MeasurementGraph([[0, 1, 2, 3], [1, 2, 3, 0]], np.ones(4), 4)
    batch = ReplicaBatch([square])
    with pytest.raises(GraphError, match=r"graph 0 has no triangle.*loss=upset"):
        CycleLoss()(torch.zeros(1, 4, 1), batch)


def test_a_group_without_a_triangle_adds_nothing(triangle_and_tail):
    """All edges fit group 0 at angle 0 better than the far-off group 1: the mean is over k = 2."""
    batch = ReplicaBatch([triangle_and_tail], dtype=torch.float64)
    fits = torch.tensor([[0.0, -1.0, -3.0, -3.5, 0.0]], dtype=torch.float64)
    far = fits + torch.tensor([[0.0, 2.0, 1.0, 3.0, 0.0]], dtype=torch.float64)
    both = CycleLoss()(torch.stack([fits, far], dim=-1), batch)
    one = CycleLoss()(fits.unsqueeze(-1), batch)
    assert one.item() > 0
    torch.testing.assert_close(both, one / 2)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: UpsetLoss("l2"), "norm"),
        (lambda: CycleLoss(-1.0), "variance_weight"),
        (lambda: LinearLoss(tau=-0.1), "tau"),
        (lambda: LinearLoss(norm="max"), "norm"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()


def test_repr():
    assert repr(UpsetLoss()) == "UpsetLoss(norm=mean)"
    options = "variance_weight=0.5, max_triangles=None, average=group"
    assert repr(CycleLoss(0.5)) == f"CycleLoss({options})"
    assert "tau=2" in repr(LinearLoss(2.0))


@pytest.mark.parametrize("k", [1, 2])
def test_the_mean_over_drawn_triangles_is_near_the_mean_over_all(k, make_batch, random_angles):
    batch = make_batch(graphs=2, trials=2, n=40)
    count = min(len(graph.triangles) for graph in batch.graphs)
    angles = random_angles(batch, k).detach()
    whole, part = CycleLoss()(angles, batch), CycleLoss(max_triangles=count // 2)(angles, batch)
    assert not torch.equal(whole, part)
    # |wrap S| lies in [0, π]: its mean over N triangles strays by about 0.9/√N.
    assert (whole - part).abs().max() < 5 * 0.9 / (count / 2 / k**2) ** 0.5
    generous = CycleLoss(max_triangles=10 * max(len(g.triangles) for g in batch.graphs))
    torch.testing.assert_close(generous(angles, batch), whole)
