"""The networks on which the inductive network is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.frontier import GRAPHS, PRIORS
from gnnsync.data import SyntheticNetworks
from gnnsync.graph import MeasurementGraph

# How `nearby` changes a case: fewer nodes, denser, fewer outliers.
_NODES, _DENSITY, _OUTLIERS = 0.88, 1.14, 0.95


@dataclass(frozen=True)
class Case:
    """Networks of one kind: graph model, n, p, η, σ, k and the prior of the angles."""

    graph: str
    n: int
    p: float
    eta: float
    sigma: float = 0.0
    k: int = 1
    prior: str = "gamma"

    @property
    def name(self) -> str:
        return (
            f"{self.graph} n={self.n} p={self.p:g} η={self.eta:g} σ={self.sigma:g} "
            f"k={self.k} {self.prior}"
        )

    def draw(self, seeds: Sequence[int]) -> list[MeasurementGraph]:
        """One network per seed."""
        return SyntheticNetworks(
            GRAPHS[self.graph],
            PRIORS[self.prior],
            n=self.n,
            p=self.p,
            eta=self.eta,
            k=self.k,
            inlier_noise=self.sigma,
            seeds=list(seeds),
        ).graphs

    def nearby(self) -> Case:
        """A case with other n, p and η but about the same n·p, to develop on."""
        return replace(
            self,
            n=round(_NODES * self.n),
            p=round(_DENSITY * self.p, 4),
            eta=round(_OUTLIERS * self.eta, 3),
        )


# Noisy inliers: Erdős–Rényi and Barabási–Albert graphs of 100 to 3,000 nodes, every prior.
NOISY = (
    Case("ero", 100, 0.3, 0.5, 0.1),
    Case("ero", 200, 0.2, 0.7, 0.05, prior="uniform"),
    Case("ero", 360, 0.15, 0.8, 0.1, prior="normal_iid"),
    Case("ero", 360, 0.05, 0.5, 0.2, prior="normal_rank1"),
    Case("ero", 360, 0.1, 0.6, 0.3, prior="normal_blocks"),
    Case("ero", 1000, 0.05, 0.75, 0.1),
    Case("ero", 3000, 0.015, 0.7, 0.2, prior="uniform"),
    Case("bao", 100, 0.3, 0.4, 0.2, prior="normal_iid"),
    Case("bao", 200, 0.2, 0.6, 0.1),
    Case("bao", 360, 0.15, 0.7, 0.1, prior="normal_blocks"),
    Case("bao", 360, 0.15, 0.8, 0.05, prior="uniform"),
    Case("bao", 1000, 0.06, 0.7, 0.3, prior="normal_rank1"),
    Case("bao", 3000, 0.015, 0.6, 0.1),
)
GEOMETRIC = tuple(
    Case("rggo", 360, p, eta, 0.1) for p in (0.1, 0.15) for eta in (0.2, 0.4, 0.5, 0.6, 0.7)
)
EXACT = (
    Case("ero", 360, 0.05, 0.6),
    Case("ero", 360, 0.15, 0.8),
    Case("bao", 360, 0.15, 0.8),
    Case("rggo", 360, 0.15, 0.8),
)
GROUPS = tuple(
    Case(graph, 360, 0.15, eta, k=k)
    for k in (2, 3, 4)
    for graph, eta in (("ero", 0.1), ("ero", 0.3), ("rggo", 0.1), ("rggo", 0.2))
)
# A part of the paper's study: every graph model, k and a range of η.
STUDY = tuple(
    Case(graph, 360, p, eta)
    for graph, p in (("ero", 0.05), ("bao", 0.1), ("rggo", 0.15), ("ero", 0.15))
    for eta in (0.0, 0.3, 0.6, 0.8)
) + tuple(
    Case(graph, 360, 0.15, eta, k=k)
    for k in (2, 3, 4)
    for graph, eta in (("ero", 0.1), ("bao", 0.2), ("rggo", 0.3))
)
# Sparse geometric graphs, on which spectral starts fail.
STUDY += (Case("rggo", 360, 0.05, 0.2), Case("rggo", 360, 0.05, 0.4))
STUDY += (Case("rggo", 360, 0.05, 0.2, k=2),)
TIMED = (Case("ero", 360, 0.15, 0.6, 0.1), Case("rggo", 360, 0.15, 0.6, 0.1))
