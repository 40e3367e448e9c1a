"""SyncModule: features → encoder → head → steps → loss, trained by Lightning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from pytorch_lightning import LightningModule
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from gnnsync.errors import check_integer
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.learn.callbacks.base import InnerStep, ReplicaCallback, callbacks_of
from gnnsync.learn.encoders.base import Encoder
from gnnsync.learn.head import Head
from gnnsync.learn.replicas import ReplicaDropout, finite_mean
from gnnsync.learn.steps import Steps
from gnnsync.metrics import angular_mse
from gnnsync.work import advance, time_is_up

OptimizerFactory = Callable[[Iterable[nn.Parameter]], Optimizer]
SchedulerFactory = Callable[[Optimizer], LRScheduler]

_EVALUATION = "loss/evaluation"


class SyncModule(LightningModule):
    """R independent GNNSync models trained side by side; the graphs come with the batch.

    One call of `training_step` is a macro-step of `inner_steps` optimizer steps on the same batch,
    and one epoch has one batch. Lightning's cost per batch (about 1.7 ms) exceeds that of a step
    at n = 360, and there is nothing to iterate over. `trainer.global_step` counts optimizer steps,
    `trainer.max_steps` is never exceeded, hooks around the optimizer step are called for each of
    them, and everything else of Lightning (logging, stock callbacks) happens per macro-step.

    The losses of the replicas are summed and so never mix. Stopping, best state and history are
    callbacks (`gnnsync.learn.callbacks`).

    Args:
        replicas: R.
        encoder, head, steps: the network.
        loss: angles (R, n, k) and batch → (R,).
        optimizer: makes the optimizer from the parameters.
        scheduler: makes the learning-rate scheduler, stepped once per optimizer step
            (`ReduceLROnPlateau`: once per evaluation); None for a constant rate.
        inner_steps: optimizer steps per macro-step.
        eval_every: steps between evaluations; the first and the last step are always evaluated.
    """

    def __init__(
        self,
        replicas: int,
        encoder: Encoder,
        head: Head,
        steps: Steps,
        loss: nn.Module,
        optimizer: OptimizerFactory,
        scheduler: SchedulerFactory | None = None,
        inner_steps: int = 50,
        eval_every: int = 10,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.replicas = replicas
        self.encoder, self.head, self.steps, self.loss = encoder, head, steps, loss
        self.make_optimizer, self.make_scheduler = optimizer, scheduler
        self.inner_steps = check_integer("inner_steps", inner_steps, 1)
        self.eval_every = check_integer("eval_every", eval_every, 1)
        self._dropouts = [m for m in self.modules() if isinstance(m, ReplicaDropout)]
        self._layers = list(encoder.modules())
        self._evaluation: Tensor | None = None

    @property
    def groups(self) -> int:
        """k."""
        return self.head.vector.shape[1]

    @property
    def budget(self) -> int | None:
        """Optimizer steps of the whole run; None if only time or a callback ends it.

        The smaller of `max_steps` and `max_epochs` macro-steps; -1 is no limit.
        """
        steps, epochs = self.trainer.max_steps, self.trainer.max_epochs
        limits = [steps, -1 if epochs is None else epochs * self.inner_steps]
        return min((limit for limit in limits if limit >= 0), default=None)

    def forward(self, batch: ReplicaBatch, final: bool = True) -> Tensor:
        """Angles (R, n, k); with `final` the steps are taken even if they are not trained with."""
        assert batch.features is not None, "the batch has no features"
        scores = self.encoder.scores(batch.features, self.head.vector, batch)
        angles = self.head.angles(scores, batch.features)
        if final or self.steps.in_training:
            angles = self.steps(angles, batch)
        return angles

    def configure_optimizers(self) -> Any:
        """The configured optimizer over all parameters, and the scheduler if there is one."""
        optimizer = self.make_optimizer(p for p in self.parameters() if p.requires_grad)
        if self.make_scheduler is None:
            return optimizer
        scheduler = {"scheduler": self.make_scheduler(optimizer), "interval": "step"}
        return {"optimizer": optimizer, "lr_scheduler": scheduler}

    def training_step(self, batch: ReplicaBatch, batch_idx: int) -> dict[str, Tensor]:
        """One macro-step: up to `inner_steps` optimizer steps, never beyond the budget."""
        optimizer: Any = self.optimizers()
        scheduler: Any = self.lr_schedulers()
        listeners = [c for c in callbacks_of(self.trainer) if isinstance(c, ReplicaCallback)]
        trained = [p for p in self.parameters() if p.requires_grad]
        one_each = torch.ones(self.replicas, dtype=batch.dtype, device=batch.device)
        first, budget = self.trainer.global_step, self.budget
        last = first + self.inner_steps if budget is None else min(first + self.inner_steps, budget)
        for step in range(first + 1, last + 1):
            for layer in self._dropouts:
                layer.step = step - 1
            for parameter in trained:
                parameter.grad = None
            loss = self.loss(self(batch, final=False), batch)
            # The gradient of the sum: no replica's loss depends on another's parameters.
            loss.backward(one_each)
            optimizer.step()
            self.steps.project()
            due = step % self.eval_every == 0 or step in (1, budget)
            evaluation = self.evaluate(batch) if due else None
            _step_scheduler(scheduler, evaluation)
            result = InnerStep(step, loss.detach(), evaluation)
            for listener in listeners:
                listener.on_inner_step_end(self, result)
            if evaluation is not None:
                self._evaluation = evaluation
            if budget:
                advance(step / budget)
            if time_is_up():
                self.trainer.should_stop = True
                break
        if self._evaluation is None:  # resumed, and no step of this macro-step was evaluated
            self._evaluation = self.evaluate(batch)
        return self._log_macro_step(loss.detach(), self._evaluation)

    def _log_macro_step(self, train: Tensor, evaluation: Tensor) -> dict[str, Tensor]:
        """Publish the last losses of a macro-step to callbacks; `LossCurve` serves the loggers."""
        means = {"loss/train": finite_mean(train), _EVALUATION: finite_mean(evaluation)}
        values: dict[str, Any] = {**means, "step": float(self.trainer.global_step)}
        self.log_dict(values, on_step=True, on_epoch=False, logger=False, batch_size=1)
        return {"loss": means["loss/train"], "train": train, "evaluation": evaluation}

    @torch.no_grad()
    def answer(self, batch: ReplicaBatch) -> Tensor:
        """Final angles (R, n, k) of the parameters as they are, outside of a Trainer."""
        # Not `inference_mode`: operators that the batch makes here are used in training later.
        self._set_training(False)
        angles = self.predict_step(batch)
        self._set_training(True)
        return angles

    @torch.no_grad()
    def evaluate(self, batch: ReplicaBatch) -> Tensor:
        """Loss (R,) without dropout."""
        # Not `inference_mode`, as in `answer`.
        self._set_training(False)
        loss: Tensor = self.loss(self(batch, final=False), batch)
        self._set_training(True)
        return loss

    def _set_training(self, training: bool) -> None:
        # What `train()` does, for the encoder alone: nothing else differs between the two modes.
        for layer in self._layers:
            layer.training = training

    def validation_step(self, batch: ReplicaBatch, batch_idx: int) -> None:
        """Log loss, and MSE where the truth is known."""
        self._log_quality(batch, "validation")

    def test_step(self, batch: ReplicaBatch, batch_idx: int) -> None:
        """Log loss, and MSE where the truth is known."""
        self._log_quality(batch, "test")

    def predict_step(self, batch: ReplicaBatch, batch_idx: int = 0) -> Tensor:
        """Final angles (R, n, k) in float64, without dropout."""
        return self(batch, final=True).double().cpu()

    def _log_quality(self, batch: ReplicaBatch, stage: str) -> None:
        loss: Tensor = self.loss(self(batch, final=False), batch)
        self.log(f"loss/{stage}", finite_mean(loss), batch_size=1)
        # Lightning's x-axis for the values logged with it, which else would count macro-steps.
        self.log("step", float(self.trainer.global_step), batch_size=1)
        angles = self.predict_step(batch).numpy()
        truths = [batch.graphs[r // batch.trials].angles for r in range(batch.replicas)]
        errors = [
            angular_mse(found, truth)
            for found, truth in zip(angles, truths, strict=True)
            if truth is not None and np.isfinite(found).all()
        ]
        if errors:
            self.log(f"mse/{stage}", float(np.mean(errors)), batch_size=1)


def _step_scheduler(scheduler: Any, evaluation: Tensor | None) -> None:
    if isinstance(scheduler, ReduceLROnPlateau):
        if evaluation is not None:
            scheduler.step(float(finite_mean(evaluation)))
    elif scheduler is not None:
        scheduler.step()
