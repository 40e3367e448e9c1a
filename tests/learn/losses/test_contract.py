"""Losses that outliers cannot bend, and the cycle loss that no orientation can."""

import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import GraphError, ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import ConsistencyLoss, RobustLoss

LOSSES = {"robust": RobustLoss, "consistency": ConsistencyLoss}
each = pytest.mark.parametrize("name", LOSSES)


def observed(eta=0.0, k=1, n=60, p=0.3, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    graph = observe(erdos_renyi(n, p, seed), angles, eta, rng=rng, inlier_noise=noise)
    batch = ReplicaBatch([graph], dtype=torch.float64)
    return batch, torch.tensor(graph.angles).unsqueeze(0)


@each
@pytest.mark.parametrize("k", [1, 2])
def test_rotating_all_angles_changes_nothing(name, k, make_batch, random_angles):
    batch, loss = make_batch(), LOSSES[name]().double()
    angles = random_angles(batch, k).detach()
    rotated = angles + torch.rand(batch.replicas, 1, k, dtype=torch.float64) * 20 - 10
    torch.testing.assert_close(loss(rotated, batch), loss(angles, batch))


@each
def test_direction_and_names_do_not_matter(name, make_graph, random_angles):
    """What the paper's cycle loss fails: an edge read the other way round says the same."""
    graph = make_graph(1, weighted=True)
    rng = np.random.default_rng(0)
    back, order = rng.random(graph.num_edges) < 0.5, rng.permutation(graph.num_nodes)
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)
    offset = np.where(back, -graph.offset, graph.offset)
    other = MeasurementGraph(np.argsort(order)[index], offset, graph.num_nodes, weight=graph.weight)
    one, two = (ReplicaBatch([g], dtype=torch.float64) for g in (graph, other))
    angles, loss = random_angles(one, 2).detach(), LOSSES[name]().double()
    torch.testing.assert_close(loss(angles, one), loss(angles[:, order], two))


@each
@pytest.mark.parametrize("k", [1, 3])
def test_a_replica_is_what_it_would_be_alone(name, k, make_batch, random_angles):
    batch = make_batch(graphs=3, trials=2)
    angles = random_angles(batch, k)
    loss = LOSSES[name]().double()
    if name == "robust":
        loss.calibrate(angles.detach(), batch)
    value = loss(angles, batch)
    assert value.shape == (6,)
    factor = torch.arange(1.0, 7.0, dtype=torch.float64)
    (gradient,) = torch.autograd.grad((factor * value).sum(), angles)
    for r in range(6):
        own = angles[r : r + 1].detach().requires_grad_()
        alone = LOSSES[name]().double()
        part = ReplicaBatch([batch.graphs[r // 2]], dtype=torch.float64)
        if name == "robust":
            alone.calibrate(own, part)
        single = alone(own, part)
        (slope,) = torch.autograd.grad(factor[r] * single.sum(), own)
        torch.testing.assert_close(value[r : r + 1], single)
        torch.testing.assert_close(gradient[r : r + 1], slope)


@each
@pytest.mark.parametrize("k", [1, 2])
def test_gradients(name, k, make_batch, random_angles):
    batch = make_batch(graphs=1, trials=2, n=5)
    loss, angles = LOSSES[name]().double(), random_angles(batch, k)
    parameters = list(loss.parameters())
    assert torch.autograd.gradcheck(lambda y, *_: loss(y, batch), (angles, *parameters))


@each
@pytest.mark.parametrize("k", [1, 2])
def test_the_truth_is_the_minimum(name, k):
    """Of exact inliers among outliers: no gradient there, and worse all around."""
    batch, truth = observed(eta=0.3, k=k)
    loss = LOSSES[name]().double()
    if name == "robust":
        loss.calibrate(truth, batch)
    angles = truth.clone().requires_grad_()
    value = loss(angles, batch)
    rng = torch.Generator().manual_seed(0)
    for size in (0.02, 0.3, 3.0):
        noise = torch.randn(truth.shape, generator=rng, dtype=torch.float64)
        assert loss(truth + size * noise, batch) > value


def test_consistency_of_exact_measurements_is_all_explained():
    """Whatever the offsets sum to: 0 for the truth, also where they sum to a whole turn."""
    batch, truth = observed()
    sums = batch.graphs[0].triangles.sums(batch.graphs[0].offset)
    assert (np.abs(sums) > 6).any()
    assert ConsistencyLoss()(truth, batch).item() == pytest.approx(0.0, abs=1e-12)


def test_chance_is_worth_nothing_to_the_consistency_loss():
    """On random offsets the reward of explaining everything is 0 in expectation."""
    batch, _ = observed(eta=1.0, n=150)
    excess = ConsistencyLoss().excess(batch)
    assert len(excess[0]) > 5000
    assert abs(excess.mean()) < 0.1 * excess.abs().mean()


def test_consistency_where_nothing_closes():
    square = MeasurementGraph([[0, 1, 2], [1, 2, 0]], [1.0, 1.0, 1.0], 3)
    batch = ReplicaBatch([square], dtype=torch.float64)
    angles = torch.zeros(1, 3, 1, dtype=torch.float64, requires_grad=True)
    loss = ConsistencyLoss()(angles, batch)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(angles.grad).all()
    lone = ReplicaBatch([MeasurementGraph([[0], [1]], [1.0], 2)])
    with pytest.raises(GraphError, match="triangle"):
        ConsistencyLoss()(torch.zeros(1, 2, 1), lone)


@pytest.mark.parametrize(("eta", "noise", "k"), [(0.6, 0.1, 1), (0.3, 0.3, 1), (0.2, 0.1, 2)])
def test_calibration_finds_the_noise(eta, noise, k):
    batch, truth = observed(eta, k, n=200, noise=noise)
    loss = RobustLoss().double()
    loss.calibrate(truth, batch)
    assert loss.eta.item() == pytest.approx(eta, abs=0.05)
    assert loss.sigma.item() == pytest.approx(noise, rel=0.15)


def test_the_noise_is_learned_with_the_angles_at_rest():
    batch, truth = observed(0.4, noise=0.2, n=200)
    loss = RobustLoss().double()
    optimizer = torch.optim.Adam(loss.parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        loss(truth, batch).sum().backward()
        optimizer.step()
    assert loss.eta.item() == pytest.approx(0.4, abs=0.05)
    assert loss.sigma.item() == pytest.approx(0.2, rel=0.15)


def test_exact_inliers_leave_the_loss_finite():
    batch, truth = observed()
    loss = RobustLoss(least_sigma=0.05).double()
    loss.calibrate(truth, batch)
    assert loss.sigma.item() == pytest.approx(0.05)
    assert torch.isfinite(loss(truth, batch)).all()


def test_a_gross_error_costs_a_bounded_amount():
    batch, truth = observed(n=30)
    loss = RobustLoss().double()
    loss.calibrate(truth, batch)
    off = truth.clone()
    costs = []
    for error in (1.0, 2.0, 3.0):
        off[0, 0] = truth[0, 0] + error
        costs.append(loss(off, batch).item())
    assert costs[2] - costs[0] < 1e-6 * abs(costs[0])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: RobustLoss(0.0), "least_sigma"),
        (lambda: RobustLoss(2.0), "least_sigma"),
        (lambda: ConsistencyLoss(0.0), "tolerance"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()


def test_repr():
    assert repr(RobustLoss()) == "RobustLoss(least_sigma=0.02)"
    assert repr(ConsistencyLoss()) == "ConsistencyLoss(tolerance=0.3)"
