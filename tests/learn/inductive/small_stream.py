"""A stream of small graphs for tests of the training, and trainings on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from pytorch_lightning import Callback, LightningDataModule, Trainer

from gnnsync import MeasurementGraph
from gnnsync.learn.inductive.batch import GraphBatch, collate
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.training.method import InductiveTraining
from gnnsync.methods.robust.unrolled.start import prepare

NETWORK = partial(UnrolledPropagation, layers=3, bins=16, hidden=4)


def noisy_graph(seed: int, n: int = 24, k: int = 1, eta: float = 0.4) -> MeasurementGraph:
    """An Erdős–Rényi graph with truth; n and the number of edges vary with the seed."""
    rng = np.random.default_rng([5, seed])
    n = n + seed % 5
    i, j = np.triu_indices(n, 1)
    kept = (rng.random(len(i)) < 0.5) | (j == i + 1)
    pairs = np.stack([i[kept], j[kept]])
    m = pairs.shape[1]
    angles = rng.uniform(0, 2 * np.pi, (n, k))
    group = np.where(rng.random(m) < eta, -1, rng.integers(0, k, m))
    true = angles[pairs[0], group] - angles[pairs[1], group] + 0.1 * rng.standard_normal(m)
    offset = np.where(group < 0, rng.uniform(0, 2 * np.pi, m), true)
    return MeasurementGraph(pairs, offset, n, angles=angles, group=group)


def batch_of(numbers: range, k: int = 1) -> GraphBatch:
    """The graphs of these numbers, prepared; some ask for more sweeps than others."""
    prepared = []
    for number in numbers:
        rng = np.random.default_rng([6, number])
        item = prepare(noisy_graph(number, k=k), k, rng=rng)
        prepared.append(replace(item, sweeps=2 if number % 4 == 3 else 0))
    return collate(prepared)


class Batches:
    """Batch b of rank r out of R has the graphs from (bR + r)·size on; without an end."""

    def __init__(self, first: int, rank: int, ranks: int, size: int) -> None:
        self.first, self.rank, self.ranks, self.size = first, rank, ranks, size

    def __iter__(self) -> Iterator[GraphBatch]:
        number = self.first
        while True:
            start = (number * self.ranks + self.rank) * self.size
            yield batch_of(range(start, start + self.size))
            number += 1


@dataclass
class HeldOut:
    """A loader of the same named batches in every epoch."""

    batches: list[tuple[GraphBatch, list[str]]]

    def __iter__(self) -> Iterator[tuple[GraphBatch, list[str]]]:
        return iter(self.batches)

    def __len__(self) -> int:
        return len(self.batches)


class SmallStream(LightningDataModule):
    """Batches of `size` graphs per process; two validation cells."""

    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.size = size

    def train_dataloader(self) -> Batches:
        trainer: Any = self.trainer
        return Batches(trainer.global_step, trainer.global_rank, trainer.world_size, self.size)

    def val_dataloader(self) -> HeldOut:
        first = (batch_of(range(900, 903)), ["easy", "hard", "easy"])
        return HeldOut([first, (batch_of(range(910, 912)), ["hard", "hard"])])

    test_dataloader = val_dataloader


class Interruption(Callback):
    """Raise after a number of optimizer steps, as if the process was killed."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
        if trainer.global_step >= self.step:
            raise RuntimeError("killed")


def small_training(*callbacks: Callback, **options: Any) -> InductiveTraining:
    """A training of few steps; further options are those of `InductiveTraining` or the Trainer."""
    names = set(InductiveTraining.__dataclass_fields__)
    own = {name: options.pop(name) for name in list(options) if name in names}
    defaults = {"max_steps": 6, "accelerator": "cpu", "devices": 1, "limit_val_batches": 0}
    trainer = partial(Trainer, **{**defaults, "enable_model_summary": False, **options})
    optimizer = partial(torch.optim.AdamW, lr=3e-3, weight_decay=1e-4)
    given = {"stream": SmallStream(), "network": NETWORK, "optimizer": optimizer, **own}
    return InductiveTraining(trainer=trainer, callbacks=list(callbacks), **given)
