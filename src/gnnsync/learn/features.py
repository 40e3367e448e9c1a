"""Input features of the network: angles from a classical method, or simple stand-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from gnnsync.angles import circular_mean, reduce_angle
from gnnsync.errors import GraphError, check_bool, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.learn.batch import ReplicaBatch
from gnnsync.methods import Method
from gnnsync.typing import FloatArray


class Features(Protocol):
    """Turns a graph into node features."""

    per_trial: bool
    """Whether trials on one graph get features of their own."""

    def width(self, k: int) -> int:
        """Number of columns."""
        ...

    def __call__(self, graph: MeasurementGraph, k: int, seed: int) -> FloatArray:
        """Features (n, width(k))."""
        ...


@dataclass(frozen=True)
class MethodFeatures:
    """The k angles of each node as a classical method estimates them, in [0, 2π).

    Only differences of angles mean anything, and the network sees the angles themselves: each set
    is rotated to circular mean π, which neither the order of the nodes nor the method's arbitrary
    choice of rotation can change; with `centred=False` it stays as the method returns it. The
    method runs once per graph, with a seed of its own: trials share its answer.
    """

    method: Method
    seed: int = 0
    centred: bool = True
    per_trial = False

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0)
        check_bool("centred", self.centred)

    def width(self, k: int) -> int:
        """One column per group."""
        return k

    def __call__(self, graph: MeasurementGraph, k: int, seed: int) -> FloatArray:
        """Angles (n, k)."""
        angles = self.method(graph, k, seed=self.seed).angles
        if not self.centred:
            return angles
        return reduce_angle(angles - circular_mean(angles, axis=0) + np.pi)


@dataclass(frozen=True)
class RandomFeatures:
    """Standard normal noise of the given number of columns (k if none is given)."""

    columns: int | None = None
    per_trial = True

    def __post_init__(self) -> None:
        if self.columns is not None:
            check_integer("columns", self.columns, 1)

    def width(self, k: int) -> int:
        """As given, or one column per group."""
        return self.columns or k

    def __call__(self, graph: MeasurementGraph, k: int, seed: int) -> FloatArray:
        """Noise (n, columns)."""
        return np.random.default_rng(seed).standard_normal((graph.num_nodes, self.width(k)))


@dataclass(frozen=True)
class DegreeFeatures:
    """Out-degree, in-degree and the sums of outgoing and incoming offsets, per unit mean degree."""

    per_trial = False

    def width(self, k: int) -> int:
        """Four columns."""
        return 4

    def __call__(self, graph: MeasurementGraph, k: int, seed: int) -> FloatArray:
        """Degrees (n, 4)."""
        n = graph.num_nodes
        columns = [
            np.bincount(end, weights=weight, minlength=n).astype(np.float64)
            for weight in (np.ones(graph.num_edges), graph.offset)
            for end in (graph.src, graph.dst)
        ]
        return np.stack(columns, axis=1) * (n / max(graph.num_edges, 1))


def replica_features(features: Features, batch: ReplicaBatch, k: int, seeds: list[int]) -> Tensor:
    """Features of all replicas, (R, n, width)."""
    rows = []
    for g, graph in enumerate(batch.graphs):
        own = seeds[g * batch.trials : (g + 1) * batch.trials]
        if features.per_trial:
            rows += [features(graph, k, seed) for seed in own]
        else:
            rows += [features(graph, k, own[0])] * batch.trials
    stacked = np.stack(rows)
    if not np.isfinite(stacked).all():
        raise GraphError(f"{features} gave features that are not finite")
    return torch.tensor(stacked, dtype=batch.dtype)
