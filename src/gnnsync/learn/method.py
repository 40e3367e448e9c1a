"""GNNSync as a method: the learned peer of the classical ones."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pytorch_lightning import Callback, Trainer
from torch import Tensor, nn

from gnnsync.errors import ParameterError, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.anchors import AnchoredLoss, Anchors, NoAnchors, anchored, known_angles
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.callbacks import History, ReplicaStopping
from gnnsync.learn.callbacks.base import find_callback
from gnnsync.learn.defaults import default_optimizer, five_steps
from gnnsync.learn.encoders import DIMPA, with_batch
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.features import Features, MethodFeatures, replica_features
from gnnsync.learn.head import AngleHead, Head, ResidualHead
from gnnsync.learn.losses import Calibrated, DefaultLoss
from gnnsync.learn.module import OptimizerFactory, SchedulerFactory, SyncModule
from gnnsync.learn.progress import ReplicaProgress, Status
from gnnsync.learn.replicas import prepare_replicas
from gnnsync.learn.separation import separated_once
from gnnsync.learn.steps import Steps
from gnnsync.learn.training.checkpoint import load_parameters, matching_parameters
from gnnsync.learn.training.loading import ReplicaDataModule
from gnnsync.learn.training.options import Run, Training
from gnnsync.learn.training.resuming import resume_from
from gnnsync.learn.training.trainer import (
    CallbackGroup,
    TrainerFactory,
    as_list,
    check_trainer,
    fit,
    make_trainer,
    predict,
    trainer_dtype,
)
from gnnsync.methods import SpectralRN
from gnnsync.methods.base import ReplicaSolutions, RunContext
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray
from gnnsync.work import plan, reached_time_limit, stage

log = logging.getLogger(__name__)

# Relative times of the stages, for the progress that is shown.
_COSTS = {"features": 1.0, "training": 20.0}


@dataclass(frozen=True)
class Fitted:
    """R trained replicas: their answers and how they were reached.

    Replica r = g·T + t is trial t on graph g. `untrained` are the angles (R, n, k) of the network
    before its training; None if stored parameters were evaluated.
    """

    solutions: list[Solution]
    status: list[Status]
    steps: list[int]
    features: Tensor
    history: dict[str, Tensor]
    seconds_setup: float
    seconds_train: float
    untrained: Tensor | None = None


@dataclass(frozen=True)
class GNNSync:
    """Directed GNN, angle head and unrolled steps, trained on the graph it is to solve.

    The defaults are those of `protocol=repaired`; `gnnsync_paper` has those of the paper.

    The parts are factories, called with the sizes that the graph and k dictate: `encoder(replicas,
    in_features, groups)`, `steps(replicas)`, `optimizer(parameters)`, `scheduler(optimizer)`, and
    `trainer(**options)`, which gets callbacks, loggers and folder when a run starts.

    Args:
        features: input of the network.
        encoder: graph network, from features to node embeddings.
        steps: unrolled refinement of the angles.
        loss: what the training minimises.
        optimizer: makes the optimizer.
        scheduler: makes the learning-rate scheduler, stepped after every optimizer step.
        training: sets the four fields `trainer` to `eval_every` at once, see `Training`.
        spread: size of the head's scores before training (see `calibrate` of `AngleHead` and
            `PhaseHead`); None leaves them as they were drawn.
        correction: largest correction of the features by a `ResidualHead`, in radians. If it is
            None, the features are no angles, or the encoder has a head of another kind than
            `AngleHead`, the encoder's head gives the angles.
        separation: annealed steps that separate k > 1 sets of angular features, see `separated`.
        anchors: angles that are known beforehand. They enter the features and, with
            `anchor_weight`, the loss, and fix the rotation of the answer.
        trainer: makes the Lightning Trainer; `max_steps` is the budget of optimizer steps.
        callbacks: Lightning callbacks, as a list or by name; copied for every run.
        inner_steps: optimizer steps per macro-step, see `SyncModule`.
        eval_every: steps between evaluations without dropout.
    """

    any_k: ClassVar[bool] = True
    stops_early: ClassVar[bool] = True

    features: Features = field(default_factory=lambda: MethodFeatures(SpectralRN()))
    encoder: Callable[..., Encoder] = DIMPA
    steps: Callable[..., Steps] = five_steps
    loss: nn.Module = field(default_factory=DefaultLoss)
    optimizer: OptimizerFactory = field(default_factory=default_optimizer)
    training: InitVar[Training | None] = None
    spread: float | None = 0.25
    correction: float | None = 1.0
    separation: int = 300
    anchors: Anchors = field(default_factory=NoAnchors)
    anchor_weight: float = 1.0
    scheduler: SchedulerFactory | None = None
    trainer: TrainerFactory = field(default_factory=lambda: Training().trainer())
    callbacks: CallbackGroup = field(default_factory=lambda: Training().callbacks())
    inner_steps: int = 50
    eval_every: int = 10

    def __post_init__(self, training: Training | None) -> None:
        if training is not None:
            object.__setattr__(self, "trainer", training.trainer())
            object.__setattr__(self, "callbacks", training.callbacks())
            object.__setattr__(self, "inner_steps", training.steps_per_epoch)
            object.__setattr__(self, "eval_every", training.eval_every)
        if not self.scheduler:  # an empty config means none
            object.__setattr__(self, "scheduler", None)
        if self.spread is not None:
            check_real("spread", self.spread, 0, open_low=True)
        check_integer("separation", self.separation, 0)
        check_real("anchor_weight", self.anchor_weight, 0)
        check_integer("inner_steps", self.inner_steps, 1)
        check_integer("eval_every", self.eval_every, 1)
        check_trainer(self.trainer)
        as_list(self.callbacks)
        # Built once at size one, so that a bad parameter is refused before any work.
        _try("encoder", self.encoder, 1, 1, 1)
        if self.correction is not None:
            check_real("correction", self.correction, 0, open_low=True)
        _try("steps", self.steps, 1)
        optimizer = _try("optimizer", self.optimizer, [nn.Parameter(torch.zeros(1))])
        if self.scheduler is not None:
            period = getattr(self.scheduler, "keywords", {}).get("T_max")
            if period is not None and period < 1:  # -1 is the max_steps of a run without it
                allowed = "at least 1: set it, or trainer.max_steps"
                raise ParameterError("scheduler.T_max", period, allowed)
            _try("scheduler", self.scheduler, optimizer)

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Train one replica on `graph` and return its angles."""
        return self.fit([graph], k, seeds=[seed]).solutions[0]

    def solve_many(
        self,
        graphs: Sequence[MeasurementGraph],
        k: int = 1,
        *,
        seeds: Sequence[int],
        trials: int = 1,
        context: RunContext = RunContext(),  # noqa: B008 (frozen)
    ) -> ReplicaSolutions:
        """Train `trials` replicas on each graph side by side; see `ReplicaMethod`."""
        callbacks = copy.deepcopy(as_list(self.callbacks))
        found = self._fit(graphs, k, seeds, trials, context, callbacks)
        return ReplicaSolutions(
            found.solutions,
            [str(status) for status in found.status],
            found.features.double().numpy() if self._angular else None,
            {name: losses.double().numpy() for name, losses in found.history.items()},
            found.seconds_setup,
            found.seconds_train,
            None if found.untrained is None else found.untrained.numpy(),
        )

    def fit(
        self,
        graphs: Sequence[MeasurementGraph],
        k: int = 1,
        *,
        seeds: Sequence[int] = (0,),
        trials: int = 1,
        run: Run | None = None,
        checkpoint: str | Path | None = None,
    ) -> Fitted:
        """The same as `solve_many`, with tensors.

        Args:
            graphs: G graphs with the same number of nodes.
            k: number of groups.
            seeds: G·T seeds, that of trial t on graph g at g·T + t.
            trials: T.
            run: where to write, and further callbacks, which are not copied.
            checkpoint: evaluate these stored parameters instead of training.
        """
        callbacks = copy.deepcopy(as_list(self.callbacks))
        context = RunContext(checkpoint=checkpoint)
        if run is not None:
            context = RunContext(run.directory, resume=run.resume, checkpoint=checkpoint)
            callbacks = run.extended(callbacks)
        return self._fit(graphs, k, seeds, trials, context, callbacks)

    def prepare(
        self,
        graphs: Sequence[MeasurementGraph],
        k: int = 1,
        *,
        seeds: Sequence[int] = (0,),
        trials: int = 1,
    ) -> ReplicaBatch:
        """The batch of R = G·T replicas: graphs, features, known angles and seeds."""
        dtype = trainer_dtype(self.trainer)
        batch = ReplicaBatch(graphs, trials, dtype, k=k, seeds=seeds)
        known = known_angles(self.anchors, graphs, k, trials)
        features = replica_features(self.features, batch, k, batch.seeds)
        if known is not None:
            batch.known = torch.tensor(known, dtype=dtype)
            if self._angular:
                pairs = zip(features.numpy(), known, strict=True)
                features = torch.tensor(np.stack([anchored(*pair) for pair in pairs]), dtype=dtype)
        batch.estimate = features
        if k > 1 and self.separation and self._angular:
            features = separated_once(features, batch, self.separation)
        batch.features = features
        return batch

    def build(
        self,
        batch: ReplicaBatch | Sequence[MeasurementGraph],
        k: int = 1,
        *,
        seeds: Sequence[int] = (0,),
        trials: int = 1,
    ) -> SyncModule:
        """The untrained module for a batch, every replica drawn from its own seed.

        Graphs are made into a batch by `prepare`, with `k`, `seeds` and `trials`; a batch has its
        own.
        """
        if not isinstance(batch, ReplicaBatch):
            batch = self.prepare(batch, k, seeds=seeds, trials=trials)
        features = batch.features
        assert features is not None, "the batch has no features: use `prepare`"
        encoder = with_batch(self.encoder(batch.replicas, features.shape[-1], batch.k))
        head = self._head(encoder, batch)
        steps = self.steps(batch.replicas)
        network = nn.ModuleList([encoder, head, steps]).to(batch.dtype)
        prepare_replicas(network, batch.seeds)
        loss = copy.deepcopy(self.loss)
        if batch.known is not None:
            loss = AnchoredLoss(loss, self.anchor_weight)
        loss = loss.to(batch.dtype)
        encoder.eval()
        with torch.no_grad():
            if self.spread is not None:
                head.calibrate(encoder(features, batch), features, self.spread)
            angles = head(encoder(features, batch), features)
            steps.calibrate(angles, batch)
            if isinstance(loss, Calibrated):
                loss.calibrate(steps(angles, batch), batch)
        encoder.train()
        return SyncModule(
            batch.replicas,
            encoder,
            head,
            steps,
            loss,
            self.optimizer,
            self.scheduler,
            inner_steps=self.inner_steps,
            eval_every=self.eval_every,
        )

    def _head(self, encoder: Encoder, batch: ReplicaBatch) -> Head:
        own = encoder.head(batch.replicas, batch.k)
        if self.correction is None or not self._angular or not isinstance(own, AngleHead):
            return own
        return ResidualHead(batch.replicas, batch.k, encoder.embedding, self.correction)

    def _fit(
        self,
        graphs: Sequence[MeasurementGraph],
        k: int,
        seeds: Sequence[int],
        trials: int,
        context: RunContext,
        callbacks: Sequence[Callback],
    ) -> Fitted:
        if context.threads is not None:
            torch.set_num_threads(context.threads)
        start = time.perf_counter()
        plan(_COSTS)
        with stage("features"):
            batch = self.prepare(graphs, k, seeds=seeds, trials=trials)
        module, data = self.build(batch), ReplicaDataModule(batch)
        untrained = module.answer(batch) if context.checkpoint is None else None
        ready = time.perf_counter()
        trainer = make_trainer(self.trainer, callbacks, context)
        if context.checkpoint is not None:
            load_parameters(module, context.checkpoint)
        else:
            with stage("training"):
                fit(trainer, module, data, _resume_from(trainer, module, context))
        angles = predict(trainer, module, data)
        seconds = (ready - start, time.perf_counter() - ready)
        return replace(self._collect(trainer, batch, angles, seconds), untrained=untrained)

    def _collect(
        self, trainer: Trainer, batch: ReplicaBatch, angles: Tensor, seconds: tuple[float, float]
    ) -> Fitted:
        progress, history = _bookkeeping(trainer, batch.replicas)
        known = known_angles(self.anchors, batch.graphs, batch.k, batch.trials)
        status, taken = progress.status(), progress.steps_taken()
        solutions = []
        for r in range(batch.replicas):
            found = angles[r].numpy()
            if not np.isfinite(found).all():
                found = self._fallback(batch, r, found.shape)
            if known is not None:
                found = anchored(found, known[r])
            if status[r] is Status.DIVERGED:
                log.warning("replica %d diverged at step %d; its best state is kept", r, taken[r])
            solutions.append(
                Solution.from_angles(
                    batch.graphs[r // batch.trials],
                    found,
                    converged=status[r] is Status.STOPPED,
                    iterations=taken[r],
                    stop_reason=_reason(status[r], taken[r]),
                    seconds=sum(seconds) / batch.replicas,
                    diagnostics={
                        "loss": progress.best_loss[r],
                        "best_step": float(progress.best_step[r]),
                    },
                )
            )
        features = batch.features if batch.estimate is None else batch.estimate
        assert features is not None
        return Fitted(solutions, status, taken, features.cpu(), history.losses(), *seconds)

    def _fallback(self, batch: ReplicaBatch, replica: int, shape: tuple[int, ...]) -> FloatArray:
        """The answer of a network without finite angles: its input angles, or zeros."""
        log.warning(
            "replica %d has no finite angles: %s are returned",
            replica,
            "its features" if self._angular else "zeros",
        )
        if not self._angular or batch.features is None:
            return np.zeros(shape)
        return batch.features[replica].double().cpu().numpy()

    @property
    def _angular(self) -> bool:
        """Whether the features are angles of the k groups."""
        return isinstance(self.features, MethodFeatures)


def _reason(status: Status, steps: int) -> str:
    limit = reached_time_limit()
    return str(status) if limit is None else f"time limit of {limit:g} s: best of {steps} steps"


def _resume_from(trainer: Trainer, module: SyncModule, context: RunContext) -> str | None:
    """The checkpoint to continue from, if the context asks for one and a whole one exists."""
    if not context.resume or context.directory is None:
        return None
    folder = Path(trainer.default_root_dir)
    return resume_from(folder, lambda last: matching_parameters(module, last))


def _bookkeeping(trainer: Trainer, replicas: int) -> tuple[ReplicaProgress, History]:
    """What the callbacks of a run have recorded; empty if it did not train."""
    history = find_callback(trainer, History)
    if not history.replicas:
        history.replicas = replicas
        return ReplicaProgress(replicas), history
    return find_callback(trainer, ReplicaStopping).progress, history


def _try(part: str, factory: Callable[..., Any], *sizes: Any) -> Any:
    """Call a factory; an error names the part."""
    try:
        return factory(*sizes)
    except ParameterError as error:
        raise ParameterError(f"{part}.{error.name}", error.value, error.allowed) from None
    except (TypeError, ValueError) as error:
        given = getattr(factory, "keywords", factory)
        raise ParameterError(part, given, f"accepted by it ({error})") from None
