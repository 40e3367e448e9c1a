"""What the module logs, and what it does with a gradient that is not finite."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from pytorch_lightning import Callback, Trainer

from gnnsync.learn.inductive.training.callbacks import TrainingCheckpoint
from gnnsync.learn.inductive.training.loss import InductiveLoss
from gnnsync.learn.inductive.training.module import InductiveModule
from gnnsync.learn.inductive.weights import load_weights
from gnnsync.methods.base import RunContext
from tests.learn.inductive.small_stream import NETWORK, SmallStream, small_training


class Logged(Callback):
    """Keep the metrics of the last validation or test, and the parameters after every step."""

    def __init__(self) -> None:
        self.metrics: dict[str, float] = {}
        self.parameters: list[torch.Tensor] = []

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, *_: Any) -> None:
        values = [p.detach().flatten().clone() for p in pl_module.parameters()]
        self.parameters.append(torch.cat(values))


class BrokenOnce(InductiveLoss):
    """Not finite in the second call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, *arguments: Any) -> dict[str, torch.Tensor]:
        self.calls += 1
        terms = super().forward(*arguments)
        return {name: v * torch.nan if self.calls in (2, 3) else v for name, v in terms.items()}


def run(stage: str) -> dict[str, float]:
    module = InductiveModule(NETWORK(), InductiveLoss(), partial(torch.optim.SGD, lr=0.01))
    options = {"max_steps": 2, "logger": False, "enable_progress_bar": False}
    trainer = Trainer(
        **options, accelerator="cpu", enable_checkpointing=False, enable_model_summary=False
    )
    getattr(trainer, stage)(module, datamodule=SmallStream())
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


@pytest.mark.parametrize(("stage", "name"), [("validate", "validation"), ("test", "test")])
def test_cells_have_their_own_mse_and_the_means_are_over_cells(stage, name):
    found = run(stage)
    cells = [found[f"mse/{name}/{cell}"] for cell in ("easy", "hard")]
    assert found[f"mse/{name}"] == pytest.approx(sum(cells) / 2)
    assert f"loss/{name}" in found


def test_training_logs_the_loss_and_its_parts():
    found = run("fit")
    parts = ("train/log_mse", "train/nll", "train/bce")
    total = sum(w * found[p] for w, p in zip((1.0, 0.1, 0.2), parts, strict=True))
    assert found["loss/train"] == pytest.approx(total, rel=1e-4)


def test_a_step_without_a_finite_gradient_moves_nothing_and_is_said_once(caplog):
    logged = Logged()
    module = None

    class Keep(Callback):
        def on_train_end(self, trainer: Trainer, pl_module: Any) -> None:
            nonlocal module
            module = pl_module

    method = small_training(loss=BrokenOnce(), max_steps=4, gradient_clip_val=1.0)
    # Callbacks are copied for a run; these two stay as they are.
    trainer = method.trainer(
        callbacks=[logged, Keep()],
        logger=False,
        enable_progress_bar=False,
        enable_checkpointing=False,
    )
    trainer.fit(method.build(), datamodule=SmallStream())
    first, second, third, fourth = logged.parameters
    assert torch.equal(first, second)
    assert torch.equal(second, third)
    assert not torch.equal(third, fourth)
    assert torch.isfinite(fourth).all()
    assert module.skipped == 2
    assert caplog.text.count("its gradient is not finite") == 1


def test_a_checkpoint_can_be_loaded_as_weights(tmp_path):

    network = small_training(TrainingCheckpoint(0), max_steps=2).train(RunContext(tmp_path))
    loaded = load_weights(tmp_path / "final.ckpt")
    for name, value in network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name
