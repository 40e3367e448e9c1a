import numpy as np
import pytest
import torch
from torch import nn

from gnnsync.learn import GNNSync, gnnsync_paper
from gnnsync.learn.callbacks import History, ReplicaCallback, ReplicaStopping
from gnnsync.learn.callbacks.base import find_callback
from gnnsync.learn.losses import UpsetLoss
from gnnsync.learn.progress import ReplicaProgress, Status
from gnnsync.learn.steps import NoSteps, ProjectedGradient
from tests.learn.conftest import Breaking, train


@pytest.fixture
def graphs(make_graph):
    """Two graphs with different numbers of edges.

    Mostly consistent: on pure noise training is chaotic and multiplies rounding errors.
    """
    return [
        make_graph(0, n=16, p=0.4, outliers=0.2),
        make_graph(1, n=16, p=0.6, outliers=0.2, weighted=True),
    ]


def test_a_replica_trains_as_it_would_alone(graphs, quick):
    method = GNNSync(training=quick())
    seeds = [3, 4, 5, 6]
    together = method.fit(graphs, 2, seeds=seeds, trials=2)
    for r, seed in enumerate(seeds):
        alone = method.fit([graphs[r // 2]], 2, seeds=[seed])
        for name in ("train", "evaluation"):
            torch.testing.assert_close(together.history[name][:, r], alone.history[name][:, 0])
        np.testing.assert_allclose(
            np.exp(1j * together.solutions[r].angles),
            np.exp(1j * alone.solutions[0].angles),
            atol=1e-8,
        )
    losses = together.history["train"][-1].tolist()
    assert len(set(losses)) == 4


def test_another_weight_in_one_replica_leaves_the_gradients_of_the_others(graphs, quick):
    def gradients(change: float | None):
        method = gnnsync_paper(
            steps=lambda replicas: ProjectedGradient(replicas, trainable=True), training=quick()
        )
        batch = method.prepare(graphs, 2, seeds=[1, 2, 3, 4], trials=2)
        module = method.build(batch)
        if change is not None:
            with torch.no_grad():
                module.encoder.first.weight[2] *= change
        module.loss(module(batch, final=False), batch).sum().backward()
        return {name: p.grad for name, p in module.named_parameters()}

    whole = gradients(None)
    for change in (2.0, torch.nan):
        changed = gradients(change)
        for name, value in whole.items():
            assert torch.equal(value[[0, 1, 3]], changed[name][[0, 1, 3]]), name
            assert not torch.equal(value[2], changed[name][2]), name


def test_a_diverged_replica_stops_and_the_others_go_on(graphs, quick, caplog):
    seeds = [3, 4, 5, 6]
    # Two calls per step: from the evaluation of step 9 on.
    broken = GNNSync(loss=Breaking(1, 18), training=quick()).fit(graphs, seeds=seeds, trials=2)
    whole = GNNSync(training=quick()).fit(graphs, seeds=seeds, trials=2)
    assert broken.status == [Status.FINISHED, Status.DIVERGED, Status.FINISHED, Status.FINISHED]
    assert broken.steps == [30, 9, 30, 30]
    assert "replica 1 diverged at step 9" in caplog.text
    for r in (0, 2, 3):
        np.testing.assert_array_equal(broken.solutions[r].angles, whole.solutions[r].angles)
    # The diverged one keeps the best of its first 8 steps.
    short = GNNSync(training=quick(max_steps=8)).fit(graphs, seeds=seeds, trials=2)
    np.testing.assert_array_equal(broken.solutions[1].angles, short.solutions[1].angles)
    assert broken.solutions[1].stop_reason == "diverged"
    assert not broken.solutions[1].converged


def test_a_run_stops_when_all_replicas_have_diverged(graphs, quick):
    fitted = GNNSync(loss=Breaking(0, 1), training=quick()).fit(graphs[:1])
    assert fitted.status == [Status.DIVERGED]
    assert len(fitted.history["train"]) == 10  # the epoch in which it happened
    assert np.isfinite(fitted.solutions[0].angles).all()


class Wave(nn.Module):
    """Upset loss plus a term that bottoms out at a different evaluation for each replica."""

    def __init__(self, bottom: list[int]) -> None:
        super().__init__()
        self.upset, self.bottom, self.calls = UpsetLoss(), bottom, 0

    def forward(self, angles, batch):
        self.calls += 1
        step = (self.calls + 1) // 2
        extra = torch.tensor([100.0 * abs(step - b) for b in self.bottom])
        return self.upset(angles, batch) + extra


def test_patience_and_best_state_per_replica(graphs, quick):
    training = quick(max_steps=60, patience=12, steps_per_epoch=5)
    method = GNNSync(loss=Wave([3, 20]), training=training)
    batch = method.prepare(graphs, seeds=[1, 2])
    module, states = method.build(batch), {}

    class Record(ReplicaCallback):
        def on_inner_step_end(self, pl_module, result):
            states[result.step] = {n: p.detach().clone() for n, p in pl_module.named_parameters()}

    trainer = train(method, module, batch, Record())
    progress = find_callback(trainer, ReplicaStopping).progress
    assert progress.best_step == [3, 20]
    assert progress.steps_taken() == [15, 32]
    assert progress.status() == [Status.STOPPED, Status.STOPPED]
    assert trainer.global_step == 35  # stops between macro-steps
    for name, p in module.named_parameters():
        assert torch.equal(p[0], states[3][name][0]), name
        assert torch.equal(p[1], states[20][name][1]), name


def test_steps_after_training_equal_training_without_then_stepping(graphs, quick):
    after = GNNSync(
        steps=lambda replicas: ProjectedGradient(replicas, in_training=False), training=quick()
    ).fit(graphs, 2, seeds=[1, 2])
    method = GNNSync(steps=NoSteps, training=quick())
    batch = method.prepare(graphs, 2, seeds=[1, 2])
    module = method.build(batch)
    trainer = train(method, module, batch)
    expected = ProjectedGradient(2).double()(module.eval().predict_step(batch).detach(), batch)
    for r in range(2):
        found = np.exp(1j * after.solutions[r].angles)
        np.testing.assert_allclose(found, np.exp(1j * expected[r].numpy()), atol=1e-10)
    torch.testing.assert_close(
        after.history["train"], find_callback(trainer, History).losses()["train"]
    )


def test_trainable_alpha_is_trained(graphs, quick):
    method = GNNSync(
        steps=lambda replicas: ProjectedGradient(replicas, trainable=True),
        optimizer=lambda parameters: torch.optim.SGD(parameters, lr=5.0),
        training=quick(),
    )
    batch = method.prepare(graphs, seeds=[1, 2])
    module = method.build(batch)
    train(method, module, batch)
    assert (module.steps.alpha - 1).abs().min() > 1e-4
    assert module.steps.alpha.min() >= 0


def test_evaluation_has_no_dropout_and_training_does(graphs, quick):
    method = gnnsync_paper(training=quick())
    batch = method.prepare(graphs, seeds=[1, 2])
    module = method.build(batch).train()
    evaluations = torch.stack([module.evaluate(batch) for _ in range(3)])
    assert torch.equal(evaluations[0], evaluations[1])
    assert all(m.training for m in module.encoder.modules())
    assert not torch.equal(module.loss(module(batch, final=False), batch), evaluations[0])


def test_evaluations_may_be_rare(graphs, quick):
    """Only some steps are evaluated; the weights go the same way, and the budget's last counts."""
    often, rare = (
        GNNSync(training=quick(max_steps=25, eval_every=every)).fit(graphs, seeds=[1, 2])
        for every in (1, 10)
    )
    torch.testing.assert_close(rare.history["train"], often.history["train"])
    evaluated = [0, 9, 19, 24]
    torch.testing.assert_close(
        rare.history["evaluation"][evaluated], often.history["evaluation"][evaluated]
    )
    # In between, the history shows the last evaluation.
    assert torch.equal(rare.history["evaluation"][17], rare.history["evaluation"][9])
    for solution in rare.solutions:
        assert solution.diagnostics["best_step"] in {1, 10, 20, 25}


def test_patience_counts_steps_whatever_the_rhythm_of_evaluations():
    progress = ReplicaProgress(1, patience=7)
    for step in range(1, 15):
        improved = progress.record(torch.ones(1), torch.tensor([1.0]) if step % 5 == 1 else None)
        assert improved == ([0] if step == 1 else [])
    assert progress.steps_taken() == [8]
    assert progress.status() == [Status.STOPPED]


def test_a_training_loss_that_is_not_finite_ends_a_replica_between_evaluations():
    progress = ReplicaProgress(2, patience=7)
    progress.record(torch.ones(2), torch.ones(2))
    progress.record(torch.tensor([1.0, float("nan")]))
    assert progress.status() == [Status.FINISHED, Status.DIVERGED]
    assert progress.steps_taken() == [2, 2]
