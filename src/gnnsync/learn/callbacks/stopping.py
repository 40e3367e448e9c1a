"""Early stopping, replica by replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytorch_lightning import LightningModule, Trainer

from gnnsync.errors import check_bool, check_integer
from gnnsync.learn.callbacks.base import InnerStep, ReplicaCallback
from gnnsync.learn.progress import ReplicaProgress

if TYPE_CHECKING:
    from gnnsync.learn.module import SyncModule


class ReplicaStopping(ReplicaCallback):
    """Stop a replica that no longer improves, or whose loss is no longer finite.

    A stopped replica keeps its best state and its step count; its parameters still take part in
    the joint computation, without effect on the others. The run ends after the macro-step in which
    the last replica stopped. Divergence and best losses are part of the results, so that every
    training has this callback; without one in the config it has `patience=None`.

    Args:
        patience: optimizer steps without a lower evaluation loss until a replica stops; None
            trains until the budget is spent.
        last_for_one_group: for k = 1 keep the last state and stop no replica but one that diverged.
            A slip of the released code: for k = 1 it evaluates the input features instead of the
            network, a constant, and an equal loss counts as an improvement.
    """

    def __init__(self, patience: int | None = 200, last_for_one_group: bool = False) -> None:
        if patience is not None:
            check_integer("patience", patience, 1)
        self.patience = patience
        self.last_for_one_group = check_bool("last_for_one_group", last_for_one_group)
        self.progress = ReplicaProgress(0, patience)

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Start the bookkeeping."""
        if stage == "fit":
            module: Any = pl_module
            keep_last = self.last_for_one_group and module.groups == 1
            self.progress = ReplicaProgress(module.replicas, self.patience, keep_last=keep_last)

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A resumed run whose replicas have all stopped takes no further step."""
        self._stop_if_done(trainer)

    def on_inner_step_end(self, pl_module: SyncModule, result: InnerStep) -> None:
        """Enter the losses; pass on which replicas improved."""
        result.improved = self.progress.record(result.train, result.evaluation)

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        """End the run when no replica is training."""
        self._stop_if_done(trainer)

    def state_dict(self) -> dict[str, Any]:
        """Best losses and who has stopped."""
        return self.progress.state()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.progress.load(state_dict)

    def _stop_if_done(self, trainer: Trainer) -> None:
        if not self.progress.num_running:
            trainer.should_stop = True
