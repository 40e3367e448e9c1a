"""The best parameters of every replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from pytorch_lightning import LightningModule, Trainer
from torch import Tensor

from gnnsync.errors import GnnsyncError
from gnnsync.learn.callbacks.base import InnerStep, ReplicaCallback, callbacks_of
from gnnsync.learn.callbacks.stopping import ReplicaStopping
from gnnsync.learn.progress import ReplicaProgress
from gnnsync.learn.replicas import copy_replicas

if TYPE_CHECKING:
    from gnnsync.learn.module import SyncModule


class BestState(ReplicaCallback):
    """Keep the parameters of each replica's lowest evaluation loss, and restore them at the end.

    Without this callback the parameters of the last step are used. With a `ReplicaStopping`, which
    must come earlier in the Trainer's callbacks, a replica that has stopped keeps its state.
    """

    def __init__(self) -> None:
        self.parameters: dict[str, Tensor] = {}
        self._current: dict[str, Tensor] = {}
        # Lowest losses so far; `ReplicaStopping` keeps them if the Trainer has it.
        self._lowest = ReplicaProgress(0)

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Forget an earlier run."""
        if stage == "fit":
            module: Any = pl_module
            self.parameters, self._lowest = {}, ReplicaProgress(module.replicas)

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The initial state counts as the best until a step improves it."""
        callbacks = callbacks_of(trainer)
        if any(isinstance(c, ReplicaStopping) for c in callbacks[callbacks.index(self) :]):
            raise GnnsyncError("callbacks: ReplicaStopping must come before BestState")
        self._current = {name: p.detach() for name, p in pl_module.named_parameters()}
        if not self.parameters:
            self.parameters = {name: p.clone() for name, p in self._current.items()}
        self.parameters = {k: value.to(pl_module.device) for k, value in self.parameters.items()}

    def on_inner_step_end(self, pl_module: SyncModule, result: InnerStep) -> None:
        """Copy the parameters of the replicas that improved."""
        improved = result.improved
        if improved is None:
            improved = self._lowest.record(result.train, result.evaluation)
        if improved:
            copy_replicas(self._current, self.parameters, improved)

    @torch.no_grad()
    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Give every replica its best parameters."""
        module: Any = pl_module
        current = dict(pl_module.named_parameters())
        copy_replicas(self.parameters, current, range(module.replicas))

    def state_dict(self) -> dict[str, Any]:
        """The best parameters and their losses, for a checkpoint."""
        return {"parameters": self.parameters, "lowest": self._lowest.state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.parameters = dict(state_dict["parameters"])
        self._lowest.load(state_dict["lowest"])
