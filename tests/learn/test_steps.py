import numpy as np
import pytest
import torch

from gnnsync.errors import ParameterError
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import UpsetLoss
from gnnsync.learn.steps import NoSteps, ProjectedGradient
from gnnsync.learn.steps.projected_gradient import _SharedSteps
from gnnsync.methods import projected_gradient_steps
from tests.oracles import dense as oracle


def scramble(steps: ProjectedGradient) -> ProjectedGradient:
    """Different α for every replica and step, some 0."""
    with torch.no_grad():
        steps.alpha.copy_(torch.rand(steps.alpha.shape) * 3)
        steps.alpha[0, 0] = 0.0
    return steps.double()


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_value_and_gradient_agree_with_the_dense_oracle(k, separate, make_batch, random_angles):
    batch = make_batch(graphs=3, trials=2)
    torch.manual_seed(k)
    steps = scramble(ProjectedGradient(6, count=3, trainable=True, separate=separate))
    angles = random_angles(batch, k, seed=k)
    found = steps(angles, batch)
    direction = torch.randn(found.shape, dtype=torch.float64)
    by_angle, by_alpha = torch.autograd.grad((found * direction).sum(), [angles, steps.alpha])
    for r in range(batch.replicas):
        own = angles[r].detach().requires_grad_()
        alpha = steps.alpha[r].detach().requires_grad_()
        expected = oracle.projected_gradient(
            own, oracle.dense(batch.graphs[r // 2]), alpha, separate
        )
        slopes = torch.autograd.grad((expected * direction[r]).sum(), [own, alpha])
        torch.testing.assert_close(found[r], expected)
        torch.testing.assert_close(by_angle[r], slopes[0])
        torch.testing.assert_close(by_alpha[r], slopes[1])


def test_written_out_gradient_passes_gradcheck(make_batch):
    batch = make_batch(graphs=2, trials=2, n=7)
    rows = (2 * torch.pi * torch.rand(14, 4, dtype=torch.float64)).requires_grad_()
    alpha = (0.2 + torch.rand(3, 14, 4, dtype=torch.float64)).requires_grad_()
    one = rows[:, 0].detach().requires_grad_(), alpha[..., 0].detach().requires_grad_()
    for inputs in ((rows, alpha), one):
        assert torch.autograd.gradcheck(
            lambda y, a: torch.sin(_SharedSteps.apply(y, a, batch.hermitian)), inputs
        )


def test_fixed_alpha_takes_the_classical_steps(make_batch, random_angles):
    batch = make_batch(graphs=2, trials=1)
    angles = random_angles(batch, 2).detach()
    found = ProjectedGradient(2, count=4, alpha=0.5).double()(angles, batch)
    for r, graph in enumerate(batch.graphs):
        expected = projected_gradient_steps(graph, angles[r].numpy(), 4, alpha=0.5)
        np.testing.assert_allclose(found[r].numpy(), expected, atol=1e-12)


def test_true_angles_stay_where_they_are(make_multigraph):
    graph = make_multigraph(3, weighted=True, connected=True)
    batch = ReplicaBatch([graph], dtype=torch.float64)
    truth = torch.tensor(graph.angles).unsqueeze(0)
    moved = ProjectedGradient(1)(truth, batch)
    assert UpsetLoss()(moved, batch).item() < 1e-12


def test_trainable_alpha_moves_and_stays_nonnegative(make_batch, random_angles):
    batch = make_batch(graphs=1, trials=2)
    steps = ProjectedGradient(2, trainable=True).double()
    optimizer = torch.optim.SGD(steps.parameters(), lr=30.0)
    angles = random_angles(batch, 1).detach()
    lowest = []
    for _ in range(20):
        optimizer.zero_grad()
        UpsetLoss()(steps(angles, batch), batch).sum().backward()
        optimizer.step()
        lowest.append(steps.alpha.min().item())
        steps.project()
        assert steps.alpha.min() >= 0
    assert min(lowest) < 0, "the projection was never needed: raise the learning rate"
    assert (steps.alpha - 1).abs().min() > 1e-4
    steps.reset_parameters([])
    assert (steps.alpha == 1).all()


def test_fixed_alpha_is_no_parameter():
    assert not list(ProjectedGradient(3).parameters())
    assert [p.shape for p in ProjectedGradient(3, trainable=True).parameters()] == [(3, 5)]


def test_no_steps_is_the_identity(make_batch, random_angles):
    batch = make_batch()
    angles = random_angles(batch, 2)
    assert NoSteps(6)(angles, batch) is angles


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"count": 0}, "count"),
        ({"alpha": -1.0}, "alpha"),
        ({"trainable": 1}, "trainable"),
        ({"separate": "yes"}, "separate"),
        ({"in_training": None}, "in_training"),
    ],
)
def test_bad_parameters_are_named(options, name):
    with pytest.raises(ParameterError, match=name):
        ProjectedGradient(1, **options)


def test_repr():
    assert repr(ProjectedGradient(1, separate=True)) == (
        "ProjectedGradient(count=5, trainable=False, separate=True, in_training=True)"
    )
