"""The best parameters of every replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from pytorch_lightning import LightningModule, Trainer
from torch import Tensor

from gnnsync.learn.callbacks.base import InnerStep, ReplicaCallback
from gnnsync.learn.replicas import copy_replicas

if TYPE_CHECKING:
    from gnnsync.learn.module import SyncModule


class BestState(ReplicaCallback):
    """Keep the parameters of each replica's lowest evaluation loss, and restore them at the end.

    Without this callback the parameters of the last step are used.
    """

    def __init__(self) -> None:
        self.parameters: dict[str, Tensor] = {}
        self._current: dict[str, Tensor] = {}

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The initial state counts as the best until a step improves it."""
        self._current = {name: p.detach() for name, p in pl_module.named_parameters()}
        if not self.parameters:
            self.parameters = {name: p.clone() for name, p in self._current.items()}
        self.parameters = {k: value.to(pl_module.device) for k, value in self.parameters.items()}

    def on_inner_step_end(self, pl_module: SyncModule, result: InnerStep) -> None:
        """Copy the parameters of the replicas that improved."""
        if result.improved:
            copy_replicas(self._current, self.parameters, result.improved)

    @torch.no_grad()
    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Give every replica its best parameters."""
        module: Any = pl_module
        current = dict(pl_module.named_parameters())
        copy_replicas(self.parameters, current, range(module.replicas))

    def state_dict(self) -> dict[str, Any]:
        """The best parameters, for a checkpoint."""
        return {"parameters": self.parameters}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.parameters = dict(state_dict["parameters"])
