import signal

import numpy as np
import pytest
import torch
from pytorch_lightning import Callback

from gnnsync.errors import ParameterError
from gnnsync.learn import CheckpointError, GNNSync, Run, Training
from gnnsync.learn.encoders import DIMPA


@pytest.fixture
def graphs(make_graph):
    return [make_graph(0, n=16, p=0.4), make_graph(1, n=16, p=0.6)]


class StopAt(Callback):
    """Raise once `step` optimizer steps are taken."""

    def __init__(self, error: BaseException, step: int) -> None:
        self.error, self.step = error, step

    def on_train_epoch_end(self, trainer, pl_module):
        if trainer.global_step >= self.step:
            raise self.error


def adam(parameters):
    """An optimizer with a state of its own to bring back."""
    return torch.optim.Adam(parameters, lr=0.01)


def falling(optimizer):
    """A learning rate that depends on the step."""
    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.8)


@pytest.mark.parametrize("scheduler", [None, falling])
@pytest.mark.parametrize("error", [RuntimeError("power cut"), KeyboardInterrupt()])
def test_an_interrupted_run_resumes_exactly(error, scheduler, graphs, quick, tmp_path):
    method = GNNSync(optimizer=adam, scheduler=scheduler, training=quick(max_steps=45))
    whole = method.fit(graphs, seeds=[1, 2])
    interrupted = Run(tmp_path, checkpoint_every=10, callbacks=[StopAt(error, 30)])
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(type(error)):
        method.fit(graphs, seeds=[1, 2], run=interrupted)
    assert signal.getsignal(signal.SIGINT) is handler
    assert [p.name for p in tmp_path.iterdir()] == ["last.ckpt"]

    stored = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert stored["callbacks"]["ReplicaStopping"]["step"] == stored["global_step"]
    assert stored["global_step"] in (20, 30)
    resumed = method.fit(graphs, seeds=[1, 2], run=Run(tmp_path, resume=True))
    assert resumed.steps == whole.steps == [45, 45]
    for name in ("train", "evaluation"):
        assert torch.equal(resumed.history[name], whole.history[name])
    for one, other in zip(resumed.solutions, whole.solutions, strict=True):
        np.testing.assert_array_equal(one.angles, other.angles)


def test_resume_with_nothing_stored_starts_anew(graphs, quick, tmp_path, caplog):
    caplog.set_level("INFO")
    method = GNNSync(training=quick())
    fitted = method.fit(graphs, seeds=[1, 2], run=Run(tmp_path, resume=True))
    assert "nothing to resume" in caplog.text
    assert fitted.steps == [30, 30]


def test_resuming_a_finished_run_changes_nothing(graphs, quick, tmp_path):
    method = GNNSync(training=quick())
    run = Run(tmp_path, checkpoint_every=10, resume=True)
    first = method.fit(graphs, seeds=[1, 2], run=run)
    second = method.fit(graphs, seeds=[1, 2], run=run)
    assert second.steps == first.steps
    np.testing.assert_array_equal(second.solutions[0].angles, first.solutions[0].angles)


def test_a_final_checkpoint_gives_the_same_angles(graphs, quick, tmp_path):
    method = GNNSync(training=quick())
    trained = method.fit(graphs, seeds=[1, 2], run=Run(tmp_path))
    loaded = method.fit(graphs, seeds=[8, 9], checkpoint=tmp_path / "final.ckpt")
    np.testing.assert_array_equal(loaded.solutions[1].angles, trained.solutions[1].angles)
    # On another graph of the same size the parameters are the same, the angles are not.
    moved = method.fit(graphs[::-1], seeds=[8, 9], checkpoint=tmp_path / "final.ckpt")
    assert not np.array_equal(moved.solutions[1].angles, trained.solutions[1].angles)


def test_buffers_in_a_checkpoint_without_a_best_state_are_left_out(graphs, quick, tmp_path):
    method = GNNSync(training=quick(max_steps=3))
    trained = method.fit(graphs, seeds=[1, 2], run=Run(tmp_path))
    stored = torch.load(tmp_path / "final.ckpt", weights_only=True)
    del stored["callbacks"]["BestState"]
    stored["state_dict"]["steps.grid"] = torch.zeros(3)
    torch.save(stored, tmp_path / "plain.ckpt")
    loaded = method.fit(graphs, seeds=[1, 2], checkpoint=tmp_path / "plain.ckpt")
    np.testing.assert_array_equal(loaded.solutions[0].angles, trained.solutions[0].angles)


@pytest.mark.parametrize(
    ("k", "encoder", "seeds"),
    [
        (2, DIMPA, [1, 2]),
        (1, lambda *sizes: DIMPA(*sizes, width=4), [1, 2]),
        (1, DIMPA, [1]),
    ],
    ids=["k", "width", "replicas"],
)
def test_a_checkpoint_of_another_shape_is_refused(k, encoder, seeds, graphs, quick, tmp_path):
    GNNSync(training=quick(max_steps=2)).fit(graphs, seeds=[1, 2], run=Run(tmp_path))
    other = GNNSync(encoder=encoder, training=quick())
    with pytest.raises(CheckpointError, match=r"of another model: .* has shape .* use the same k"):
        other.fit(graphs[: len(seeds)], k, seeds=seeds, checkpoint=tmp_path / "final.ckpt")


def test_what_is_no_checkpoint_is_refused(graphs, quick, tmp_path):
    method = GNNSync(training=quick())
    with pytest.raises(CheckpointError, match="no such file"):
        method.fit(graphs, seeds=[1, 2], checkpoint=tmp_path / "none.ckpt")
    (tmp_path / "text.ckpt").write_text("not a checkpoint", encoding="utf-8")
    with pytest.raises(CheckpointError, match="not a gnnsync checkpoint") as error:
        method.fit(graphs, seeds=[1, 2], checkpoint=tmp_path / "text.ckpt")
    assert "\n" not in str(error.value)
    torch.save({"state_dict": {}}, tmp_path / "other.ckpt")
    with pytest.raises(CheckpointError, match="not a gnnsync checkpoint"):
        method.fit(graphs, seeds=[1, 2], checkpoint=tmp_path / "other.ckpt")


def test_checkpoint_of_another_shape_cannot_be_resumed(graphs, quick, tmp_path):
    run = Run(tmp_path, checkpoint_every=10, resume=True)
    GNNSync(training=quick()).fit(graphs, seeds=[1, 2], run=run)
    with pytest.raises(CheckpointError, match="of another model"):
        GNNSync(training=quick()).fit(graphs, 2, seeds=[1, 2], run=run)


def test_progress_is_logged_without_a_terminal(graphs, quick, caplog):
    caplog.set_level("INFO")
    GNNSync(training=quick()).fit(graphs, seeds=[1, 2], run=Run(progress_bar=False))
    lines = [record.message for record in caplog.records if "step 30 of 30" in record.message]
    assert len(lines) == 1
    assert "2 of 2 runs still training" in lines[0]


def test_progress_bar(graphs, quick, capsys):
    GNNSync(training=quick()).fit(graphs, seeds=[1, 2], run=Run(progress_bar=True))
    shown = capsys.readouterr()
    assert "30/30" in shown.err + shown.out


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"max_steps": 0}, "max_steps"),
        ({"patience": 0}, "patience"),
        ({"steps_per_epoch": 2.5}, "steps_per_epoch"),
        ({"precision": 16}, "precision"),
        ({"accelerator": "abacus"}, "accelerator"),
    ],
)
def test_bad_parameters_are_named(options, name):
    with pytest.raises(ParameterError, match=name):
        Training(**options)
