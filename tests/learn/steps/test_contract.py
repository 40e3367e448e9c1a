"""Steps that trust edges as far as the angles explain them: reweighted and belief."""

from functools import partial

import numpy as np
import pytest
import torch

from gnnsync import MeasurementGraph
from gnnsync.data.measurement import erdos_renyi
from gnnsync.data.outliers import observe
from gnnsync.errors import ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import UpsetLoss
from gnnsync.learn.steps import BeliefSteps, ProjectedGradient, Reweighted
from gnnsync.metrics import angular_mse

STEPS = [partial(Reweighted, count=3), partial(BeliefSteps, count=3, bins=16)]
each = pytest.mark.parametrize("make", STEPS, ids=["reweighted", "belief"])


def graph_with_outliers(k=1, eta=0.0, n=40, p=0.4, seed=0):
    rng = np.random.default_rng(seed)
    return observe(erdos_renyi(n, p, seed), rng.uniform(0, 2 * np.pi, (n, k)), eta, rng=rng)


def assert_same_angles(found, expected, tolerance=1e-9):
    gap = torch.polar(torch.ones_like(found), found - expected) - 1.0
    assert gap.abs().max() < tolerance


@each
@pytest.mark.parametrize("k", [1, 2])
def test_true_angles_stay_where_they_are(make, k):
    graph = graph_with_outliers()
    batch = ReplicaBatch([graph], dtype=torch.float64)
    truth = torch.tensor(graph.angles).unsqueeze(0).expand(-1, -1, k).contiguous()
    moved = make(1).double()(truth, batch)
    assert UpsetLoss()(moved, batch).item() < 1e-9


@pytest.mark.parametrize(
    "steps",
    [
        Reweighted(1, count=30, scale=10.0, last_scale=1.0),
        BeliefSteps(1, count=15, bins=64, last_sigma=0.1),
    ],
    ids=["reweighted", "belief"],
)
def test_outliers_are_outvoted(steps):
    """From angles off by up to a radian, with a third of the edges random."""
    graph = graph_with_outliers(eta=0.33)
    batch = ReplicaBatch([graph])
    rough = graph.angles + np.random.default_rng(1).uniform(-1, 1, graph.angles.shape)
    start = torch.tensor(rough, dtype=torch.float32).unsqueeze(0)
    with torch.no_grad():
        errors = [
            angular_mse(kind(start, batch)[0].double().numpy(), graph.angles)
            for kind in (steps, ProjectedGradient(1, count=steps.count))
        ]
    assert errors[0] < 0.01
    assert errors[0] < 0.2 * errors[1]


def test_reweighted_steps_of_a_wide_scale_are_the_plain_ones(make_batch, random_angles):
    """Without robust weights and inertia what is left is arg(H e^{iy})."""
    batch = make_batch(graphs=1, trials=1)
    angles = random_angles(batch, 1).detach()
    wide = Reweighted(1, count=1, scale=1e8, last_scale=1e8, alpha=0.0).double()
    plain = ProjectedGradient(1, count=1, alpha=0.0).double()
    assert_same_angles(wide(angles, batch), plain(angles, batch))


@each
@pytest.mark.parametrize("k", [1, 2])
def test_turning_the_input_turns_the_output(make, k, make_batch, random_angles):
    batch = make_batch(graphs=2, trials=2)
    steps, angles = make(4).double(), random_angles(batch, k).detach()
    turn = 10 * torch.rand(4, 1, k, dtype=torch.float64)
    assert_same_angles(steps(angles + turn, batch), steps(angles, batch) + turn)


@each
def test_direction_and_names_do_not_matter(make, make_graph, random_angles):
    graph = make_graph(2, weighted=True)
    rng = np.random.default_rng(0)
    back, order = rng.random(graph.num_edges) < 0.5, rng.permutation(graph.num_nodes)
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)
    offset = np.where(back, -graph.offset, graph.offset)
    other = MeasurementGraph(np.argsort(order)[index], offset, graph.num_nodes, weight=graph.weight)
    batch = ReplicaBatch([graph], dtype=torch.float64)
    angles, steps = random_angles(batch, 2).detach(), make(1).double()
    renamed = steps(angles[:, order], ReplicaBatch([other], dtype=torch.float64))
    assert_same_angles(renamed, steps(angles, batch)[:, order])


@each
@pytest.mark.parametrize("k", [1, 3])
def test_a_replica_is_what_it_would_be_alone(make, k, make_batch, random_angles):
    batch = make_batch(graphs=3, trials=2)
    angles = random_angles(batch, k)
    together = make(6).double()
    with torch.no_grad():
        for parameter in together.parameters():
            parameter += 0.3 * torch.rand_like(parameter)
    factor = torch.arange(1.0, 7.0, dtype=torch.float64)
    found = together(angles, batch)
    (slope,) = torch.autograd.grad((factor[:, None, None] * found.sin()).sum(), angles)
    for r in range(6):
        alone = make(1).double()
        with torch.no_grad():
            for name, parameter in alone.named_parameters():
                parameter.copy_(together.get_parameter(name)[r : r + 1])
        own = angles[r : r + 1].detach().requires_grad_()
        result = alone(own, ReplicaBatch([batch.graphs[r // 2]], dtype=torch.float64))
        (own_slope,) = torch.autograd.grad(factor[r] * result.sin().sum(), own)
        assert_same_angles(found[r : r + 1], result)
        torch.testing.assert_close(slope[r : r + 1], own_slope)


@pytest.mark.parametrize(
    "make", [partial(Reweighted, count=2), partial(BeliefSteps, count=2, bins=8)]
)
@pytest.mark.parametrize("k", [1, 2])
def test_gradients(make, k, make_batch, random_angles):
    batch = make_batch(graphs=1, trials=2, n=5)
    steps, angles = make(2).double(), random_angles(batch, k)
    parameters = list(steps.parameters())
    assert torch.autograd.gradcheck(
        lambda y, *_: torch.sin(steps(y, batch)), (angles, *parameters), atol=1e-5
    )


@each
def test_weights_are_used(make, make_graph, random_angles):
    """An edge of nearly no weight might as well be missing."""
    graph = make_graph(3, weighted=True)
    keep = np.arange(graph.num_edges) > 0
    light = graph.replace(weight=np.where(keep, graph.weight, 1e-9))
    without = MeasurementGraph(
        graph.edge_index[:, keep], graph.offset[keep], graph.num_nodes, weight=graph.weight[keep]
    )
    batches = [ReplicaBatch([g], dtype=torch.float64) for g in (light, without)]
    # Weights count relative to their mean, which the missing edge changes.
    batches[0].weight.mul_(keep.sum() / graph.num_edges)
    angles, steps = random_angles(batches[0], 2).detach(), make(1).double()
    assert_same_angles(*(steps(angles, batch) for batch in batches), tolerance=1e-5)


@each
def test_a_node_without_edges_stays(make):
    graph = MeasurementGraph(np.array([[0], [1]]), np.array([1.0]), 3)
    batch = ReplicaBatch([graph], dtype=torch.float64)
    angles = torch.tensor([[[0.3], [2.0], [4.0]]], dtype=torch.float64, requires_grad=True)
    moved = make(1).double()(angles, batch)
    assert_same_angles(moved[0, 2], angles[0, 2], 1e-6)
    moved.sum().backward()
    assert torch.isfinite(angles.grad).all()


@each
def test_parameters_are_per_replica_and_reset(make):
    steps = make(3)
    assert {p.shape for p in steps.parameters()} == {(3, 3)}
    before = [p.clone() for p in steps.parameters()]
    with torch.no_grad():
        for parameter in steps.parameters():
            parameter += 1.0
    steps.reset_parameters([])
    assert all(map(torch.equal, before, steps.parameters()))
    assert not any(p.requires_grad for p in make(1, trainable=False).parameters())


def test_scales_follow_the_noise_at_the_start():
    steps = Reweighted(3, count=2, scale=6.0, last_scale=3.0).double()
    rng, graphs, starts = np.random.default_rng(0), [], []
    for noise in (0.0, 0.1, 0.3):
        graph = graph_with_outliers(eta=0.4, n=80)
        starts.append(graph.angles + rng.normal(0, noise / np.sqrt(2), graph.angles.shape))
        graphs.append(graph)
    batch = ReplicaBatch(graphs, dtype=torch.float64)
    steps.calibrate(torch.tensor(np.stack(starts)), batch)
    scale = steps.log_scale.detach().exp()
    expected = torch.tensor([[0.02], [0.1], [0.3]], dtype=torch.float64) * torch.tensor([6.0, 3.0])
    torch.testing.assert_close(scale, expected, rtol=0.2, atol=0.0)


def test_inertia_stays_nonnegative():
    steps = Reweighted(2)
    with torch.no_grad():
        steps.alpha.sub_(3.0)
    steps.project()
    assert steps.alpha.min() == 0


@pytest.mark.parametrize(
    ("kind", "options", "name"),
    [
        (Reweighted, {"count": 0}, "count"),
        (Reweighted, {"scale": 0.0}, "scale"),
        (Reweighted, {"last_scale": 5.0}, "last_scale"),
        (Reweighted, {"alpha": -1.0}, "alpha"),
        (Reweighted, {"trainable": 1}, "trainable"),
        (BeliefSteps, {"bins": 4}, "bins"),
        (BeliefSteps, {"last_sigma": 1.0}, "last_sigma"),
        (BeliefSteps, {"eta": 1.0}, "eta"),
        (BeliefSteps, {"damping": 1.0}, "damping"),
        (BeliefSteps, {"concentration": -1.0}, "concentration"),
        (BeliefSteps, {"in_training": None}, "in_training"),
    ],
)
def test_bad_parameters_are_named(kind, options, name):
    with pytest.raises(ParameterError, match=name):
        kind(1, **options)


def test_repr():
    assert repr(Reweighted(1)) == (
        "Reweighted(count=10, scale=4, last_scale=2, trainable=True, in_training=True, "
        "competition=1)"
    )
    assert repr(BeliefSteps(1)) == (
        "BeliefSteps(count=10, bins=32, sigma=0.7, last_sigma=0.2, in_training=True)"
    )
