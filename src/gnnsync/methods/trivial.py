"""The trivial solution, as a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate


@dataclass(frozen=True)
class Trivial(ClassicalMethod):
    """All angles equal (1, as in the paper): the error that a method must improve on."""

    name = "trivial"
    any_k = True
    stops_early = True

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Ones (n, k)."""
        return Estimate(np.ones((graph.num_nodes, k)))
