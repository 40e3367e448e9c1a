"""Training as a job: files, exact resume, several processes."""

from __future__ import annotations

import csv
import os
from functools import partial

import pytest
import torch
from pytorch_lightning.callbacks import EMAWeightAveraging, LearningRateMonitor
from pytorch_lightning.loggers import CSVLogger
from torch.optim.lr_scheduler import LambdaLR

from gnnsync.data.stream.datamodule import StreamDataModule
from gnnsync.data.stream.draw import GraphLaw
from gnnsync.data.stream.held_out import Cell
from gnnsync.errors import ParameterError
from gnnsync.learn.inductive.training.callbacks import TrainingCheckpoint, TrainingProgress
from gnnsync.learn.inductive.training.schedule import WarmupCosine
from gnnsync.learn.inductive.weights import load_weights, read_metadata
from gnnsync.learn.training import CheckpointError
from gnnsync.methods.base import ReplicaMethod, RunContext
from gnnsync.metrics import angular_mse
from tests.learn.inductive.small_stream import (
    NETWORK,
    Interruption,
    SmallStream,
    noisy_graph,
    small_training,
)


def whole(*more, **options):
    """All parts of the real training: average, schedule, clipping, checkpoints."""
    schedule = partial(LambdaLR, lr_lambda=WarmupCosine(6, warmup=0.3))
    return small_training(
        EMAWeightAveraging(decay=0.8, use_buffers=False),
        TrainingCheckpoint(every=3),
        *more,
        scheduler=schedule,
        gradient_clip_val=1.0,
        **options,
    )


def stored(folder, name="final.ckpt"):
    return torch.load(folder / name, weights_only=True)


def same(first, second):
    """Whether two checkpoints or parts of them are equal bit for bit."""
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def test_interrupted_and_resumed_is_bit_for_bit_the_whole_training(tmp_path):
    at_once, in_two = tmp_path / "a", tmp_path / "b"
    whole().train(RunContext(at_once))
    with pytest.raises(RuntimeError, match="killed"):
        # Killed one step after the checkpoint: that step is taken again.
        whole(Interruption(4)).train(RunContext(in_two))
    assert stored(in_two, "last.ckpt")["global_step"] == 3
    whole().train(RunContext(in_two, resume=True))
    # The final checkpoint has the average in both places, the last one the current state too.
    for name in ("last.ckpt", "final.ckpt"):
        one, two = stored(at_once, name), stored(in_two, name)
        assert one["global_step"] == two["global_step"] == 6
        for part in ("state_dict", "current_model_state", "averaging_state", "optimizer_states"):
            assert same(one[part], two[part]), (name, part)
        assert same(one["lr_schedulers"], two["lr_schedulers"])
    last = stored(at_once, "last.ckpt")
    assert not same(last["state_dict"], last["current_model_state"])
    assert (at_once / "validation.csv").read_text() == (in_two / "validation.csv").read_text()


def test_a_checkpoint_that_does_not_fit_is_refused_in_one_line(tmp_path):
    small_training(TrainingCheckpoint(every=1), max_steps=2).train(RunContext(tmp_path))
    other = small_training(network=partial(NETWORK, layers=4))
    with pytest.raises(CheckpointError, match=r"last\.ckpt is of a network with .*'layers': 3"):
        other.train(RunContext(tmp_path, resume=True))


def test_a_damaged_checkpoint_counts_as_absent(tmp_path, caplog):
    (tmp_path / "last.ckpt").write_bytes(b"junk")
    small_training(max_steps=1).train(RunContext(tmp_path, resume=True))
    assert "last.ckpt cannot be continued" in caplog.text


def real_stream(workers):
    law = GraphLaw(nodes=(20, 40), degree=(5.0, 9.0))
    cell = Cell("er", "erdos_renyi", 30, 8, 0.3, 0.1, networks=2)
    return StreamDataModule(
        law, batch_size=2, batches_per_epoch=2, num_workers=workers, validation=[cell]
    )


@pytest.mark.parametrize("every", [2, 3])
def test_the_real_stream_is_resumed_at_the_end_of_an_epoch_and_within(every, tmp_path):
    def run(folder, workers, *more, resume=False):
        parts = [EMAWeightAveraging(decay=0.8, use_buffers=False), TrainingCheckpoint(every), *more]
        method = small_training(*parts, stream=real_stream(workers), limit_val_batches=1.0)
        return method.train(RunContext(folder, resume=resume)).state_dict()

    at_once = run(tmp_path / "a", 0)
    with pytest.raises(RuntimeError, match="killed"):
        run(tmp_path / "b", 2, Interruption(every + 1))
    assert same(at_once, run(tmp_path / "b", 1, resume=True))
    assert (tmp_path / "a/validation.csv").read_text() == (
        tmp_path / "b/validation.csv"
    ).read_text()


def test_a_job_leaves_weights_table_and_card_and_solves_its_graphs(tmp_path):
    method = whole(max_steps=4)
    assert isinstance(method, ReplicaMethod)
    graphs = [noisy_graph(3), noisy_graph(8)]
    context = RunContext(tmp_path)
    found = method.solve_many(graphs, seeds=[1, 2, 3, 4], trials=2, context=context)
    assert len(found.solutions) == 4
    for number, solution in enumerate(found.solutions):
        graph = graphs[number // 2]
        assert solution.angles.shape == (graph.num_nodes, 1)
        assert angular_mse(solution.angles, graph.angles) < 0.5
    loaded = load_weights(tmp_path / "weights.safetensors")
    final = stored(tmp_path)["state_dict"]
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, final[f"network.{name}"]), name  # the averaged weights
    table = (tmp_path / "validation.csv").read_text().splitlines()
    assert table[0] == "cell,graphs,mse_start,mse,loss"
    assert [line.split(",")[:2] for line in table[1:]] == [["easy", "2"], ["hard", "3"]]
    facts = read_metadata(tmp_path / "weights.safetensors")
    assert (facts["steps"], facts["processes"]) == (4, 1)
    card = (tmp_path / "model_card.md").read_text()
    assert "| easy | 2 |" in card
    assert "4 optimizer steps, processes: 1" in card

    again = method.solve_many(
        graphs,
        seeds=[1, 2, 3, 4],
        trials=2,
        context=RunContext(checkpoint=tmp_path / "weights.safetensors"),
    )
    for one, two in zip(found.solutions, again.solutions, strict=True):
        assert (one.angles == two.angles).all()


def test_training_lowers_the_validation_loss(tmp_path):
    method = small_training(max_steps=30)
    before = method.evaluate(method.build().network)
    after = method.evaluate(method.train(RunContext()))
    assert sum(c["loss"] for c in after.values()) < sum(c["loss"] for c in before.values())
    assert not list(tmp_path.iterdir())


def test_the_first_parameters_follow_the_seed():
    first, again, other = (small_training(seed=s).build().network for s in (1, 1, 2))
    assert same(first.state_dict(), again.state_dict())
    assert not same(first.state_dict(), other.state_dict())


def test_k_groups_have_k_columns():
    found = small_training(max_steps=1).solve_many([noisy_graph(2, k=2)], 2, seeds=[0])
    assert found.solutions[0].angles.shape[1] == 2


def test_progress_is_lines_outside_a_terminal(caplog):
    caplog.set_level("INFO")
    small_training(TrainingProgress(), max_steps=4).train(RunContext())
    assert [f"step {s} of 4: loss" in caplog.text for s in (1, 2, 3, 4)] == [True] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": 0}, r"trainer\.max_steps = 0"),
        ({"precision": "64-true"}, r"trainer\.precision = '64-true'"),
        ({"accumulate_grad_batches": 2}, r"trainer\.accumulate_grad_batches = 2"),
        ({"stream": 3}, r"stream = 3"),
        ({"seed": -1}, r"seed = -1"),
        ({"network": partial(int, "x")}, r"network = "),
    ],
)
def test_bad_parts_are_refused_before_any_work(options, message):
    with pytest.raises(ParameterError, match=message):
        small_training(**options)


def test_two_processes_take_the_steps_of_one_with_the_doubled_batch(tmp_path):
    """Plain gradient steps of rate 1: the parameters differ from the first ones by gradients."""
    optimizer = partial(torch.optim.SGD, lr=0.1)
    moved = {}
    for steps in (1, 2):
        for processes in (1, 2):
            options = {"devices": processes, "strategy": "ddp_spawn"} if processes > 1 else {}
            method = small_training(
                stream=SmallStream(4 // processes),
                optimizer=optimizer,
                max_steps=steps,
                **options,
            )
            start = method.build().network.state_dict()
            trained = method.train(RunContext()).state_dict()
            moved[steps, processes] = {name: trained[name] - start[name] for name in start}
        largest = max(float(v.abs().max()) for v in moved[steps, 1].values())
        assert largest > 1e-3
        for name, change in moved[steps, 1].items():
            error = (change - moved[steps, 2][name]).abs().max()
            assert error < 1e-5 * largest, (steps, name)


class Told(CSVLogger):
    """A logger that knows which process opened it, and cannot be used in another."""

    def __init__(self, folder):
        super().__init__(folder, name=None, version="log")
        self.owner = os.getpid()

    def log_metrics(self, metrics, step=None):
        assert os.getpid() == self.owner
        super().log_metrics(metrics, step)


def test_curves_of_several_processes_come_to_the_loggers_of_the_job(tmp_path):
    logger = Told(tmp_path)
    logger.log_hyperparams({"a": 1})
    options = {"devices": 2, "strategy": "ddp_spawn", "log_every_n_steps": 1}
    method = small_training(LearningRateMonitor("step"), max_steps=3, **options)
    method.train(RunContext(tmp_path, [logger]))
    logger.log_metrics({"mse": 0.5})
    logger.save()
    rows = list(csv.DictReader((tmp_path / "log/metrics.csv").open()))
    assert [row["step"] for row in rows if row["loss/train"]] == ["0", "1", "2"]
    assert len([row for row in rows if row["lr-AdamW"]]) == 3
    assert "0.5" in [row["mse"] for row in rows]
    assert not (tmp_path / "metrics.jsonl").exists()


def test_the_number_of_threads_changes_nothing():
    """Gradients of 1,500 edges were divided among the threads of torch."""
    law = GraphLaw(nodes=(120, 125), degree=(24.0, 26.0))
    cell = Cell("er", "erdos_renyi", 60, 8, 0.3, 0.1, networks=1)
    stream = StreamDataModule(law, batch_size=2, batches_per_epoch=2, validation=[cell])
    found = []
    for threads in (1, 4):
        torch.set_num_threads(threads)
        network = small_training(stream=stream, max_steps=2).train(RunContext())
        assert torch.get_num_threads() == threads
        found.append(network.state_dict())
    assert same(*found)
