"""GNNSync as a method: the learned peer of the classical ones."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from gnnsync.errors import ParameterError, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.anchors import (
    AnchoredLoss,
    Anchors,
    NoAnchors,
    anchored,
    known_angles,
)
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders import DIMPA
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.features import Features, MethodFeatures, replica_features
from gnnsync.learn.losses import Calibrated, UpsetLoss
from gnnsync.learn.module import OptimizerFactory, SyncModule
from gnnsync.learn.progress import Status
from gnnsync.learn.replicas import prepare_replicas
from gnnsync.learn.steps import ProjectedGradient, Steps
from gnnsync.learn.training import Run, Training, fit, load_parameters
from gnnsync.methods import SpectralRN
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray

log = logging.getLogger(__name__)


def default_optimizer() -> OptimizerFactory:
    """SGD with the paper's learning rate and weight decay."""
    return partial(torch.optim.SGD, lr=0.005, weight_decay=5e-4, fused=True)


@dataclass(frozen=True)
class Fitted:
    """R trained replicas: their answers and how they were reached.

    Replica r = g·T + t is trial t on graph g.
    """

    solutions: list[Solution]
    status: list[Status]
    steps: list[int]
    features: Tensor
    history: dict[str, Tensor]
    seconds_setup: float
    seconds_train: float


@dataclass(frozen=True)
class GNNSync:
    """Directed GNN, angle head and unrolled steps, trained on the graph it is to solve.

    The parts are factories, called with the sizes that the graph and k dictate: `encoder(replicas,
    in_features, groups)`, `steps(replicas)`, `optimizer(parameters)`. `spread` is the size
    of the head's scores before training (see `calibrate` of `AngleHead` and `PhaseHead`); None
    leaves them as they were drawn. Angles that `anchors` knows enter the features and, with
    `anchor_weight`, the loss, and fix the rotation of the answer.
    """

    any_k: ClassVar[bool] = True

    features: Features = field(default_factory=lambda: MethodFeatures(SpectralRN()))
    encoder: Callable[..., Encoder] = DIMPA
    steps: Callable[..., Steps] = ProjectedGradient
    loss: nn.Module = field(default_factory=UpsetLoss)
    optimizer: OptimizerFactory = field(default_factory=default_optimizer)
    training: Training = field(default_factory=Training)
    spread: float | None = 0.25
    anchors: Anchors = field(default_factory=NoAnchors)
    anchor_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.spread is not None:
            check_real("spread", self.spread, 0, open_low=True)
        check_real("anchor_weight", self.anchor_weight, 0)
        # Built once at size one, so that a bad parameter is told before any work.
        _try("encoder", self.encoder, 1, 1, 1)
        _try("steps", self.steps, 1)
        _try("optimizer", self.optimizer, [nn.Parameter(torch.zeros(1))])

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Train one replica on `graph` and return its angles."""
        return self.fit([graph], k, seeds=[seed]).solutions[0]

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
        """Train `trials` replicas on each graph side by side.

        Args:
            graphs: G graphs with the same number of nodes.
            k: number of sets of angles.
            seeds: G·T seeds, that of trial t on graph g at g·T + t.
            trials: T.
            run: where to write and what to tell.
            checkpoint: evaluate these stored parameters instead of training.
        """
        start = time.perf_counter()
        module = self.build(graphs, k, seeds=seeds, trials=trials)
        ready = time.perf_counter()
        if checkpoint is not None:
            load_parameters(module, checkpoint)
        else:
            fit(module, self.training, run or Run())
        return self._collect(module, ready - start, time.perf_counter() - ready)

    def build(
        self,
        graphs: Sequence[MeasurementGraph],
        k: int = 1,
        *,
        seeds: Sequence[int] = (0,),
        trials: int = 1,
    ) -> SyncModule:
        """The untrained module of R = G·T replicas, every replica drawn from its own seed."""
        check_integer("k", k, 1)
        dtype = self.training.dtype
        known = known_angles(self.anchors, graphs, k, trials)
        batch = ReplicaBatch(graphs, trials, dtype)
        own = [check_integer("seeds", seed, 0) for seed in seeds]
        if len(own) != batch.replicas:
            raise ParameterError("seeds", own, f"{batch.replicas} numbers, one per replica")
        features = replica_features(self.features, batch, k, own)
        if known is not None and self._angular:
            pairs = zip(features.numpy(), known, strict=True)
            features = torch.tensor(np.stack([anchored(*pair) for pair in pairs]), dtype=dtype)
        encoder = self.encoder(batch.replicas, features.shape[-1], k)
        encoder.attach(batch)
        head = encoder.head(batch.replicas, k)
        steps = self.steps(batch.replicas)
        if known is not None:
            steps.pin(torch.tensor(known, dtype=dtype))
        network = nn.ModuleList([encoder, head, steps]).to(dtype)
        prepare_replicas(network, own)
        loss = copy.deepcopy(self.loss)
        if known is not None:
            loss = AnchoredLoss(loss, torch.from_numpy(known), self.anchor_weight)
        loss = loss.to(dtype)
        encoder.eval()
        with torch.no_grad():
            if self.spread is not None:
                head.calibrate(encoder(features), features, self.spread)
            angles = head(encoder(features))
            steps.calibrate(angles, batch)
            if isinstance(loss, Calibrated):
                loss.calibrate(steps(angles, batch), batch)
        encoder.train()
        return SyncModule(
            batch,
            features,
            encoder,
            head,
            steps,
            loss,
            self.optimizer,
            max_steps=self.training.max_steps,
            patience=self.training.patience,
            steps_per_epoch=self.training.steps_per_epoch,
            eval_every=self.training.eval_every,
        )

    def _collect(self, module: SyncModule, seconds_setup: float, seconds_train: float) -> Fitted:
        batch, progress = module.batch, module.progress
        angles = module.predict().numpy()
        known = known_angles(self.anchors, batch.graphs, angles.shape[-1], batch.trials)
        status, taken = module.status(), progress.steps_taken()
        solutions = []
        for r in range(batch.replicas):
            found = angles[r]
            if not np.isfinite(found).all():
                found = self._fallback(module, r, found.shape)
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
                    stop_reason=str(status[r]),
                    seconds=(seconds_setup + seconds_train) / batch.replicas,
                    diagnostics={
                        "loss": progress.best_loss[r],
                        "best_step": float(progress.best_step[r]),
                    },
                )
            )
        return Fitted(
            solutions,
            status,
            taken,
            module.features.cpu(),
            progress.history(),
            seconds_setup,
            seconds_train,
        )

    def _fallback(self, module: SyncModule, replica: int, shape: tuple[int, ...]) -> FloatArray:
        """What a network without finite angles returns: its input angles, or zeros."""
        log.warning(
            "replica %d has no finite angles: %s are returned",
            replica,
            "its features" if self._angular else "zeros",
        )
        return module.features[replica].double().cpu().numpy() if self._angular else np.zeros(shape)

    @property
    def _angular(self) -> bool:
        """Whether the features are angles of the k sets."""
        return isinstance(self.features, MethodFeatures)


def _try(part: str, factory: Callable[..., Any], *sizes: Any) -> None:
    """Call a factory; what it refuses is told with the name of the part."""
    try:
        factory(*sizes)
    except ParameterError as error:
        raise ParameterError(f"{part}.{error.name}", error.value, error.allowed) from None
    except (TypeError, ValueError) as error:
        given = getattr(factory, "keywords", factory)
        raise ParameterError(part, given, f"accepted by it ({error})") from None
