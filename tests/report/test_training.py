from __future__ import annotations

import numpy as np

from gnnsync.report.training import training_curve


def store(folder, train, evaluation) -> None:
    np.savez(folder / "solutions.npz", loss_train=train, loss_evaluation=evaluation)


def test_losses_are_means_over_the_replicas_at_some_steps(tmp_path):
    steps = np.arange(1.0, 1001.0)
    train = np.stack([steps, 3 * steps], axis=1)
    store(tmp_path, train, train / 2)
    curve = training_curve(tmp_path)
    assert len(curve.steps) == 60
    assert (curve.steps[0], curve.steps[-1]) == (1, 1000)
    assert curve.train == [2.0 * step for step in curve.steps]
    assert curve.evaluation == [1.0 * step for step in curve.steps]


def test_what_is_not_finite_is_left_out(tmp_path):
    train = np.array([[1.0, np.nan], [2.0, np.inf], [np.nan, np.nan]])
    store(tmp_path, train, train)
    curve = training_curve(tmp_path)
    assert (curve.steps, curve.train) == ([1, 2], [1.0, 2.0])
    store(tmp_path, train * np.nan, train)
    assert training_curve(tmp_path) is None


def test_a_job_without_training_has_no_curve(tmp_path):
    assert training_curve(tmp_path) is None
    np.savez(tmp_path / "solutions.npz", angles=np.zeros(3))
    assert training_curve(tmp_path) is None
    (tmp_path / "solutions.npz").write_text("broken")
    assert training_curve(tmp_path) is None
    store(tmp_path, np.zeros((0, 2)), np.zeros((0, 2)))
    assert training_curve(tmp_path) is None
