import pytest
import torch

from gnnsync.learn.progress import ReplicaProgress, Status

INF, NAN = float("inf"), float("nan")


def run(evaluation: list[list[float]], patience: int, train=None) -> ReplicaProgress:
    progress = ReplicaProgress(len(evaluation[0]), patience)
    for step, row in enumerate(evaluation):
        progress.record(torch.tensor((train or evaluation)[step]), torch.tensor(row))
    return progress


def test_patience_and_best_are_kept_per_replica():
    falling = [5.0, 4.0, 3.0, 2.0, 1.0, 0.5]
    rising = [1.0, 2.0, 0.5, 3.0, 4.0, 0.1]
    progress = run(list(map(list, zip(falling, rising, strict=True))), patience=2)
    assert progress.best_loss == [0.5, 0.5]
    assert progress.best_step == [6, 3]
    # The second stopped two steps after its best and does not take the later 0.1.
    assert progress.steps_taken() == [6, 5]
    assert progress.status() == [Status.FINISHED, Status.STOPPED]
    assert progress.num_running == 1


def test_an_equal_loss_is_no_improvement():
    progress = run([[1.0], [1.0], [1.0]], patience=2)
    assert progress.status() == [Status.STOPPED]
    assert progress.num_running == 0


def test_the_last_state_is_kept_if_asked_for():
    progress = ReplicaProgress(2, 1, keep_last=True)
    for losses in ([1.0, 1.0], [2.0, 1.0], [3.0, NAN], [4.0, 0.5]):
        improved = progress.record(torch.tensor(losses), torch.tensor(losses))
    assert improved == [0]
    assert progress.best_step == [4, 2]
    assert progress.status() == [Status.FINISHED, Status.DIVERGED]


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
@pytest.mark.parametrize("where", ["train", "evaluation"])
def test_a_loss_that_is_not_finite_ends_one_replica(bad, where):
    fine = [[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]]
    broken = [[3.0, 3.0], [2.0, bad], [1.0, 1.0]]
    train, evaluation = (broken, fine) if where == "train" else (fine, broken)
    progress = run(evaluation, patience=10, train=train)
    assert progress.status() == [Status.FINISHED, Status.DIVERGED]
    assert progress.steps_taken() == [3, 2]
    assert progress.best_loss == [1.0, 3.0]
    assert progress.best_step == [3, 1]
    assert progress.mean_best_loss == 2.0


def test_record_tells_who_improved():
    progress = ReplicaProgress(3, 5)
    values = torch.tensor([1.0, 2.0, NAN])
    assert progress.record(values, values) == [0, 1]
    values = torch.tensor([0.5, 2.5, 0.1])
    assert progress.record(values, values) == [0]


def test_state_comes_back():
    progress = run([[3.0, 1.0], [2.0, NAN]], patience=5)
    again = ReplicaProgress(2, 5)
    again.load(progress.state())
    for other in (progress, again):
        values = torch.tensor([1.0, 0.1])
        other.record(values, values)
    assert again.step == 3
    assert again.state() == progress.state()
    assert again.status() == progress.status() == [Status.FINISHED, Status.DIVERGED]


def test_without_patience_only_divergence_ends_a_replica():
    progress = run([[1.0, 1.0], [2.0, 2.0], [3.0, NAN]], patience=None)
    assert progress.status() == [Status.FINISHED, Status.DIVERGED]
