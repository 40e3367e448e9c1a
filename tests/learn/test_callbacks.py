"""Lightning's own callbacks, schedulers and a user's callback, named in YAML as its users do."""

from __future__ import annotations

import csv
import re
import sys
import time

import pytest
import torch
from hydra import compose, initialize_config_dir
from pytorch_lightning import Callback
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint, Timer

from gnnsync.errors import ConfigError
from gnnsync.experiments.config.building import build
from gnnsync.experiments.job.run import run_job
from gnnsync.experiments.paths import conf_dir
from gnnsync.learn.callbacks.base import callbacks_of
from tests.learn.callbacks.test_progress import in_terminal

SMALL = [
    *("data.n=30", "data.p=0.4", "data.eta=0.2", "data.seeds=[1,2]", "trials=1", "figures=false"),
    *("method.inner_steps=10", "method.eval_every=5"),
]
LIGHTNING = "pytorch_lightning.callbacks"


class Probe(Callback):
    """Keeps the Trainer of the last run, and what its hooks see."""

    trainer = None

    def on_fit_start(self, trainer, pl_module):
        type(self).trainer = trainer
        self.seen, self.steps = [], []
        type(self).last = self

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        norm = sum(float(p.grad.square().sum()) for p in pl_module.parameters())
        self.steps.append((trainer.global_step, norm, optimizer.param_groups[0]["lr"]))

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
        self.seen.append((trainer.global_step, outputs, metrics, batch))


@pytest.fixture
def run(tmp_path):
    """Run a small learned job; returns its rows and the probe."""

    def run(*overrides: str):
        probe = f"+callbacks.probe._target_={__name__}.Probe"
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            cfg = compose("config", [*SMALL, f"output_dir={tmp_path}", probe, *overrides])
        return run_job(cfg), Probe.last

    return run


def found(kind):
    return next(c for c in callbacks_of(Probe.trainer) if isinstance(c, kind))


def test_a_users_callback_sees_true_steps_outputs_and_metrics(run):
    rows, probe = run("trainer.max_steps=25")
    assert [row["steps"] for row in rows] == [25, 25]
    assert [seen[0] for seen in probe.seen] == [10, 20, 25]
    for _, outputs, metrics, batch in probe.seen:
        assert float(outputs["loss"]) == pytest.approx(metrics["loss/train"])
        assert outputs["train"].shape == outputs["evaluation"].shape == (2,)
        assert metrics["loss/evaluation"] == pytest.approx(float(outputs["evaluation"].mean()))
        assert [graph.num_nodes for graph in batch.graphs] == [30, 30]
    # Around every optimizer step, with its gradient.
    assert [step for step, _, _ in probe.steps] == list(range(25))
    assert all(norm > 0 for _, norm, _ in probe.steps)


def test_model_checkpoint_keeps_the_lowest_evaluation_losses(run, tmp_path):
    _, probe = run("trainer.max_steps=60", "callbacks=model_checkpoint")
    callback = found(ModelCheckpoint)
    losses = {step: metrics["loss/evaluation"] for step, _, metrics, _ in probe.seen}
    best = sorted(losses, key=losses.get)[:3]
    stored = {int(re.search(r"step=(\d+)", p.name)[1]): p for p in tmp_path.rglob("step=*.ckpt")}
    assert set(stored) == set(best)
    assert float(callback.best_model_score) == pytest.approx(losses[best[0]])
    assert callback.best_model_path == str(stored[best[0]])
    for step, path in stored.items():
        assert torch.load(path, weights_only=True)["global_step"] == step
    # Written by our plugin: nothing but whole checkpoints is left.
    assert not list(tmp_path.rglob("*.tmp"))


def test_early_stopping_stops_after_its_patience(run):
    patience = ["callbacks.early_stopping.patience=2", "+callbacks.early_stopping.min_delta=100"]
    rows, probe = run("callbacks=early_stopping", *patience)
    # The first macro-step sets the best score; two more do not lower it by 100.
    assert [seen[0] for seen in probe.seen] == [10, 20, 30]
    assert found(EarlyStopping).stopped_epoch == 2
    assert [row["steps"] for row in rows] == [30, 30]


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (["scheduler=step", "scheduler.step_size=15"], lambda step: 0.005 * 0.5 ** (step // 15)),
        (["scheduler=none"], lambda step: 0.005),
    ],
)
def test_learning_rate_monitor_logs_the_schedule(run, tmp_path, scheduler, expected):
    _, probe = run("trainer.max_steps=40", "optimizer=sgd", "callbacks=learning_rate", *scheduler)
    (path,) = tmp_path.rglob("metrics.csv")
    logged = [float(row["lr-SGD"]) for row in csv.DictReader(path.open()) if row["lr-SGD"]]
    # Read at the start of each macro-step of ten optimizer steps.
    assert logged == pytest.approx([expected(step) for step in (0, 10, 20, 30)])
    assert found(LearningRateMonitor).lrs["lr-SGD"] == pytest.approx(logged)
    assert [lr for _, _, lr in probe.steps] == pytest.approx([expected(s) for s in range(40)])


def test_cosine_annealing_ends_at_zero_and_plateau_halves(run):
    _, probe = run("trainer.max_steps=40", "optimizer=sgd", "scheduler=cosine")
    rates = [lr for _, _, lr in probe.steps]
    assert rates[0] == 0.005
    assert rates[20] == pytest.approx(0.0025)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 1e-4
    # No improvement is ever large enough: halved after every second evaluation, 5 steps apart.
    _, probe = run(
        "trainer.max_steps=40",
        "optimizer=sgd",
        "scheduler=plateau",
        "scheduler.patience=0",
        "+scheduler.threshold=9",
    )
    assert min(lr for _, _, lr in probe.steps) < 0.005 / 8


@pytest.mark.parametrize(
    "limit",
    [
        [f"+callbacks.timer._target_={LIGHTNING}.Timer", "+callbacks.timer.duration=00:00:00:02"],
        ["trainer.max_time=00:00:00:02"],
    ],
)
def test_timer_ends_the_training(run, limit):
    start = time.monotonic()
    rows, _ = run("trainer.max_steps=1000000", "callbacks.stopping.patience=null", *limit)
    assert 2 < time.monotonic() - start < 60
    assert found(Timer).time_remaining() <= 0
    assert 10 < Probe.trainer.global_step < 1000000
    assert rows[0]["steps"] == Probe.trainer.global_step


def test_rich_progress_bar_is_drawn_in_place_of_ours(tmp_path):
    # It draws on standard output, which `in_terminal` would discard.
    code = "import os, sys; os.dup2(2, 1); from gnnsync.cli import main; main(sys.argv[1:])"
    options = ["trainer.max_steps=20", "callbacks=rich_progress", f"output_dir={tmp_path}"]
    shown = in_terminal([sys.executable, "-c", code, "run", *SMALL, *options])
    assert re.search(r"Epoch 1/-?\d+ .*1/1", shown)
    assert "steps, loss" not in shown


def test_two_progress_bars_are_refused_in_one_line(run):
    with pytest.raises(ConfigError, match=r"callbacks = .*RichProgressBar.*~callbacks.progress"):
        run(f"+callbacks.bar._target_={LIGHTNING}.RichProgressBar")


@pytest.mark.parametrize(("k", "last"), [(1, True), (2, False)])
def test_the_last_state_counts_for_one_group_only(run, k, last):
    patience = ["callbacks.stopping.patience=1", "callbacks.stopping.last_for_one_group=true"]
    rows, _ = run(f"data.k={k}", "protocol=paper", "optimizer.lr=100", *patience)
    assert {row["status"] for row in rows} == ({"finished"} if last else {"stopped"})


def test_no_callbacks_give_the_last_parameters_and_no_stopping(run, tmp_path):
    rows, _ = run("trainer.max_steps=30", "callbacks=none")
    assert [row["status"] for row in rows] == ["finished", "finished"]
    assert not list(tmp_path.rglob("*.ckpt"))


def test_a_preset_for_a_callback_that_was_not_chosen_is_ignored():
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        cfg = compose("config", [*SMALL, "method=gnnsync_plus", "callbacks=none"])
    build(cfg)


def test_validation_runs_if_asked_for(run):
    _, probe = run("trainer.max_steps=20", "trainer.limit_val_batches=1")
    assert {"loss/validation", "mse/validation"} <= set(Probe.trainer.callback_metrics) | set(
        probe.seen[-1][2]
    )
