"""What every data set offers: networks drawn from seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gnnsync.data.lazy import lightning_names
from gnnsync.data.maps import Reconstruction
from gnnsync.errors import ParameterError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution

__getattr__ = lightning_names(__name__, "SyncDataModule")


class Networks:
    """A list of measurement graphs, one per network seed, each with k groups of angles.

    A subclass implements `make_graph`; everything else follows. This class needs neither torch nor
    Lightning; `gnnsync.data.datamodules` has the same data sets as LightningDataModules.

    Args:
        k: number of groups (sets of angles).
        seeds: network seeds; network i is drawn from `seeds[i]` alone.
    """

    def __init__(self, k: int = 1, seeds: Sequence[int] = (10, 20, 30, 40, 50)) -> None:
        super().__init__()  # a LightningDataModule, in the subclasses that are one
        self.k = check_integer("k", k, 1)
        if isinstance(seeds, str) or not isinstance(seeds, Iterable) or not len(seeds):
            raise ParameterError("seeds", seeds, "a list of whole numbers, such as [10,20]")
        self.seeds = [check_integer("seeds", seed, 0) for seed in seeds]
        if len(set(self.seeds)) < len(self.seeds):
            raise ParameterError("seeds", self.seeds, "distinct")
        self._graphs: list[MeasurementGraph] | None = None

    @property
    def graphs(self) -> list[MeasurementGraph]:
        """The networks, drawn at first use."""
        if self._graphs is None:
            self._graphs = [self.make_graph(seed) for seed in self.seeds]
        return self._graphs

    def make_graph(self, seed: int) -> MeasurementGraph:
        """The network of this seed."""
        raise NotImplementedError

    def setup(self, stage: str | None = None) -> None:
        """Draw the networks; may be called any number of times."""
        _ = self.graphs

    def describe(self) -> dict[str, Any]:
        """What identifies these data in a result row, as flat names and plain values."""
        return {"k": self.k}

    def reconstruct(self, network: int, solution: Solution) -> Reconstruction | None:
        """What the angles of a solution give, such as a map; None if these data have no such thing.

        Its columns are added to the result row, its figures drawn into the folder of the job.
        """
        return None
