"""Fixed validation and test sets: cells of networks that training never sees.

Validation cells have families and laws of training at fixed sizes and noise. Test cells have
families, noise or angles that training never draws. Both are drawn from generators that no
training seed has.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gnnsync.data.base import Networks
from gnnsync.data.stream.families import FAMILIES
from gnnsync.data.stream.laws import INLIER_LAWS, OUTLIER_LAWS, PRIORS, measured
from gnnsync.data.stream.unseen import UNSEEN_FAMILIES, UNSEEN_INLIER_LAWS, UNSEEN_PRIORS
from gnnsync.errors import ParameterError, check_choice, check_integer, check_real
from gnnsync.graph import MeasurementGraph

ALL_FAMILIES = {**FAMILIES, **UNSEEN_FAMILIES}
ALL_INLIER_LAWS = {**INLIER_LAWS, **UNSEEN_INLIER_LAWS}
ALL_PRIORS = {**PRIORS, **UNSEEN_PRIORS}

# Fourth word of the entropy of held-out graphs; graphs of training have none.
HELD_OUT = 0x48454C44
# A cell has less than this many networks: network i has the seed of its cell plus i.
MOST_NETWORKS = 1000


@dataclass(frozen=True)
class Cell:
    """Networks of one kind.

    Args:
        name: what a table calls the cell; the networks are drawn from it.
        family: name of a family.
        n: number of nodes.
        degree: mean degree.
        eta: outlier fraction η.
        sigma: scale σ of the inliers' noise.
        k: number of groups.
        inliers: name of the law of the inliers' noise.
        outliers: name of the law of the outliers.
        prior: name of the law of the true angles.
        networks: how many networks.
    """

    name: str
    family: str
    n: int
    degree: float
    eta: float
    sigma: float
    k: int = 1
    inliers: str = "normal"
    outliers: str = "uniform"
    prior: str = "uniform"
    networks: int = 4

    def __post_init__(self) -> None:
        check_choice("family", self.family, ALL_FAMILIES)
        check_choice("inliers", self.inliers, ALL_INLIER_LAWS)
        check_choice("outliers", self.outliers, OUTLIER_LAWS)
        check_choice("prior", self.prior, ALL_PRIORS)
        check_integer("n", self.n, 2)
        check_real("degree", self.degree, 1, self.n - 1)
        check_real("eta", self.eta, 0, 1)
        check_real("sigma", self.sigma, 0)
        check_integer("k", self.k, 1)
        check_integer("networks", self.networks, 1, MOST_NETWORKS)

    @property
    def seeds(self) -> list[int]:
        """One seed per network; they depend on the name alone."""
        first = MOST_NETWORKS * (zlib.crc32(self.name.encode()) % 1_000_000)
        return list(range(first, first + self.networks))

    def draw(self, seed: int) -> MeasurementGraph:
        """The network of one of the seeds."""
        rng = np.random.default_rng([seed, 0, 0, HELD_OUT])
        pairs = ALL_FAMILIES[self.family](self.n, self.degree, rng)
        return measured(
            pairs,
            ALL_PRIORS[self.prior](self.n, self.k, rng),
            self.eta,
            self.sigma,
            inlier_law=ALL_INLIER_LAWS[self.inliers],
            outlier_law=OUTLIER_LAWS[self.outliers],
            rng=rng,
        )


VALIDATION: tuple[Cell, ...] = (
    Cell("er n250 d40 eta.75 s.1", "erdos_renyi", 250, 40, 0.75, 0.1),
    Cell("er n250 d40 eta.6 s.3", "erdos_renyi", 250, 40, 0.6, 0.3, prior="gamma"),
    Cell("er n500 d14 eta.5 s.1", "erdos_renyi", 500, 14, 0.5, 0.1, prior="normal_iid"),
    Cell("er n150 d20 eta.6 exact", "erdos_renyi", 150, 20, 0.6, 0.0, inliers="exact"),
    Cell("er n250 d30 eta.6 laplace", "erdos_renyi", 250, 30, 0.6, 0.15, inliers="laplace"),
    Cell("er n250 d40 eta.7 second", "erdos_renyi", 250, 40, 0.7, 0.1, outliers="second_solution"),
    Cell("ba n250 d40 eta.75 s.1", "barabasi_albert", 250, 40, 0.75, 0.1),
    Cell("ba n400 d16 eta.5 s.2", "barabasi_albert", 400, 16, 0.5, 0.2, prior="normal_blocks"),
    Cell("rgg n300 d60 eta.75 s.1", "random_geometric", 300, 60, 0.75, 0.1),
    Cell("rgg n300 d40 eta.6 s.1", "random_geometric", 300, 40, 0.6, 0.1, prior="gamma"),
    Cell("rgg n200 d20 eta.3 s.2", "random_geometric", 200, 20, 0.3, 0.2),
    Cell("rgg n300 d50 eta.6 exact", "random_geometric", 300, 50, 0.6, 0.0, inliers="exact"),
    Cell("small world n250 d20 eta.5 s.1", "small_world", 250, 20, 0.5, 0.1),
    Cell("grid n225 d12 eta.3 s.1", "grid", 225, 12, 0.3, 0.1),
    Cell("closures n250 d12 eta.3 s.05", "loop_closures", 250, 12, 0.3, 0.05),
    Cell("maps n250 d20 eta.4 s.1", "map_patches", 250, 20, 0.4, 0.1),
    Cell("er n250 d40 eta.3 s.1 k2", "erdos_renyi", 250, 40, 0.3, 0.1, k=2),
    Cell("rgg n250 d50 eta.2 s.1 k2", "random_geometric", 250, 50, 0.2, 0.1, k=2),
    Cell("er n250 d45 eta.2 s.1 k3", "erdos_renyi", 250, 45, 0.2, 0.1, k=3, prior="gamma"),
    Cell("rgg n250 d60 eta.1 s.1 k3", "random_geometric", 250, 60, 0.1, 0.1, k=3),
    Cell("er n250 d60 eta.15 s.1 k4", "erdos_renyi", 250, 60, 0.15, 0.1, k=4),
)
"""Cells of the validation set: what training sees, at sizes and noise fixed here."""

TEST: tuple[Cell, ...] = (
    Cell("regular n300 d20 eta.6 s.1", "random_regular", 300, 20, 0.6, 0.1),
    Cell("regular n600 d40 eta.75 s.2", "random_regular", 600, 40, 0.75, 0.2, prior="gamma"),
    Cell("communities n300 d30 eta.6 s.1", "communities", 300, 30, 0.6, 0.1),
    Cell(
        "communities n300 d40 eta.6 von mises", "communities", 300, 40, 0.6, 0.1, prior="von_mises"
    ),
    Cell("ring n200 d40 eta.5 s.1", "ring_lattice", 200, 40, 0.5, 0.1),
    Cell("bipartite n300 d30 eta.6 s.1", "bipartite", 300, 30, 0.6, 0.1),
    Cell("bipartite n300 d30 eta.6 student 2", "bipartite", 300, 30, 0.6, 0.1, inliers="student_2"),
    Cell("neighbours n400 d24 eta.5 s.1", "nearest_neighbours_3d", 400, 24, 0.5, 0.1),
    Cell("neighbours n400 d50 eta.7 s.1", "nearest_neighbours_3d", 400, 50, 0.7, 0.1),
    Cell(
        "neighbours n400 d40 eta.6 exact", "nearest_neighbours_3d", 400, 40, 0.6, 0, inliers="exact"
    ),
    Cell("er n900 d30 eta.7 von mises", "erdos_renyi", 900, 30, 0.7, 0.1, prior="von_mises"),
    Cell("er n300 d30 eta.6 student 2", "erdos_renyi", 300, 30, 0.6, 0.1, inliers="student_2"),
    Cell("rgg n900 d60 eta.7 s.1", "random_geometric", 900, 60, 0.7, 0.1),
    Cell("regular n300 d40 eta.3 s.1 k2", "random_regular", 300, 40, 0.3, 0.1, k=2),
    Cell("communities n300 d50 eta.2 s.1 k3", "communities", 300, 50, 0.2, 0.1, k=3),
    Cell("regular n300 d60 eta.15 s.1 k4", "random_regular", 300, 60, 0.15, 0.1, k=4),
)
"""Cells of the test set: each has a family, a law or a size that training never sees."""

SETS: Mapping[str, tuple[Cell, ...]] = {"validation": VALIDATION, "test": TEST}


class HeldOutNetworks(Networks):
    """The networks of the cells with k groups, cell after cell.

    Args:
        split: `validation` or `test`.
        k: number of groups; cells with another number are left out.
        names: names of the cells to keep, or None for all of them.
        cells: other cells in place of those of `split`.
    """

    def __init__(
        self,
        split: str = "validation",
        k: int = 1,
        names: Sequence[str] | None = None,
        cells: Sequence[Cell] | None = None,
    ) -> None:
        self.split = check_choice("split", split, SETS)
        listed = SETS[split] if cells is None else tuple(cells)
        fitting = [cell for cell in listed if cell.k == check_integer("k", k, 1)]
        if names is not None:
            for name in names:
                check_choice("names", name, [cell.name for cell in fitting])
            fitting = [cell for cell in fitting if cell.name in set(names)]
        if not fitting:
            raise ParameterError("k", k, f"a number of groups that cells of {split} have")
        self._of_seed = {seed: cell for cell in fitting for seed in cell.seeds}
        self._kept = fitting
        super().__init__(k=k, seeds=[seed for cell in fitting for seed in cell.seeds])

    @property
    def cells(self) -> list[tuple[str, range]]:
        """Name of each cell and the numbers of its networks in `graphs`."""
        last = np.cumsum([cell.networks for cell in self._kept]).tolist()
        return [
            (cell.name, range(end - cell.networks, end))
            for cell, end in zip(self._kept, last, strict=True)
        ]

    def make_graph(self, seed: int) -> MeasurementGraph:
        """The network of this seed, one of `seeds`."""
        if seed not in self._of_seed:
            raise ParameterError("seed", seed, "one of the seeds of the kept cells")
        return self._of_seed[seed].draw(seed)

    def describe(self) -> dict[str, Any]:
        """Set and cell; the parameters of the cell if there is only one."""
        names = [cell.name for cell in self._kept]
        about = asdict(self._kept[0]) if len(names) == 1 else {}
        about.pop("name", None)
        return {"graph": self.split, "cell": ", ".join(names), "k": self.k, **about}


def group_numbers(cells: Sequence[Cell]) -> list[int]:
    """The different numbers of groups of the cells, ascending."""
    return sorted({cell.k for cell in cells})
