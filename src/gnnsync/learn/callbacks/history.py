"""Losses of every optimizer step and replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from pytorch_lightning import LightningModule, Trainer
from torch import Tensor

from gnnsync.learn.callbacks.base import InnerStep, ReplicaCallback

if TYPE_CHECKING:
    from gnnsync.learn.module import SyncModule


class History(ReplicaCallback):
    """Keep the training and evaluation losses (R,) of every step.

    A step without an evaluation repeats the last one. Added to every training.
    """

    def __init__(self) -> None:
        self.replicas = 0
        self.train: list[Tensor] = []
        self.evaluation: list[Tensor] = []

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Learn the number of replicas; forget an earlier run."""
        if stage == "fit":
            module: Any = pl_module
            self.replicas = module.replicas
            self.train, self.evaluation = [], []

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Bring the losses of a checkpoint to the device of those to come."""
        self.train = [losses.to(pl_module.device) for losses in self.train]
        self.evaluation = [losses.to(pl_module.device) for losses in self.evaluation]

    def on_inner_step_end(self, pl_module: SyncModule, result: InnerStep) -> None:
        """Append the losses of this step."""
        self.train.append(result.train)
        if result.evaluation is not None:
            self.evaluation.append(result.evaluation)
        elif self.evaluation:
            self.evaluation.append(self.evaluation[-1])
        else:
            self.evaluation.append(torch.full_like(result.train, torch.nan))

    def losses(self) -> dict[str, Tensor]:
        """Training and evaluation loss, (steps, R) each."""
        return {"train": self._stacked(self.train), "evaluation": self._stacked(self.evaluation)}

    def since(self, start: int) -> dict[str, list[Tensor]]:
        """Losses since step `start`, by name: (R,) per step."""
        return {"train": self.train[start:], "evaluation": self.evaluation[start:]}

    def state_dict(self) -> dict[str, Any]:
        """All losses, for a checkpoint."""
        return self.losses()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Bring the losses of a checkpoint back."""
        self.train = list(state_dict["train"])
        self.evaluation = list(state_dict["evaluation"])

    def _stacked(self, losses: list[Tensor]) -> Tensor:
        return torch.stack(losses).cpu() if losses else torch.empty(0, self.replicas)
