"""What every data module offers: networks drawn from seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader

from gnnsync.errors import ParameterError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SyncDataModule(LightningDataModule):
    """A list of measurement graphs, one per network seed, each with k sets of angles.

    A subclass implements `make_graph`; everything else follows. `setup` is idempotent, so that
    Lightning, a job and a user may each call it.

    Args:
        k: number of sets of angles.
        seeds: network seeds; network i is drawn from `seeds[i]` alone.
    """

    def __init__(self, k: int = 1, seeds: Sequence[int] = (10, 20, 30, 40, 50)) -> None:
        super().__init__()
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
        """Draw the networks."""
        _ = self.graphs

    def train_dataloader(self) -> DataLoader[Any]:
        """One batch that holds all networks: training is on whole graphs."""
        return DataLoader(self.graphs, batch_size=len(self.graphs), collate_fn=list)  # type: ignore[arg-type]

    def describe(self) -> dict[str, Any]:
        """What identifies these data in a result row, as flat names and plain values."""
        return {"k": self.k}

    def extra_metrics(self, network: int, solution: Solution) -> dict[str, float]:
        """Metrics that only these data have (such as the error of a map), by name."""
        return {}

    def extra_arrays(self, network: int, solution: Solution) -> dict[str, FloatArray]:
        """What a solution means on these data (such as the stitched map), by name."""
        return {}

    def figures(self, network: int, solution: Solution) -> dict[str, Figure]:
        """Pictures that only these data have, by name."""
        return {}
