"""Numbered batches of the stream, drawn in worker processes, and the batches of held-out cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from gnnsync.data.stream.draw import MOST_SEED, GraphLaw, numbered_graph
from gnnsync.data.stream.held_out import Cell, HeldOutNetworks, group_numbers
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.inductive.batch import GraphBatch, collate
from gnnsync.methods.robust.unrolled.start import PreparedGraph, prepare
from gnnsync.typing import FloatArray

NamedBatch = tuple[GraphBatch, list[str]]
"""A batch and the name of the cell of each of its graphs."""

# Fourth words of the entropy of generators, see `numbered_graph`: for the number of groups of a
# batch, for the preparation of a graph of training and for that of a held-out graph.
_GROUPS, _PREPARE, _PREPARE_HELD_OUT = 1, 2, 3
# Share of the nodes that are anchors, in graphs with anchors.
_LEAST_ANCHORED, _MOST_ANCHORED = 0.01, 0.3
# Batches that each worker process draws ahead.
_AHEAD = 2


class NumberedBatches(IterableDataset[GraphBatch]):
    """The endless sequence of training batches of one of R processes.

    Batch b of process r holds the graphs (bR + r)B, ..., (bR + r)B + B - 1 of the stream, with B
    the batch size: R processes see together what one process with batches of RB graphs sees. All
    graphs of batch b have the same number of groups, drawn from b alone, in all processes.

    In the worker processes of a DataLoader, worker w of W draws the batches w, w + W, ... from the
    first on. The loader takes from them in turn, so that the order of the batches does not depend
    on W.

    Args:
        law: of the graphs.
        seed: of the stream.
        batch_size: graphs per batch and process, B.
        anchored: share of the graphs with k = 1 in which some true angles are known.
        rank: number r of this process.
        world_size: number R of processes.
        first: number of the first batch.
    """

    def __init__(
        self,
        law: GraphLaw,
        seed: int,
        batch_size: int,
        *,
        anchored: float = 0.0,
        rank: int = 0,
        world_size: int = 1,
        first: int = 0,
    ) -> None:
        super().__init__()
        self.law = law
        self.seed = check_integer("seed", seed, 0, MOST_SEED)
        self.batch_size = check_integer("batch_size", batch_size, 1)
        self.anchored = check_real("anchored", anchored, 0, 1)
        self.world_size = check_integer("world_size", world_size, 1)
        self.rank = check_integer("rank", rank, 0, world_size - 1)
        self.first = check_integer("first", first, 0)

    def __iter__(self) -> Iterator[GraphBatch]:
        """Batches `first`, `first` + 1, ..., or every W-th of them in a worker process."""
        info = get_worker_info()
        number, step = (self.first, 1) if info is None else (self.first + info.id, info.num_workers)
        while True:
            yield self.batch(number)
            number += step

    def groups(self, number: int) -> int:
        """Number of groups of the graphs of a batch."""
        return self.law.draw_groups(_generator(self.seed, number, _GROUPS))

    def graphs(self, number: int) -> list[MeasurementGraph]:
        """The graphs of a batch."""
        k = self.groups(number)
        return [numbered_graph(self.law, self.seed, i, k) for i in self._numbers(number)]

    def batch(self, number: int) -> GraphBatch:
        """The graphs of a batch, prepared."""
        graphs = zip(self._numbers(number), self.graphs(number), strict=True)
        return collate([self._prepared(i, graph) for i, graph in graphs])

    def _numbers(self, batch: int) -> range:
        first = (batch * self.world_size + self.rank) * self.batch_size
        return range(first, first + self.batch_size)

    def _prepared(self, number: int, graph: MeasurementGraph) -> PreparedGraph:
        rng = _generator(self.seed, number, _PREPARE)
        known = None
        if _truth(graph).shape[1] == 1 and rng.random() < self.anchored:
            share = np.exp(rng.uniform(np.log(_LEAST_ANCHORED), np.log(_MOST_ANCHORED)))
            held = rng.random(graph.num_nodes) < share
            held[rng.integers(graph.num_nodes)] = True
            known = np.where(held[:, None], _truth(graph), np.nan)
        return prepare(graph, _truth(graph).shape[1], rng=rng, known=known)


class BatchStream:
    """A loader of consecutive batches: every iteration goes on where the last one stopped.

    It has a length, so that a Trainer knows the last batch of an epoch without fetching the next
    one, and `position` is the number of batches that the Trainer has had. The worker processes
    live across epochs and draw ahead; what they have drawn ahead does not count.

    Args:
        batches: the sequence; its `first` is where the stream begins.
        batches_per_epoch: length of an epoch.
        num_workers: worker processes; 0 draws in this process.
    """

    def __init__(
        self, batches: NumberedBatches, batches_per_epoch: int, num_workers: int = 0
    ) -> None:
        self.batches, self.position = batches, batches.first
        self.batches_per_epoch = check_integer("batches_per_epoch", batches_per_epoch, 1)
        self.num_workers = check_integer("num_workers", num_workers, 0)
        self._source: Iterator[GraphBatch] | None = None

    def __len__(self) -> int:
        return self.batches_per_epoch

    def __iter__(self) -> Iterator[GraphBatch]:
        for _ in range(self.batches_per_epoch):
            if self._source is None:
                self._source = self._start()
            batch = next(self._source)
            self.position += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        """The position; Lightning asks a loader that can be resumed for it."""
        return {"position": self.position}

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        """Continue at the position of a `state_dict`."""
        self.close()
        self.position = check_integer("position", state_dict["position"], 0)

    def close(self) -> None:
        """End the worker processes; the next iteration starts new ones."""
        self._source = None

    def _start(self) -> Iterator[GraphBatch]:
        self.batches.first = self.position
        ahead = _AHEAD if self.num_workers else None
        return iter(
            DataLoader(
                self.batches, batch_size=None, num_workers=self.num_workers, prefetch_factor=ahead
            )
        )


@dataclass(frozen=True)
class HeldOutBatches:
    """A loader of the same batches in every epoch, one per cell."""

    batches: Sequence[NamedBatch]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[NamedBatch]:
        return iter(self.batches)


def held_out_batches(cells: Sequence[Cell]) -> HeldOutBatches:
    """One batch per cell, with the name of the cell beside each of its graphs."""
    found: list[NamedBatch] = []
    for k in group_numbers(cells):
        data = HeldOutNetworks(k=k, cells=cells)
        for name, numbers in data.cells:
            prepared = [
                prepare(data.graphs[i], k, rng=_generator(data.seeds[i], 0, _PREPARE_HELD_OUT))
                for i in numbers
            ]
            found.append((collate(prepared), [name] * len(prepared)))
    return HeldOutBatches(found)


def _generator(seed: int, number: int, purpose: int) -> np.random.Generator:
    high, low = divmod(number, 2**32)
    return np.random.default_rng([seed, low, high, purpose])


def _truth(graph: MeasurementGraph) -> FloatArray:
    assert graph.angles is not None
    return graph.angles
