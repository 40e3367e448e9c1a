"""The protocol every method follows, and what all classical methods share."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from gnnsync.errors import ParameterError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.single_thread import single_thread
from gnnsync.methods.canonical import CanonicalForm
from gnnsync.methods.components import Components, Estimate, JoinedEstimates, Part
from gnnsync.methods.refine import projected_gradient_steps
from gnnsync.solution import Solution
from gnnsync.topology import distinct, forest_angles
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import TimeUp, check_time, loop, plan, reached_time_limit

log = logging.getLogger(__name__)

Graphs = Sequence[MeasurementGraph]

# Diagnostics that a tree says nothing about.
_OF_NOISE = ("eta", "sigma", "sigma_trusted", "normal_noise", "drift")


class DisconnectedGraphWarning(UserWarning):
    """A graph has several components: angles are comparable within a component only."""


@runtime_checkable
class Method(Protocol):
    """Anything that turns a measurement graph into angles."""

    def __call__(self, graph: MeasurementGraph, k: int = 1, *, seed: int = 0) -> Solution:
        """Estimate k groups of angles from the offsets of `graph`."""
        ...


@dataclass(frozen=True)
class RunContext:
    """What a job gives to a method that trains: where to write, whom to log to, what to load.

    Args:
        directory: the job's folder, for checkpoints; nothing is written if None.
        loggers: Lightning loggers.
        resume: continue an interrupted training from the last checkpoint in `directory`.
        checkpoint: evaluate these stored parameters instead of training.
        threads: CPU threads; None leaves the setting of the process.
    """

    directory: Path | None = None
    loggers: Sequence[Any] = ()
    resume: bool = False
    checkpoint: str | Path | None = None
    threads: int | None = None


@dataclass(frozen=True, eq=False)
class ReplicaSolutions:
    """The answers of R = G·T replicas, in the order of `ReplicaMethod.solve_many`.

    Args:
        solutions: one per replica.
        status: how each replica's training ended, such as `finished` or `diverged`.
        features: (R, n, k) angles that the method started from; None if it started from none.
        history: losses (steps, R) by name.
        seconds_setup: time until training began.
        seconds_train: time of the training.
        untrained: (R, n, k) angles of the network before its training; None if nothing was trained.
    """

    solutions: list[Solution]
    status: list[str]
    features: FloatArray | None
    history: dict[str, FloatArray]
    seconds_setup: float
    seconds_train: float
    untrained: FloatArray | None = None


@runtime_checkable
class ReplicaMethod(Protocol):
    """A method that solves many replicas at once, and may train and store parameters."""

    def solve_many(
        self,
        graphs: Graphs,
        k: int = 1,
        *,
        seeds: Sequence[int],
        trials: int = 1,
        context: RunContext = ...,
    ) -> ReplicaSolutions:
        """Solve each of G graphs `trials` = T times; replica g·T + t uses `seeds[g·T + t]`."""
        ...


@dataclass(frozen=True)
class ClassicalMethod:
    """Base of the classical methods: components, refinement, timing and the check of k.

    A subclass declares its parameters as dataclass fields, checks them in `check`, sets
    `name` for messages and `any_k = True` if it solves k > 1, and implements `estimate` for a
    connected graph with at least two nodes. `stops_early = True` says that its iterations ask
    `gnnsync.work.time_is_up`, so that it can be given a time limit. A method that can begin with
    given angles sets `takes_start = True` and implements `estimate_from`. A method whose
    result depends on the order of nodes or edges, by random numbers, grids or ties, sets
    `canonical = True`: it is given the canonical form of the graph (`gnnsync.methods.canonical`).
    `uses_density = True` says that it estimates how the angles are distributed, and uses that where
    measurements leave an angle open: then a node must keep the angle that it calls zero.

    Args:
        refine: projected gradient steps taken after the method itself (the paper's fine-tuned
            baselines); 0 for none.
    """

    name: ClassVar[str] = ""
    any_k: ClassVar[bool] = False
    stops_early: ClassVar[bool] = False
    takes_start: ClassVar[bool] = False
    canonical: ClassVar[bool] = False
    uses_density: ClassVar[bool] = False

    refine: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        check_integer("refine", self.refine, 0)
        self.check()

    def check(self) -> None:
        """Raise `ParameterError` if a parameter is out of range."""

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) or (n, k) for a connected graph; `rng` is the only source of randomness."""
        raise NotImplementedError

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same from initial angles (n, k), where the method can use them."""
        raise ParameterError("start", "given", f"left out: {self.name} does not begin with angles")

    def solved_together(self, graph: MeasurementGraph) -> BoolArray:
        """Which components (c,) of a graph `estimate_together` solves for k = 1; by default none.

        It must give what `estimate` gives of a component alone.
        """
        return np.zeros(graph.num_components, dtype=bool)

    def estimate_together(self, graph: MeasurementGraph, chosen: BoolArray) -> Estimate:
        """Angles and confidences of the chosen components (c,); arrays cover the whole graph."""
        raise NotImplementedError

    def __call__(
        self,
        graph: MeasurementGraph,
        k: int = 1,
        *,
        seed: int = 0,
        start: FloatArray | None = None,
    ) -> Solution:
        """Estimate k groups of angles, component by component; from `start` (n, k) if given."""
        began = time.perf_counter()
        check_integer("k", k, 1)
        check_integer("seed", seed, 0)
        if k > 1 and not self.any_k:
            name = self.name or "this method"
            raise ParameterError("k", k, f"1 for {name}; for k > 1 use {_any_k_names()}")
        with single_thread():
            if graph.is_connected and graph.num_nodes > 1:
                whole = self._estimate_refined(graph, k, seed, start)
                estimates = [whole]
            else:
                whole, estimates = self._estimate_parts(graph, k, seed, start)
        reason = "; ".join(dict.fromkeys(e.stop_reason for e in estimates)) or "no edges"
        limit = reached_time_limit()
        if limit is not None:
            reason = f"time limit of {limit:g} s: {reason}"
        return Solution.from_angles(
            graph,
            whole.angles,
            edge_confidence=whole.edge_confidence,
            node_confidence=whole.node_confidence,
            node_deviation=whole.node_deviation,
            edge_precision=whole.edge_precision,
            converged=all(e.converged for e in estimates),
            iterations=max((e.iterations for e in estimates), default=0),
            stop_reason=reason,
            diagnostics=_merge(estimates, graph),
            seconds=time.perf_counter() - began,
        )

    def _estimate_parts(
        self, graph: MeasurementGraph, k: int, seed: int, start: FloatArray | None
    ) -> tuple[Estimate, list[Estimate]]:
        """Angles and confidences of the whole graph, and the estimate of each component."""
        _warn_of_components(graph)
        components, joined = Components(graph), JoinedEstimates(graph, k)
        several = k == 1 and start is None
        # Angles of a tree follow from its edges: of several trees, the method solves the largest.
        trees = components.trees & several
        largest = components.largest(trees)
        others = components.without(trees, largest)
        together = np.zeros_like(trees)
        if several and not self.refine:
            together = self.solved_together(graph)
            together = components.without(together, components.largest(together))
        chosen = components.with_edges & ~others & ~together
        plan({_label(i): components.edges[i] for i in np.flatnonzero(chosen).tolist()})
        for number, part in components.parts(chosen):
            self._estimate_part(joined, number, part, k, seed, start)
        if together.any():
            joined.add_together(components, together, self.estimate_together(graph, together))
        if others.any() and not joined.add_trees(components, others, largest):
            for number, part in components.parts(others):
                self._estimate_part(joined, number, part, k, seed, start)
        return joined.whole(), joined.estimates

    def _estimate_part(
        self,
        joined: JoinedEstimates,
        number: int,
        part: Part,
        k: int,
        seed: int,
        start: FloatArray | None,
    ) -> None:
        with loop(_label(number)):
            own = None if start is None else start[part.nodes]
            joined.add(number, part, self._estimate_refined(part.graph, k, seed, own))

    def _estimate_refined(
        self, graph: MeasurementGraph, k: int, seed: int, start: FloatArray | None
    ) -> Estimate:
        # A generator of its own for each component: its result does not depend on the others.
        rng = np.random.default_rng(seed)
        if self.canonical:
            form = CanonicalForm.of(graph, rotate=not self.uses_density)
            own = None if start is None else form.angles(start)
            found = form.restore(self._estimate_in_time(form.graph, k, rng, own))
        else:
            found = self._estimate_in_time(graph, k, rng, start)
        columns = found.angles.reshape(graph.num_nodes, k)
        if not self.refine:
            return replace(found, angles=columns)
        return replace(
            found,
            angles=projected_gradient_steps(graph, columns, self.refine),
            edge_confidence=None,  # the method's own were for the angles before refinement
            node_confidence=None,
            node_deviation=None,
            edge_precision=None,
            stop_reason=f"{found.stop_reason}; then {self.refine} projected gradient steps",
        )

    def _estimate_in_time(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray | None
    ) -> Estimate:
        """The method's estimate, or angles along a tree if time is up before there is one."""
        try:
            check_time()
            if start is None:
                found = self.estimate(graph, k, rng)
            else:
                found = self.estimate_from(graph, k, rng, start)
        except TimeUp:
            found = _along_tree(graph, k)
        return _without_redundancy(graph, found) if graph.bridges.all() else found


def _without_redundancy(graph: MeasurementGraph, found: Estimate) -> Estimate:
    """The estimate on a tree: noise, outliers and, unless all edges are trusted, nodes unknown."""
    nothing = graph.unchecked.any()
    right, deviation = found.node_confidence, found.node_deviation
    return replace(
        found,
        node_confidence=np.full_like(right, np.nan) if nothing and right is not None else right,
        node_deviation=None if deviation is None else np.full_like(deviation, np.nan),
        edge_precision=None,
        diagnostics={
            name: value for name, value in found.diagnostics.items() if name not in _OF_NOISE
        },
    )


def tree_estimate(graph: MeasurementGraph, k: int) -> Estimate:
    """Angles along the edges of a tree, all k groups alike: no cycle contradicts them.

    Nothing is known of noise and outliers; nodes are right if all edges are trusted.
    """
    right = np.nan if graph.unchecked.any() else 1.0
    return replace(
        _along_tree(graph, k),
        converged=True,
        stop_reason="a tree: angles along its edges",
        node_confidence=np.full(graph.num_nodes, right),
        node_deviation=np.full((graph.num_nodes, k), np.nan),
    )


def _label(component: int) -> str:
    return f"component {component + 1}"


def _along_tree(graph: MeasurementGraph, k: int) -> Estimate:
    """Angles along a spanning tree: what there is if time is up before a method has any."""
    angles = forest_angles(graph.edge_index, graph.offset, graph.num_nodes)
    reason = "angles along a spanning tree"
    return Estimate(np.repeat(angles[:, None], k, axis=1), converged=False, stop_reason=reason)


def _warn_of_components(graph: MeasurementGraph) -> None:
    if graph.num_components > 1:
        warnings.warn(
            f"the graph has {graph.num_components} components; each is solved on its own, and "
            "angles are comparable within a component only",
            DisconnectedGraphWarning,
            stacklevel=4,
        )


def _merge(estimates: list[Estimate], graph: MeasurementGraph) -> dict[str, float]:
    """Diagnostics of the component with the most nodes; how many were solved, if several.

    Figures of different kinds (bounds, eigenvalues, counts) have no common sum or mean.
    """
    if not estimates:
        return {}
    merged = dict(estimates[0].diagnostics)
    count = len(distinct(graph.components[graph.src]))
    if count > 1:
        merged["components_solved"] = float(count)
    return merged


def _any_k_names() -> str:
    """Names of the methods that solve k > 1, for an error message."""
    kinds = [kind for kind in _subclasses(ClassicalMethod) if kind.any_k and kind.name]
    return ", ".join(kind.name for kind in kinds)


def _subclasses(kind: type[ClassicalMethod]) -> Iterator[type[ClassicalMethod]]:
    for own in kind.__subclasses__():
        yield own
        yield from _subclasses(own)
