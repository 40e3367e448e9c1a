"""Small random graphs for the learned method."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from pytorch_lightning import Callback, Trainer
from torch import nn

from gnnsync import MeasurementGraph
from gnnsync.learn import GNNSync, Training
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.losses import UpsetLoss
from gnnsync.learn.module import SyncModule
from gnnsync.learn.training.loading import ReplicaDataModule
from gnnsync.learn.training.trainer import as_list, fit, make_trainer
from gnnsync.methods import RunContext


def simple_graph(
    seed: int, n: int = 11, p: float = 0.5, weighted: bool = False, outliers: float = 1.0
) -> MeasurementGraph:
    """Random pairs, each measured once in a random direction; a share of offsets is random."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    # A path keeps it connected, the chord (0, 2) gives at least one triangle.
    kept = (rng.random(len(i)) < p) | (j == i + 1) | ((i == 0) & (j == 2))
    pairs = np.stack([i[kept], j[kept]])
    pairs = np.where(rng.random(pairs.shape[1]) < 0.5, pairs, pairs[::-1])
    m = pairs.shape[1]
    weight = rng.uniform(0.3, 3.0, m) if weighted else None
    offset = rng.uniform(0, 2 * np.pi, m)
    if outliers < 1.0:
        angles = rng.uniform(0, 2 * np.pi, n)
        inlier = rng.random(m) >= outliers
        offset = np.where(inlier, angles[pairs[0]] - angles[pairs[1]], offset)
    return MeasurementGraph(pairs, offset, n, weight=weight)


@pytest.fixture
def make_graph() -> Callable[..., MeasurementGraph]:
    return simple_graph


@pytest.fixture
def make_batch() -> Callable[..., ReplicaBatch]:
    """Graphs with different numbers of edges, in float64."""

    def make(graphs: int = 3, trials: int = 2, weighted: bool = True, n: int = 13) -> ReplicaBatch:
        made = [
            simple_graph(seed, n, p=0.55 + 0.15 * seed, weighted=weighted) for seed in range(graphs)
        ]
        assert graphs == 1 or len({graph.num_edges for graph in made}) == graphs
        return ReplicaBatch(made, trials, torch.float64)

    return make


@pytest.fixture
def random_angles() -> Callable[..., torch.Tensor]:
    """Angles (R, n, k) in float64 that want a gradient."""

    def make(batch: ReplicaBatch, k: int, seed: int = 0) -> torch.Tensor:
        source = torch.Generator().manual_seed(seed)
        shape = (batch.replicas, batch.num_nodes, k)
        angles = 2 * torch.pi * torch.rand(shape, generator=source, dtype=torch.float64)
        return angles.requires_grad_()

    return make


@pytest.fixture(autouse=True)
def _one_thread():
    """The tensors are tiny: a second thread only costs."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Breaking(nn.Module):
    """The upset loss, but NaN for one replica from its `start`-th call on."""

    def __init__(self, replica: int, start: int) -> None:
        super().__init__()
        self.upset, self.replica, self.start, self.calls = UpsetLoss(), replica, start, 0

    def forward(self, angles: torch.Tensor, batch: ReplicaBatch) -> torch.Tensor:
        self.calls += 1
        value = self.upset(angles, batch)
        if self.calls >= self.start:
            factor = torch.ones_like(value)
            factor[self.replica] = torch.nan
            value = value * factor
        return value


@pytest.fixture
def quick() -> Callable[..., Training]:
    """A short training in float64 on the CPU."""

    def make(**options: Any) -> Training:
        defaults = {"max_steps": 30, "steps_per_epoch": 10, "eval_every": 1}
        defaults |= {"accelerator": "cpu", "precision": 64}
        return Training(**(defaults | options))

    return make


def train(
    method: GNNSync, module: SyncModule, batch: ReplicaBatch, *callbacks: Callback
) -> Trainer:
    """Train a module as `GNNSync.fit` does; returns the Trainer."""
    trainer = make_trainer(method.trainer, [*as_list(method.callbacks), *callbacks], RunContext())
    fit(trainer, module, ReplicaDataModule(batch))
    return trainer
