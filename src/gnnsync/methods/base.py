"""The protocol every method follows, and what all classical methods share."""

from __future__ import annotations

import logging
import time
import warnings
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gnnsync.errors import ParameterError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.refine import projected_gradient_steps
from gnnsync.solution import Solution

log = logging.getLogger(__name__)


class DisconnectedGraphWarning(UserWarning):
    """A graph has several components: each is solved, and none is comparable with another."""


@runtime_checkable
class Method(Protocol):
    """Anything that turns a measurement graph into angles."""

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Estimate k sets of angles from the offsets of `graph`."""
        ...


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a classical method finds on one connected graph; fields as in `Solution`."""

    angles: NDArray[np.float64]
    converged: bool = True
    iterations: int = 0
    stop_reason: str = "closed form"
    edge_confidence: NDArray[np.float64] | None = None
    diagnostics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ClassicalMethod:
    """Base of the classical methods: components, refinement, timing and the check of k.

    A subclass declares its parameters as dataclass fields, checks them in `check`, sets
    `any_k = True` if it solves k > 1, and implements `estimate` for a connected graph with at
    least two nodes.

    Args:
        refine: projected gradient steps taken after the method itself (the paper's fine-tuned
            baselines); 0 for none.
    """

    any_k: ClassVar[bool] = False

    refine: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check_integer("refine", self.refine, 0)
        self.check()

    def check(self) -> None:
        """Raise `ParameterError` if a parameter is out of range."""

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) or (n, k) for a connected graph; `rng` is the only source of chance."""
        raise NotImplementedError

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Estimate k sets of angles, component by component."""
        start = time.perf_counter()
        check_integer("k", k, 1)
        check_integer("seed", seed, 0)
        if k > 1 and not self.any_k:
            raise ParameterError("k", k, f"1 for {_name(self)}; for k > 1 use {_any_k_names()}")
        rng = np.random.default_rng(seed)
        if graph.is_connected:
            parts = [(np.arange(graph.num_nodes), np.arange(graph.num_edges), graph)]
        else:
            parts = _split(graph)
        angles = np.zeros((graph.num_nodes, k))
        confidence = np.ones(graph.num_edges)
        estimates = []
        for nodes, edges, part in parts:
            if part.num_nodes == 1:
                continue
            found = self.estimate(part, k, rng)
            columns = found.angles.reshape(part.num_nodes, k)
            if self.refine:
                columns = projected_gradient_steps(part, columns, self.refine)
                found = Estimate(columns, found.converged, found.iterations, found.stop_reason)
            solved = Solution.from_angles(part, columns, edge_confidence=found.edge_confidence)
            angles[nodes], confidence[edges] = solved.angles, solved.edge_confidence
            estimates.append(found)
        return Solution.from_angles(
            graph,
            angles,
            edge_confidence=confidence,
            converged=all(e.converged for e in estimates),
            iterations=max((e.iterations for e in estimates), default=0),
            stop_reason="; ".join(dict.fromkeys(e.stop_reason for e in estimates)) or "no edges",
            seconds=time.perf_counter() - start,
            diagnostics=_merge([e.diagnostics for e in estimates]),
        )


def _split(
    graph: MeasurementGraph,
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], MeasurementGraph]]:
    warnings.warn(
        f"the graph has {graph.num_components} components; each is solved on its own, and angles "
        "are comparable within a component only",
        DisconnectedGraphWarning,
        stacklevel=3,
    )
    order = np.argsort(graph.components, kind="stable")
    bounds = np.cumsum(np.bincount(graph.components))[:-1]
    parts = []
    for nodes in np.split(order, bounds):
        if len(nodes) > 1:
            part, edges = graph.subgraph(nodes)
            parts.append((nodes, edges, part))
    return parts


def _merge(diagnostics: list[dict[str, float]]) -> dict[str, float]:
    """Figures of the first component, which for a connected graph is the only one."""
    return dict(diagnostics[0]) if diagnostics else {}


def _name(method: ClassicalMethod) -> str:
    from gnnsync.methods import METHODS

    return next((name for name, kind in METHODS.items() if kind is type(method)), "this method")


def _any_k_names() -> str:
    from gnnsync.methods import METHODS

    return ", ".join(name for name, kind in METHODS.items() if getattr(kind, "any_k", False))
