"""The training of the inductive network as a LightningModule with automatic optimization."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from pytorch_lightning import LightningModule
from pytorch_lightning.core.optimizer import LightningOptimizer
from torch import Tensor
from torch.optim import Optimizer

from gnnsync.learn.inductive.batch import GraphBatch
from gnnsync.learn.inductive.network import UnrolledPropagation
from gnnsync.learn.inductive.training.loss import InductiveLoss, directions, graph_mse
from gnnsync.learn.inductive.weights import network_arguments
from gnnsync.learn.module import OptimizerFactory, SchedulerFactory
from gnnsync.learn.single_thread import single_torch_thread

log = logging.getLogger(__name__)

# A batch of a validation or test loader: graphs, and the name of the cell of each.
NamedBatch = tuple[GraphBatch, Sequence[str]]


class InductiveModule(LightningModule):
    """Network, loss, optimizer and scheduler.

    Training batches are `GraphBatch`es; batches of validation and test are pairs of one and the
    names of its graphs' cells. Logged are, at every step, `loss/train` and its parts; at every
    validation `loss/validation`, `mse/validation` (means over cells) and `mse/validation/CELL`,
    and the same with `test`.

    With several processes the loss is the mean over the graphs of all of them: the gradient is
    that of one process with all their graphs in one batch.

    Args:
        network: what is trained.
        loss: terms of every graph.
        optimizer: makes the optimizer from the parameters.
        scheduler: makes the learning-rate scheduler, stepped once per optimizer step; None for a
            constant rate.
    """

    def __init__(
        self,
        network: UnrolledPropagation,
        loss: InductiveLoss,
        optimizer: OptimizerFactory,
        scheduler: SchedulerFactory | None = None,
    ) -> None:
        super().__init__()
        self.network, self.loss = network, loss
        self.make_optimizer, self.make_scheduler = optimizer, scheduler
        self.skipped = 0
        self._cells = CellMeans()

    @property
    def budget(self) -> int | None:
        """Optimizer steps of the whole run; None if only time or a callback ends it."""
        steps = self.trainer.max_steps
        return steps if steps >= 0 else None

    def configure_optimizers(self) -> Any:
        """The configured optimizer over all parameters, and the scheduler if there is one."""
        optimizer = self.make_optimizer(self.network.parameters())
        if self.make_scheduler is None:
            return optimizer
        scheduler = {"scheduler": self.make_scheduler(optimizer), "interval": "step"}
        return {"optimizer": optimizer, "lr_scheduler": scheduler}

    def training_step(self, batch: GraphBatch, batch_idx: int) -> Tensor:
        """The loss of a batch, scaled so that the mean over processes is that over graphs."""
        batch, share = self._with_others(batch)
        # Not the further sweeps for k > 2: the layers are stretched over them when solving.
        states = self.network(batch, self.network.num_layers + batch.sweeps)
        terms = self.loss(states, batch, self.network)
        means = {name: value.mean() for name, value in terms.items()}
        named = {f"train/{name}": value for name, value in means.items() if name != "loss"}
        self.log_dict({"loss/train": means["loss"], **named}, batch_size=batch.num_graphs)
        return means["loss"] * share

    def validation_step(self, batch: NamedBatch, batch_idx: int) -> None:
        """Loss and MSE of every graph, kept by cell."""
        self._cells.add(self.network, self.loss, *batch)

    def on_validation_epoch_end(self) -> None:
        """Log the means over cells, and the MSE of each."""
        self._log_cells("validation")

    def test_step(self, batch: NamedBatch, batch_idx: int) -> None:
        """As in validation."""
        self._cells.add(self.network, self.loss, *batch)

    def on_test_epoch_end(self) -> None:
        """As in validation."""
        self._log_cells("test")

    def optimizer_step(
        self,
        epoch: int,
        batch_idx: int,
        optimizer: Optimizer | LightningOptimizer,
        optimizer_closure: Callable[[], Any] | None = None,
    ) -> None:
        """Loss, gradient and step, on a CPU in one thread: in every process of a training."""
        with single_torch_thread():
            super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        """Skip a step whose gradient is not finite: parameters without a gradient do not move.

        The gradient is that of all processes, so that all skip the same steps.
        """
        found = [p.grad for p in self.network.parameters() if p.grad is not None]
        if torch.isfinite(torch.nn.utils.get_total_norm(found)):
            return
        optimizer.zero_grad(set_to_none=True)
        if not self.skipped:
            step = self.global_step
            log.warning("step %d is skipped: its gradient is not finite; said only once", step)
        self.skipped += 1

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add what `load_weights` needs to build the network."""
        checkpoint["network"] = network_arguments(self.network)

    def _with_others(self, batch: GraphBatch) -> tuple[GraphBatch, float | Tensor]:
        """The batch with the sweeps that all processes take, and its share of the loss.

        The share is the number of its graphs relative to the mean over processes.
        """
        if self.trainer.world_size == 1:
            return batch, 1.0
        graphs = torch.tensor(float(batch.num_graphs), device=self.device)
        sweeps = torch.tensor(batch.sweeps, device=self.device)
        dist.all_reduce(graphs)
        dist.all_reduce(sweeps, dist.ReduceOp.MAX)
        share = batch.num_graphs * self.trainer.world_size / graphs
        return replace(batch, sweeps=int(sweeps)), share

    def _log_cells(self, stage: str) -> None:
        table = self._cells.means()
        self._cells = CellMeans()
        if not table:
            return
        for name in ("loss", "mse"):
            mean = sum(row[name] for row in table.values()) / len(table)
            self.log(f"{name}/{stage}", mean, rank_zero_only=True)
        each = {f"mse/{stage}/{cell}": row["mse"] for cell, row in table.items()}
        self.log_dict(each, rank_zero_only=True)


class CellMeans:
    """Mean loss and MSE of a network on the graphs of every cell."""

    def __init__(self) -> None:
        self._rows: dict[str, list[dict[str, float]]] = defaultdict(list)

    @single_torch_thread()
    @torch.no_grad()
    def add(
        self,
        network: UnrolledPropagation,
        loss: InductiveLoss,
        batch: GraphBatch,
        names: Sequence[str],
    ) -> None:
        """Evaluate a batch; `names` has the cell of every graph."""
        states = network(batch)
        terms = loss(states, batch, network)
        start = torch.ones_like(directions(network, states[-1]))
        values = torch.stack([terms["loss"], terms["mse"], graph_mse(start, batch)[0]], dim=1)
        for name, (total, mse, initial) in zip(names, values.tolist(), strict=True):
            self._rows[name].append({"loss": total, "mse": mse, "mse_start": initial})

    def means(self) -> dict[str, dict[str, float]]:
        """By cell: number of `graphs`, means of `loss`, `mse` and `mse_start`, the initial MSE."""
        table = {}
        for name, rows in self._rows.items():
            means = {key: sum(row[key] for row in rows) / len(rows) for key in rows[0]}
            table[name] = {"graphs": float(len(rows)), **means}
        return table
