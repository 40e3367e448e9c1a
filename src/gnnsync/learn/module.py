"""SyncModule: features → encoder → head → steps → loss, trained by Lightning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from pytorch_lightning import LightningModule
from torch import Tensor, nn

from gnnsync.errors import check_integer
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.head import Head
from gnnsync.learn.progress import ReplicaProgress, Status
from gnnsync.learn.replicas import ReplicaDropout, copy_replicas
from gnnsync.learn.steps import Steps

OptimizerFactory = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]


class SyncModule(LightningModule):
    """R independent GNNSync models trained side by side on their graphs.

    Lightning sees one batch per epoch, in which `steps_per_epoch` optimizer steps are taken:
    whole-graph training has no batches to iterate over, and Lightning's cost per batch would
    exceed that of a step. The losses of the replicas are summed and so never mix; stopping, best
    state and status are kept per replica.

    Args:
        batch: the graphs.
        features: (R, n, f).
        encoder, head, steps: the network; the encoder is already attached to `batch`.
        loss: angles (R, n, k) → (R,).
        optimizer: makes the optimizer from the parameters.
        seeds: one per replica, for the dropout.
        max_steps: budget of optimizer steps.
        patience: a replica stops after this many steps without a lower evaluation loss.
        steps_per_epoch: optimizer steps per Lightning batch.
        eval_every: steps between evaluations; the first and the last step are always evaluated.
    """

    features: Tensor

    def __init__(
        self,
        batch: ReplicaBatch,
        features: Tensor,
        encoder: Encoder,
        head: Head,
        steps: Steps,
        loss: nn.Module,
        optimizer: OptimizerFactory,
        max_steps: int = 1000,
        patience: int = 200,
        steps_per_epoch: int = 50,
        eval_every: int = 1,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.batch = batch
        self.register_buffer("features", features, persistent=False)
        self.encoder, self.head, self.steps, self.loss = encoder, head, steps, loss
        self.make_optimizer = optimizer
        self.max_steps = check_integer("max_steps", max_steps, 1)
        self.steps_per_epoch = check_integer("steps_per_epoch", steps_per_epoch, 1)
        self.eval_every = check_integer("eval_every", eval_every, 1)
        self.progress = ReplicaProgress(batch.replicas, check_integer("patience", patience, 1))
        self.best: dict[str, Tensor] = {}
        self._dropouts = [m for m in self.modules() if isinstance(m, ReplicaDropout)]
        self._layers = list(encoder.modules())

    @property
    def step(self) -> int:
        """Optimizer steps taken so far."""
        return self.progress.step

    @property
    def finished(self) -> bool:
        """Whether the budget is spent or every replica has stopped."""
        return self.step >= self.max_steps or not self.progress.num_running

    def forward(self, final: bool = True) -> Tensor:
        """Angles (R, n, k); with `final` the steps are taken even if they are not trained with."""
        angles = self.head.angles(self.encoder.scores(self.features, self.head.vector))
        if final or self.steps.in_training:
            angles = self.steps(angles, self.batch)
        return angles

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The configured optimizer over all parameters."""
        return self.make_optimizer(p for p in self.parameters() if p.requires_grad)

    def on_fit_start(self) -> None:
        """Remember the starting state as the best so far."""
        if not self.best:
            self.best = {name: p.detach().clone() for name, p in self.named_parameters()}
        self.best = {name: value.to(self.device) for name, value in self.best.items()}

    def training_step(self, batch: Any, batch_idx: int) -> None:
        """Take up to `steps_per_epoch` optimizer steps."""
        # Lightning's wrapper of the optimizer costs as much as the step itself.
        optimizer: Any = self.optimizers(use_pl_optimizer=False)
        parameters = {name: p.detach() for name, p in self.named_parameters()}
        trained = [p for p in self.parameters() if p.requires_grad]
        one_each = torch.ones(self.batch.replicas, dtype=self.batch.dtype, device=self.device)
        for _ in range(min(self.steps_per_epoch, self.max_steps - self.step)):
            for layer in self._dropouts:
                layer.step = self.step
            for parameter in trained:
                parameter.grad = None
            loss = self.loss(self(final=False), self.batch)
            # The gradient of the sum: no replica's loss depends on another's parameters.
            loss.backward(one_each)
            optimizer.step()
            self.steps.project()
            evaluation = self.evaluate() if self._evaluation_due(self.step + 1) else None
            improved = self.progress.record(loss.detach(), evaluation)
            if improved:
                copy_replicas(parameters, self.best, improved)
        if self.finished:
            self.trainer.should_stop = True

    def _evaluation_due(self, step: int) -> bool:
        return step % self.eval_every == 0 or step in (1, self.max_steps)

    @torch.inference_mode()
    def evaluate(self) -> Tensor:
        """Loss (R,) without dropout."""
        self._set_training(False)
        loss: Tensor = self.loss(self(final=False), self.batch)
        self._set_training(True)
        return loss

    def _set_training(self, training: bool) -> None:
        # What `train()` does, for the encoder alone: nothing else differs between the two modes.
        for layer in self._layers:
            layer.training = training

    @torch.no_grad()
    def restore_best(self) -> None:
        """Give every replica the parameters of its lowest evaluation loss."""
        everyone = range(self.batch.replicas)
        copy_replicas(self.best, dict(self.named_parameters()), everyone)

    @torch.no_grad()
    def predict(self) -> Tensor:
        """Final angles (R, n, k) in float64, without dropout."""
        self.eval()
        return self(final=True).double().cpu()

    def status(self) -> list[Status]:
        """How each replica ended."""
        return self.progress.status()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the per-replica state beside the parameters."""
        checkpoint["gnnsync"] = {"best": self.best, "progress": self.progress.state()}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Bring the per-replica state back."""
        state = checkpoint["gnnsync"]
        self.best = state["best"]
        self.progress.load(state["progress"])
