"""The training of the inductive network as a method: train, write the weights, solve the job."""

from __future__ import annotations

import copy
import csv
import io
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import torch
from pytorch_lightning import LightningDataModule, Trainer
from pytorch_lightning.callbacks import Checkpoint, LearningRateMonitor, ProgressBar
from pytorch_lightning.loggers import Logger
from torch import nn

from gnnsync.errors import ParameterError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.io.files import write_text
from gnnsync.learn.inductive.method import GNNSyncInductive
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.training.card import model_card
from gnnsync.learn.inductive.training.loss import InductiveLoss
from gnnsync.learn.inductive.training.module import CellMeans, InductiveModule
from gnnsync.learn.inductive.training.recording import METRICS, MetricsFile, replay
from gnnsync.learn.inductive.weights import load_weights, network_arguments, save_weights
from gnnsync.learn.module import OptimizerFactory, SchedulerFactory
from gnnsync.learn.training.checkpoint import CheckpointError
from gnnsync.learn.training.checkpoint_io import AtomicCheckpointIO
from gnnsync.learn.training.resuming import resume_from
from gnnsync.learn.training.trainer import (
    CallbackGroup,
    TrainerFactory,
    as_list,
    check_trainer,
    fit,
)
from gnnsync.methods.base import ReplicaSolutions, RunContext
from gnnsync.solution import Solution

log = logging.getLogger(__name__)

WEIGHTS = "weights.safetensors"
CARD = "model_card.md"
TABLE = "validation.csv"

# Arguments of the Trainer that `check_trainer` refuses for replicas and that are right here.
_CLIPPING = ("gradient_clip_val", "gradient_clip_algorithm")
# Attributes of a stream that the model card states.
_STATED = ("seed", "batch_size", "anchored", "law")


def default_optimizer() -> OptimizerFactory:
    """AdamW with the learning rate of `conf/optimizer/adamw.yaml`."""
    return partial(torch.optim.AdamW, lr=3e-3, weight_decay=1e-4)


@dataclass(frozen=True)
class InductiveTraining:
    """Train the inductive network on a stream of graphs, then solve the job's graphs with it.

    In the folder of the run it leaves `weights.safetensors` (the averaged weights if a callback
    averages them), `validation.csv` and `model_card.md`.

    Args:
        stream: a LightningDataModule of `GraphBatch`es.
        trainer: makes the Lightning Trainer; `max_steps` is the budget of optimizer steps.
        network: makes the untrained network; its parameters are drawn from `seed`.
        loss: what is minimised.
        optimizer: makes the optimizer.
        scheduler: makes the learning-rate scheduler, stepped after every optimizer step.
        callbacks: Lightning callbacks, as a list or by name; copied for every run.
        seed: of the network's first parameters.
    """

    any_k: ClassVar[bool] = True
    # Training may use several devices; see `experiments.config`.
    several_devices: ClassVar[bool] = True

    stream: LightningDataModule
    trainer: TrainerFactory
    network: Callable[[], UnrolledPropagation] = UnrolledPropagation
    loss: InductiveLoss = field(default_factory=InductiveLoss)
    optimizer: OptimizerFactory = field(default_factory=default_optimizer)
    scheduler: SchedulerFactory | None = None
    callbacks: CallbackGroup = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.scheduler:  # an empty config means none
            object.__setattr__(self, "scheduler", None)
        check_integer("seed", self.seed, 0)
        _check_trainer(self.trainer)
        as_list(self.callbacks)
        if not isinstance(self.stream, LightningDataModule):
            raise ParameterError("stream", self.stream, "a LightningDataModule")
        # Made once, so that a bad parameter is refused before any work.
        _try("network", self.network)
        optimizer = _try("optimizer", self.optimizer, [nn.Parameter(torch.zeros(1))])
        if self.scheduler is not None:
            _try("scheduler", self.scheduler, optimizer)

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Train, and solve `graph`."""
        return self.solve_many([graph], k, seeds=[seed]).solutions[0]

    def solve_many(
        self,
        graphs: Sequence[MeasurementGraph],
        k: int = 1,
        *,
        seeds: Sequence[int],
        trials: int = 1,
        context: RunContext | None = None,
    ) -> ReplicaSolutions:
        """Train once, or load `context.checkpoint`, and solve each graph `trials` times."""
        context = context or RunContext()
        start = time.perf_counter()
        with _weights_file(context) as weights:
            if context.checkpoint is None:
                network = self.train(context)
                if context.directory is None:
                    save_weights(weights, network)
            trained = time.perf_counter()
            # Without polish: the rows show what the network itself has learned.
            method = GNNSyncInductive(weights=str(weights), polish=False)
            pairs = [(graphs[number // trials], seed) for number, seed in enumerate(seeds)]
            solutions = [method(graph, k, seed=seed) for graph, seed in pairs]
        status = ["finished"] * len(solutions)
        return ReplicaSolutions(solutions, status, None, {}, 0.0, trained - start)

    def train(self, context: RunContext) -> UnrolledPropagation:
        """The trained network; weights, table and card are written if the run has a folder."""
        start = time.perf_counter()
        # A stream continues where it was; every training begins at its start.
        module, stream = self.build(), copy.deepcopy(self.stream)
        resumed = _last_checkpoint(context, module.network)
        trainer = self._make_trainer(context)
        # The helper is for any LightningModule, though its type names another.
        anything: Any = module
        fit(trainer, anything, stream, resumed)
        if context.directory is not None:
            replay(context.directory / METRICS, context.loggers)
        network = module.network.cpu().eval()
        seconds = time.perf_counter() - start
        if context.directory is not None:
            facts = self._facts(module, trainer, seconds, resumed is not None)
            self._write(context.directory, network, facts)
        return network

    def build(self) -> InductiveModule:
        """The untrained module, its parameters drawn from the seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = self.network()
        return InductiveModule(network, copy.deepcopy(self.loss), self.optimizer, self.scheduler)

    def evaluate(self, network: UnrolledPropagation) -> dict[str, dict[str, float]]:
        """Means of loss and MSE on the cells of the validation set; see `CellMeans`."""
        stream: Any = self.stream
        means = CellMeans()
        for batch, names in stream.val_dataloader():
            means.add(network, self.loss, batch, names)
        return means.means()

    def _make_trainer(self, context: RunContext) -> Trainer:
        """The Trainer of a run; what the factory itself sets has precedence."""
        given = {n: v for n, v in getattr(self.trainer, "keywords", {}).items() if v is not None}
        folder = given.get("default_root_dir", context.directory)
        callbacks = copy.deepcopy(as_list(self.callbacks))
        if folder is None:
            callbacks = [c for c in callbacks if not isinstance(c, Checkpoint)]
        if not context.loggers:
            callbacks = [c for c in callbacks if not isinstance(c, LearningRateMonitor)]
        options = {
            "callbacks": callbacks,
            "logger": list(context.loggers) or False,
            "plugins": [AtomicCheckpointIO()],
            "enable_progress_bar": any(isinstance(c, ProgressBar) for c in callbacks),
            "enable_checkpointing": any(isinstance(c, Checkpoint) for c in callbacks),
            "default_root_dir": None if folder is None else str(folder),
        }
        trainer = self.trainer(**{**options, **given})
        if context.loggers and trainer.strategy.launcher is not None:
            trainer.loggers = _loggers_of_processes(context)
        return trainer

    def _facts(
        self, module: InductiveModule, trainer: Trainer, seconds: float, resumed: bool
    ) -> dict[str, Any]:
        given = getattr(self.trainer, "keywords", {})
        return {
            "steps": given.get("max_steps"),
            "processes": trainer.world_size,
            "seconds": round(seconds, 1),
            "resumed": resumed,
            "seed": self.seed,
            "parameters": sum(p.numel() for p in module.network.parameters()),
            "stream": _described(self.stream),
            "torch": torch.__version__,
        }

    def _write(self, folder: Path, network: UnrolledPropagation, facts: dict[str, Any]) -> None:
        """Weights, validation table and model card, each file whole or not at all."""
        table = self.evaluate(network)
        save_weights(folder / WEIGHTS, network, {**facts, "validation": table})
        write_text(folder / TABLE, _as_csv(table))
        write_text(folder / CARD, model_card(facts, table))


@contextmanager
def _weights_file(context: RunContext) -> Iterator[Path]:
    """The file that holds the weights of a run, or will; a temporary one without a folder."""
    if context.checkpoint is not None:
        yield Path(context.checkpoint)
    elif context.directory is not None:
        yield context.directory / WEIGHTS
    else:
        with TemporaryDirectory() as folder:
            yield Path(folder) / WEIGHTS


def _check_trainer(factory: TrainerFactory) -> None:
    """Refuse arguments of the Trainer that cannot work; clipping by norm is Lightning's own."""
    keywords = getattr(factory, "keywords", None)
    if keywords is None:
        return
    kept = {name: value for name, value in keywords.items() if name not in _CLIPPING}
    check_trainer(partial(Trainer, **kept))
    if keywords.get("precision", "32-true") != "32-true":
        allowed = "32-true: the network computes in float32"
        raise ParameterError("trainer.precision", keywords["precision"], allowed)


def _last_checkpoint(context: RunContext, network: UnrolledPropagation) -> str | None:
    """The checkpoint to continue from, if the context asks for one and a whole one exists.

    One of a network of another size is refused.
    """
    if not context.resume or context.directory is None:
        return None

    def check(last: Path) -> None:
        stored, own = network_arguments(load_weights(last)), network_arguments(network)
        if stored != own:
            raise CheckpointError(
                f"resume = true: {last} is of a network with {stored}, and this one has {own}; "
                "use the same method.network, or resume=false"
            )

    return resume_from(context.directory, check)


def _loggers_of_processes(context: RunContext) -> list[Logger]:
    """What stands for the job's loggers in the processes of a training; nothing without a folder.

    Metrics of an interrupted training are kept if it is resumed.
    """
    if context.directory is None:
        return []
    path = context.directory / METRICS
    if not context.resume:
        path.unlink(missing_ok=True)
    return [MetricsFile(path)]


def _described(stream: Any) -> dict[str, Any]:
    """What determines the graphs of a stream, as far as it says so in plain values."""
    about = {name: getattr(stream, name) for name in _STATED if hasattr(stream, name)}
    law = about.get("law")
    if is_dataclass(law) and not isinstance(law, type):
        about["law"] = asdict(law)
    return {"class": type(stream).__name__, **about}


def _as_csv(table: Mapping[str, Mapping[str, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["cell", "graphs", "mse_start", "mse", "loss"])
    for cell, row in table.items():
        values = [f"{row[name]:.6g}" for name in ("graphs", "mse_start", "mse", "loss")]
        writer.writerow([cell, *values])
    return text.getvalue()


def _try(part: str, factory: Callable[..., Any], *arguments: Any) -> Any:
    """Call a factory; an error names the part."""
    try:
        return factory(*arguments)
    except ParameterError as error:
        raise ParameterError(f"{part}.{error.name}", error.value, error.allowed) from None
    except (TypeError, ValueError) as error:
        given = getattr(factory, "keywords", factory)
        raise ParameterError(part, given, f"accepted by it ({error})") from None
