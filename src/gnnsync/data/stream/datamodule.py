"""The stream and the held-out sets as a LightningDataModule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytorch_lightning import LightningDataModule

from gnnsync.data.stream.batches import (
    BatchStream,
    HeldOutBatches,
    NumberedBatches,
    held_out_batches,
)
from gnnsync.data.stream.draw import MOST_SEED, GraphLaw
from gnnsync.data.stream.held_out import TEST, VALIDATION, Cell
from gnnsync.errors import check_integer, check_real


class StreamDataModule(LightningDataModule):
    """Endless training batches, deterministic by seed and number, and fixed held-out batches.

    Training goes on where it stopped: the number of batches so far is part of a checkpoint, and a
    training that is resumed after s batches continues with batch s. A second `fit` with the same
    object continues the stream as well; make a new object to begin again.

    Every process draws its own part of the training batches, see `NumberedBatches`, and evaluates
    all held-out batches. Lightning adds no sampler, because the loaders are no DataLoaders.

    Args:
        law: of the graphs of training; `GraphLaw()` if None.
        seed: of the stream.
        batch_size: graphs per batch and process.
        max_edges_per_batch: bound on the edges of a batch times its number of groups. Every graph
            is bounded by its share of it, so that all batches have `batch_size` graphs. None
            leaves the bound of the law.
        batches_per_epoch: training batches between two validations, unless the Trainer says
            otherwise.
        anchored: share of the graphs with k = 1 in which some true angles are known.
        num_workers: processes that draw ahead; 0 draws between the steps.
        validation: cells of the validation set.
        test: cells of the test set.
    """

    def __init__(
        self,
        law: GraphLaw | None = None,
        seed: int = 0,
        batch_size: int = 8,
        max_edges_per_batch: int | None = None,
        batches_per_epoch: int = 500,
        anchored: float = 0.1,
        num_workers: int = 0,
        validation: Sequence[Cell] = VALIDATION,
        test: Sequence[Cell] = TEST,
    ) -> None:
        super().__init__()
        self.seed = check_integer("seed", seed, 0, MOST_SEED)
        self.batch_size = check_integer("batch_size", batch_size, 1)
        self.batches_per_epoch = check_integer("batches_per_epoch", batches_per_epoch, 1)
        self.anchored = check_real("anchored", anchored, 0, 1)
        self.num_workers = check_integer("num_workers", num_workers, 0)
        self.law = GraphLaw() if law is None else law
        if max_edges_per_batch is not None:
            share = check_integer("max_edges_per_batch", max_edges_per_batch, batch_size)
            bound = min(self.law.max_edges, share // batch_size)
            self.law = replace(self.law, max_edges=bound)
        self.validation, self.test = tuple(validation), tuple(test)
        self._position = 0
        self._stream: BatchStream | None = None
        self._held_out: dict[str, HeldOutBatches] = {}

    @property
    def position(self) -> int:
        """Number of training batches that have been taken so far."""
        return self._position if self._stream is None else self._stream.position

    def train_dataloader(self) -> BatchStream:
        """The batches of this process from `position` on."""
        trainer = self.trainer
        batches = NumberedBatches(
            self.law,
            self.seed,
            self.batch_size,
            anchored=self.anchored,
            rank=0 if trainer is None else trainer.global_rank,
            world_size=1 if trainer is None else trainer.world_size,
            first=self.position,
        )
        self._end_stream()
        self._stream = BatchStream(batches, self.batches_per_epoch, self.num_workers)
        return self._stream

    def val_dataloader(self) -> HeldOutBatches:
        """One batch per cell of the validation set."""
        return self._cells("validation", self.validation)

    def test_dataloader(self) -> HeldOutBatches:
        """One batch per cell of the test set."""
        return self._cells("test", self.test)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs to continue the stream."""
        return {"position": self.position}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue where the checkpoint was written."""
        self._end_stream()
        self._position = check_integer("position", state_dict["position"], 0)

    def teardown(self, stage: str) -> None:
        """End the worker processes."""
        self._end_stream()

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._position = self._stream.position
            self._stream.close()
            self._stream = None

    def _cells(self, split: str, cells: Sequence[Cell]) -> HeldOutBatches:
        # Prepared once: the spectral initialisation of a set takes some seconds.
        if split not in self._held_out:
            self._held_out[split] = held_out_batches(cells)
        return self._held_out[split]
