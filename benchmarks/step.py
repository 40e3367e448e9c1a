"""Cost of a training step against a textbook implementation: `python -m benchmarks.step`.

Ours is timed inside a Lightning run, from the end of its first epoch on, so that the bookkeeping
and Lightning's cost per epoch are included and the one-time start is not; the start (Trainer,
operators, first epoch beyond its steps) has a column of its own. The textbook
(`tests/oracles/textbook.py`: one replica, n × n tensors, plain autograd) is timed in its bare loop,
and evaluates after every step. Ours is timed evaluating after every step, and every tenth, as is
the default. Both run on one thread and are measured in processor time, which on an idle machine
is the wall time. Repeats are interleaved and ratios taken within a repeat, so that a busy machine
slows both alike.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from rich.progress import track

from benchmarks.clock import EpochClock, timed_fit
from benchmarks.section import Section, spread
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.outliers import observe
from gnnsync.data.priors import GammaAngles
from gnnsync.graph import MeasurementGraph
from gnnsync.learn import Training, gnnsync_paper
from gnnsync.learn.losses import CycleLoss, UpsetLoss
from gnnsync.methods import SpectralRN
from tests.oracles.textbook import TextbookGNNSync, train

MODELS = {"ERO": erdos_renyi, "RGGO": random_geometric}
GRAPHS, TRIALS = 5, 2


@dataclass(frozen=True)
class Cell:
    """What is trained, and for how many epochs of how many steps it is timed."""

    model: str
    p: float
    k: int
    loss: str
    epochs: int
    steps_per_epoch: int
    textbook_steps: int

    @property
    def name(self) -> str:
        return f"{self.model} p={self.p:g} k={self.k} {self.loss}"

    def graph(self, seed: int, n: int = 360) -> MeasurementGraph:
        rng = np.random.default_rng(seed)
        pairs = MODELS[self.model](n, self.p, seed)
        return observe(pairs, GammaAngles()(n, self.k, rng), 0.3, rng=rng)


CELLS = (
    Cell("ERO", 0.05, 1, "upset", 8, 50, 50),
    Cell("ERO", 0.15, 1, "upset", 8, 50, 50),
    Cell("RGGO", 0.15, 1, "upset", 8, 50, 50),
    Cell("RGGO", 0.15, 3, "upset", 8, 50, 30),
    Cell("RGGO", 0.15, 3, "cycle", 3, 10, 8),
)


def measure(repeats: int = 5, only: str = "") -> Section:
    """All cells whose name contains `only`."""
    torch.set_num_threads(1)
    section = Section(
        "Training step against a textbook dense loop (one thread)",
        (
            "cell",
            "textbook, ms",
            "R = 1, evaluated every step, ms",
            "faster",
            "R = 1, ms",
            "faster",
            "R = 10, ms per run",
            "faster",
            "start, ms",
        ),
        [],
        "Median and range over the repeats. R = 10 is a cell of the paper: 5 networks × 2 trials.",
    )
    for cell in track([cell for cell in CELLS if only in cell.name], description="step"):
        row, ratios = _measure_cell(cell, repeats)
        section.rows.append(row)
        section.figures[cell.name] = ratios
    return section


def _measure_cell(cell: Cell, repeats: int) -> tuple[list[str], dict[str, list[float]]]:
    graphs = [cell.graph(seed) for seed in range(10, 10 * (GRAPHS + 1), 10)]
    rows, starts = [], []
    for _ in range(repeats):
        reference = textbook_seconds(cell, graphs[0])
        strict, _ = our_seconds(cell, graphs[:1], 1, eval_every=1)
        one, start = our_seconds(cell, graphs[:1], 1)
        ten, _ = our_seconds(cell, graphs, TRIALS)
        rows.append((reference, strict, one, ten))
        starts.append(start)
    seconds = np.array(rows)
    middle = 1e3 * np.median(seconds, axis=0)
    faster = (seconds[:, :1] / seconds[:, 1:]).T
    cells = [f"{value:.2f}" for value in middle]
    row = [cell.name, cells[0]]
    for own, ratio in zip(cells[1:], faster, strict=True):
        row += [own, spread(ratio)]
    kinds = ("R = 1, evaluated every step", "R = 1", "R = 10")
    ratios = {kind: ratio.tolist() for kind, ratio in zip(kinds, faster, strict=True)}
    return [*row, f"{1e3 * np.median(starts):.0f}"], ratios


def textbook_seconds(cell: Cell, graph: MeasurementGraph) -> float:
    """Per step."""
    features = torch.tensor(SpectralRN()(graph, cell.k).angles)
    model = TextbookGNNSync(graph, features, loss=cell.loss)
    train(model, 2)
    start = time.process_time()
    train(model, cell.textbook_steps)
    return (time.process_time() - start) / cell.textbook_steps


def our_seconds(
    cell: Cell, graphs: list[MeasurementGraph], trials: int, **options: Any
) -> tuple[float, float]:
    """Per step and replica; and the one-time start."""
    replicas = len(graphs) * trials
    training = Training(
        max_steps=cell.epochs * cell.steps_per_epoch,
        patience=cell.epochs * cell.steps_per_epoch,
        steps_per_epoch=cell.steps_per_epoch,
        accelerator="cpu",
        **options,
    )
    loss = UpsetLoss() if cell.loss == "upset" else CycleLoss()
    method = gnnsync_paper(loss=loss, training=training)
    batch = method.prepare(graphs, cell.k, seeds=range(replicas), trials=trials)
    module = method.build(batch)
    clock = EpochClock(time.process_time)
    start = time.process_time()
    timed_fit(method, module, batch, clock)
    per_epoch = (clock.ends[-1] - clock.ends[0]) / (len(clock.ends) - 1)
    return per_epoch / cell.steps_per_epoch / replicas, clock.ends[0] - start - per_epoch


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cells", default="", help="only cells whose name contains this")
    arguments = parser.parse_args()
    print(measure(arguments.repeats, arguments.cells).markdown())
