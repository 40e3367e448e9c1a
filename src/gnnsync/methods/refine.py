"""Projected gradient steps after any method."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray

if TYPE_CHECKING:
    from gnnsync.methods.base import Method


def projected_gradient_steps(
    graph: MeasurementGraph, angles: FloatArray, steps: int, alpha: float = 1.0
) -> FloatArray:
    """y ← angle(α·exp(iy) + H·exp(iy)), `steps` times, for each column of `angles` (n, k)."""
    for _ in range(steps):
        phase = np.exp(1j * angles)
        angles = np.angle(alpha * phase + graph.hermitian @ phase)
    return angles


@dataclass(frozen=True)
class Refined:
    """A method followed by `steps` projected gradient steps; made by `refined`."""

    method: Method
    steps: int

    def __post_init__(self) -> None:
        check_integer("steps", self.steps, 0)

    @property
    def any_k(self) -> bool:
        """Whether the method solves k > 1."""
        return bool(getattr(self.method, "any_k", False))

    @property
    def stops_early(self) -> bool:
        """Whether the method can be given a time limit."""
        return bool(getattr(self.method, "stops_early", False))

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Solve, then refine."""
        start = time.perf_counter()
        first = self.method(graph, k, seed=seed)
        angles = projected_gradient_steps(graph, first.angles, self.steps)
        return Solution.from_angles(
            graph,
            angles,
            converged=first.converged,
            iterations=first.iterations,
            stop_reason=f"{first.stop_reason}; then {self.steps} projected gradient steps",
            seconds=time.perf_counter() - start,
            diagnostics=first.diagnostics,
        )


def refined(method: Method, steps: int) -> Refined:
    """`method` followed by `steps` projected gradient steps (the paper's fine-tuned baselines)."""
    return Refined(method, steps)
