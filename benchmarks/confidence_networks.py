"""The networks on which confidence is fitted, and those on which it is checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.frontier import GRAPHS, PRIORS
from benchmarks.sparse_develop import develop_networks
from benchmarks.sparse_networks import sparse_networks
from gnnsync.data import LocalizationDataModule, SyntheticDataModule
from gnnsync.data.points import Letters
from gnnsync.graph import MeasurementGraph


@dataclass(frozen=True)
class Cloud:
    """Points drawn uniformly from an ellipse, or from a rectangle, `width` times as wide as high.

    Args:
        shape: `ellipse` or `rectangle`.
        n: number of points.
        seed: of the draw.
        width: relative to the height.
    """

    shape: str
    n: int
    seed: int
    width: float = 1.0

    @property
    def name(self) -> str:
        """Name in the table."""
        return self.shape

    def __call__(self) -> NDArray[np.float64]:
        """Points (n, 2)."""
        rng = np.random.default_rng(self.seed)
        if self.shape == "rectangle":
            return rng.uniform(0, 1, (self.n, 2)) * [self.width, 1.0]
        turn, radius = rng.uniform(0, 2 * np.pi, self.n), np.sqrt(rng.uniform(0, 1, self.n))
        return np.stack([self.width * radius * np.cos(turn), radius * np.sin(turn)], axis=1)


# graph, n, k, and then p, η, σ, angles and the first network seed; of maps points, η and seed.
# No weight was fitted on `held-out` and `maps`.
SETS: dict[str, list[Any]] = {
    "develop": [
        *(
            (
                graph,
                220,
                1,
                (0.06, 0.15),
                (0.2, 0.5, 0.7, 0.8),
                (0.0, 0.1, 0.25),
                ("gamma", "uniform"),
                901,
            )
            for graph in ("ero", "rggo", "bao")
        ),
        *(
            (
                "rggo",
                n,
                1,
                (0.06, 0.08, 0.11),
                (0.3, 0.45, 0.6),
                (0.1, 0.2, 0.3),
                ("uniform", "gamma"),
                first,
            )
            for n, first in ((200, 21001), (280, 22001))
        ),
        *(
            (points, (0.1, 0.2, 0.3, 0.35), first)
            for points, first in (
                (Letters("SYNC", 380, 5), 31001),
                (Cloud("ellipse", 350, 3), 32001),
                (Cloud("rectangle", 400, 4, width=2.5), 33001),
                (Letters("TOWN", 450, 8), 34001),
            )
        ),
    ],
    "held-out": [
        ("ero", 250, 1, (0.08, 0.2), (0.3, 0.6, 0.85), (0.0, 0.05, 0.2), ("normal_iid",), 5001),
        ("bao", 300, 1, (0.1,), (0.4, 0.7), (0.0, 0.15), ("uniform", "normal_rank1"), 6001),
        ("rggo", 300, 1, (0.07, 0.12), (0.3, 0.6), (0.0, 0.2), ("uniform", "gamma"), 7001),
        ("ero", 300, 2, (0.12,), (0.1, 0.4), (0.0, 0.05), ("uniform",), 8001),
        (
            "rggo",
            260,
            1,
            (0.065, 0.09),
            (0.3, 0.45, 0.6),
            (0.1, 0.2, 0.3),
            ("uniform", "normal_iid"),
            12001,
        ),
    ],
    "maps": [(Letters("PACM", 426, 0), (0.1, 0.15, 0.2, 0.25, 0.3), 9001)],
    # Made by `benchmarks.sparse_networks` and `benchmarks.sparse_develop`.
    "sparse": [],
    "sparse-develop": [],
}


def networks(name: str, count: int) -> Iterator[tuple[str, str, MeasurementGraph]]:
    """Kind, details and graph of every network of a set, `count` of each combination."""
    if name == "sparse":
        yield from sparse_networks(count)
    if name == "sparse-develop":
        yield from develop_networks(count)
    for entry in SETS[name]:
        yield from _map_networks(*entry, count) if len(entry) == 3 else _networks(*entry, count)


def _map_networks(
    points: Any, etas: tuple[float, ...], first: int, count: int
) -> Iterator[tuple[str, str, MeasurementGraph]]:
    for eta in etas:
        first += 10
        seeds = [first + i for i in range(count)]
        data = LocalizationDataModule(points, PRIORS["uniform"], eta=eta, seeds=seeds)
        for graph in data.graphs:
            yield f"map of {points.name} η={eta:g}", f"map of {points.name} {eta=}", graph


def _networks(
    graph: str, n: int, k: int, *grid_first_count: Any
) -> Iterator[tuple[str, str, MeasurementGraph]]:
    *grid, first, count = grid_first_count
    for p, eta, sigma, angles in product(*grid):
        first += 10
        data = SyntheticDataModule(
            GRAPHS[graph],
            PRIORS[angles],
            n=n,
            p=p,
            eta=eta,
            k=k,
            inlier_noise=sigma,
            seeds=[first + i for i in range(count)],
        )
        for network in data.graphs:
            yield f"{graph} k={k}", f"{graph} {n=} {k=} {p=} {eta=} {sigma=} {angles}", network
