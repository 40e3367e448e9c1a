"""A damaged checkpoint is not continued from: the training starts afresh, with a warning."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from gnnsync.graph import MeasurementGraph
from gnnsync.learn import GNNSync, Run, Training
from gnnsync.learn.training.resuming import damage


@pytest.fixture(scope="module")
def graph():
    nodes = np.arange(12)
    pairs = [(i, j) for i in nodes for j in nodes[:i] if (i + j) % 3]
    return MeasurementGraph(np.array(pairs).T, np.linspace(0.0, 6.0, len(pairs)), 12)


@pytest.fixture(scope="module")
def method():
    training = Training(max_steps=20, steps_per_epoch=5, eval_every=1, accelerator="cpu")
    return GNNSync(training=training)


@pytest.fixture(scope="module")
def whole(method, graph, tmp_path_factory):
    """The result of a training, and the bytes of its last checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    fitted = method.fit([graph], seeds=[3], run=Run(folder, checkpoint_every=10))
    return fitted, (folder / "last.ckpt").read_bytes()


def changed(content: bytes, path, change) -> bytes:
    path.write_bytes(content)
    stored = torch.load(path, weights_only=True)
    change(stored)
    torch.save(stored, path)
    return path.read_bytes()


def parameters_nan(stored):
    next(iter(stored["state_dict"].values())).view(-1)[0] = math.nan


def best_nan(stored):
    next(iter(stored["callbacks"]["BestState"]["parameters"].values())).fill_(math.inf)


def moments_nan(stored):
    stored["optimizer_states"][0]["state"][0] = {"exp_avg": torch.tensor([math.nan])}


DAMAGE = {
    "empty": lambda content, path: b"",
    "truncated": lambda content, path: content[: len(content) // 2],
    "garbage": lambda content, path: bytes(range(256)) * 20,
    "text": lambda content, path: b"{}",
    "parameters": lambda content, path: changed(content, path, parameters_nan),
    "best": lambda content, path: changed(content, path, best_nan),
    "moments": lambda content, path: changed(content, path, moments_nan),
    "no optimizer": lambda content, path: changed(
        content, path, lambda stored: stored.pop("optimizer_states")
    ),
    "a list": lambda content, path: changed(content, path, dict.clear),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found(kind, whole, tmp_path):
    path = tmp_path / "last.ckpt"
    path.write_bytes(DAMAGE[kind](whole[1], path))
    assert damage(path)


def test_a_whole_checkpoint_has_none(whole, tmp_path):
    path = tmp_path / "last.ckpt"
    path.write_bytes(whole[1])
    assert damage(path) is None


def test_replicas_that_have_diverged_may_have_parameters_that_are_not_finite(whole, tmp_path):
    def change(stored):
        stored["callbacks"]["ReplicaStopping"]["diverged"] = [True]
        parameters_nan(stored)

    path = tmp_path / "last.ckpt"
    path.write_bytes(changed(whole[1], path, change))
    assert damage(path) is None


@pytest.mark.parametrize("kind", ["truncated", "parameters"])
def test_a_training_starts_afresh(kind, whole, method, graph, tmp_path, caplog):
    path = tmp_path / "last.ckpt"
    path.write_bytes(DAMAGE[kind](whole[1], path))
    fitted = method.fit([graph], seeds=[3], run=Run(tmp_path, resume=True))
    assert "last.ckpt cannot be continued" in caplog.text
    assert "starts afresh" in caplog.text
    assert fitted.steps == whole[0].steps
    np.testing.assert_array_equal(fitted.solutions[0].angles, whole[0].solutions[0].angles)


def test_parameters_that_are_not_finite_cannot_be_evaluated(whole, method, graph, tmp_path):
    path = tmp_path / "final.ckpt"
    path.write_bytes(DAMAGE["best"](whole[1], path))
    with pytest.raises(Exception, match="is not finite: train it again"):
        method.fit([graph], seeds=[3], checkpoint=path)
