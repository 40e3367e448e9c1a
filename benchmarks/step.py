"""Cost of a training step against a textbook implementation: `python -m benchmarks.step`.

A step is one optimizer step with its evaluation pass. Ours is timed over a whole training run,
Lightning, its start and the bookkeeping included; the textbook (`tests/oracles/textbook.py`: one
replica, n × n tensors, plain autograd) in its bare loop. Both run on one thread and are measured
in processor time, which on an idle machine is the wall time. Repeats are interleaved and the ratio
is taken within a repeat, so that a busy machine slows both alike; the table shows the median ratio
and its range.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from rich.live import Live
from rich.table import Table

from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.data.outliers import observe
from gnnsync.data.priors import GammaAngles
from gnnsync.graph import MeasurementGraph
from gnnsync.learn import GNNSync, Training
from gnnsync.learn.losses import CycleLoss, UpsetLoss
from gnnsync.learn.training import Run, fit
from gnnsync.methods import SpectralRN
from tests.oracles.textbook import TextbookGNNSync, train

MODELS = {"ERO": erdos_renyi, "RGGO": random_geometric}
GRAPHS, TRIALS = 5, 2


@dataclass(frozen=True)
class Cell:
    """What is trained, and for how many steps it is timed."""

    model: str
    p: float
    k: int
    loss: str
    steps: int
    textbook_steps: int

    @property
    def name(self) -> str:
        return f"{self.model} p={self.p:g} k={self.k} {self.loss}"

    def graph(self, seed: int, n: int = 360) -> MeasurementGraph:
        rng = np.random.default_rng(seed)
        pairs = MODELS[self.model](n, self.p, seed)
        return observe(pairs, GammaAngles()(n, self.k, rng), 0.3, rng=rng)


CELLS = (
    Cell("ERO", 0.05, 1, "upset", 1000, 100),
    Cell("ERO", 0.15, 1, "upset", 1000, 100),
    Cell("RGGO", 0.15, 1, "upset", 1000, 100),
    Cell("RGGO", 0.15, 3, "upset", 500, 50),
    Cell("RGGO", 0.15, 3, "cycle", 60, 10),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cells", default="", help="only cells whose name contains this")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = Table("cell", "textbook ms", "R=1 ms", "faster", "R=10 ms per run", "faster")
    with Live(table):
        for cell in CELLS:
            if arguments.cells in cell.name:
                table.add_row(cell.name, *measure(cell, arguments.repeats))


def measure(cell: Cell, repeats: int) -> list[str]:
    """Milliseconds per step and replica, and their ratios."""
    graphs = [cell.graph(seed) for seed in range(10, 10 * (GRAPHS + 1), 10)]
    timers = [
        partial(textbook_seconds, cell, graphs[0]),
        partial(our_seconds, cell, graphs[:1], 1),
        partial(our_seconds, cell, graphs, TRIALS),
    ]
    seconds = np.array([[timer() for timer in timers] for _ in range(repeats)])
    reference, one, ten = 1e3 * np.median(seconds, axis=0)
    faster = seconds[:, :1] / seconds[:, 1:]
    return [
        f"{reference:.2f}",
        f"{one:.3f}",
        _spread(faster[:, 0]),
        f"{ten:.3f}",
        _spread(faster[:, 1]),
    ]


def textbook_seconds(cell: Cell, graph: MeasurementGraph) -> float:
    """Per step."""
    features = torch.tensor(SpectralRN()(graph, cell.k).angles)
    model = TextbookGNNSync(graph, features, loss=cell.loss)
    train(model, 2)
    start = time.process_time()
    train(model, cell.textbook_steps)
    return (time.process_time() - start) / cell.textbook_steps


def our_seconds(cell: Cell, graphs: list[MeasurementGraph], trials: int) -> float:
    """Per step and replica."""
    replicas = len(graphs) * trials
    # Ten replicas cost several times one: as many steps would only take longer to time.
    steps = max(cell.steps // (1 if replicas == 1 else 5), 10)
    training = Training(max_steps=steps, patience=steps, accelerator="cpu")
    loss = UpsetLoss() if cell.loss == "upset" else CycleLoss()
    method = GNNSync(loss=loss, training=training)
    module = method.build(graphs, cell.k, seeds=range(replicas), trials=trials)
    start = time.process_time()
    fit(module, training, Run(progress_bar=False))
    return (time.process_time() - start) / steps / replicas


def _spread(ratio: np.ndarray) -> str:
    return f"{np.median(ratio):.1f}x ({ratio.min():.1f}..{ratio.max():.1f})"


if __name__ == "__main__":
    main()
