"""Connected components of a graph, and the estimate of the whole from those of its components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution
from gnnsync.topology import forest_angles
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Residual up to which a method has solved a tree, in radians.
_EXACT = 1e-6


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a classical method finds on one connected graph; fields as in `Solution`."""

    angles: FloatArray
    converged: bool = True
    iterations: int = 0
    stop_reason: str = "closed form"
    edge_confidence: FloatArray | None = None
    diagnostics: dict[str, float] = field(default_factory=dict)
    node_confidence: FloatArray | None = None
    node_deviation: FloatArray | None = None
    edge_precision: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """A component: numbers of its nodes and edges in the whole graph, and a graph of its own."""

    nodes: IntArray
    edges: IntArray
    graph: MeasurementGraph


class Components:
    """The components of a graph, found in O((n + m) log n) for all together.

    Args:
        graph: the measurements.
    """

    def __init__(self, graph: MeasurementGraph) -> None:
        self.graph, self.label = graph, graph.components
        self.nodes = np.bincount(self.label)
        self.edge_label = self.label[graph.src]
        self.edges = np.bincount(self.edge_label, minlength=len(self.nodes))

    @property
    def with_edges(self) -> BoolArray:
        """Which components are more than a single node."""
        return self.edges > 0

    @property
    def trees(self) -> BoolArray:
        """Which components are trees with edges: one edge less than nodes."""
        return self.with_edges & (self.edges == self.nodes - 1)

    def largest(self, chosen: BoolArray) -> int:
        """The number of the chosen component with the most nodes."""
        return int(np.argmax(np.where(chosen, self.nodes, 0)))

    @staticmethod
    def without(chosen: BoolArray, one: int) -> BoolArray:
        """The chosen components but one."""
        return chosen & (np.arange(len(chosen)) != one)

    def parts(self, chosen: BoolArray) -> Iterator[tuple[int, Part]]:
        """Number and graph of each chosen component."""
        graph, size = self.graph, self.nodes
        node_order = np.argsort(self.label, kind="stable")
        edge_order = np.argsort(self.edge_label, kind="stable")
        node_end, edge_end = np.cumsum(size), np.cumsum(self.edges)
        position = np.empty(graph.num_nodes, dtype=np.int64)
        position[node_order] = np.arange(graph.num_nodes) - np.repeat(node_end - size, size)
        columns = {"weight": graph.weight, "trusted": graph.trusted}
        present = {name: value for name, value in columns.items() if value is not None}
        for number in np.flatnonzero(chosen).tolist():
            nodes = node_order[node_end[number] - size[number] : node_end[number]]
            edges = edge_order[edge_end[number] - self.edges[number] : edge_end[number]]
            kept = {name: value[edges] for name, value in present.items()}
            index = position[graph.edge_index[:, edges]]
            own = MeasurementGraph(index, graph.offset[edges], len(nodes), **kept)  # type: ignore[arg-type]
            yield number, Part(nodes, edges, own)

    def tree_angles(self, chosen: BoolArray) -> tuple[IntArray, FloatArray]:
        """Nodes of the chosen trees, and their angles along the edges."""
        graph, edges = self.graph, chosen[self.edge_label]
        angles = forest_angles(graph.edge_index[:, edges], graph.offset[edges], graph.num_nodes)
        nodes = np.flatnonzero(chosen[self.label])
        return nodes, angles[nodes]


class JoinedEstimates:
    """Angles and confidences of a whole graph, component by component.

    Args:
        graph: the whole graph.
        k: number of groups.
    """

    def __init__(self, graph: MeasurementGraph, k: int) -> None:
        self._graph, n, m = graph, graph.num_nodes, graph.num_edges
        self._angles, self._confidence = np.zeros((n, k)), np.ones(m)
        # A node alone in its component is its own reference, and always right.
        self._right = np.ones(n)
        self._deviation, self._precision = np.zeros((n, k)), np.zeros((m, k))
        self._found: dict[int, Estimate] = {}

    def add(self, number: int, part: Part, found: Estimate) -> None:
        """Add the estimate of the component of this number."""
        solved = Solution.from_angles(
            part.graph, found.angles, edge_confidence=found.edge_confidence
        )
        self._angles[part.nodes] = solved.angles
        self._confidence[part.edges] = solved.edge_confidence
        if found.node_confidence is not None:
            self._right[part.nodes] = found.node_confidence
        if found.node_deviation is not None:
            self._deviation[part.nodes] = found.node_deviation
        if found.edge_precision is not None:
            self._precision[part.edges] = found.edge_precision
        self._found[number] = found

    def add_together(self, components: Components, chosen: BoolArray, found: Estimate) -> None:
        """Add estimates of the chosen components, whose arrays cover the whole graph."""
        nodes, edges = chosen[components.label], chosen[components.edge_label]
        self._angles[nodes] = found.angles[nodes]
        for own, given, rows in (
            (self._confidence, found.edge_confidence, edges),
            (self._right, found.node_confidence, nodes),
            (self._deviation, found.node_deviation, nodes),
            (self._precision, found.edge_precision, edges),
        ):
            if given is not None:
                own[rows] = given[rows]

    def add_trees(self, components: Components, chosen: BoolArray, example: int) -> bool:
        """Add trees in closed form, if the method has solved the tree `example` exactly.

        Nothing is known of their noise; nodes are right if all edges of their tree are trusted.
        """
        graph = self._graph
        own = components.edge_label == example
        if np.abs(graph.residual(self._angles)[own]).max() > _EXACT:
            return False
        nodes, angles = components.tree_angles(chosen)
        self._angles[nodes, 0] = angles
        doubted = np.zeros(len(components.nodes), dtype=bool)
        doubted[components.edge_label[~graph.edge_trusted]] = True
        self._right[nodes[doubted[components.label[nodes]]]] = np.nan
        self._deviation[nodes] = np.nan
        return True

    @property
    def estimates(self) -> list[Estimate]:
        """Estimates of the components, the largest first: its diagnostics are those reported."""
        return sorted(self._found.values(), key=lambda one: len(one.angles), reverse=True)

    def whole(self) -> Estimate:
        """The estimate of the whole graph; what a component does not state is left out."""
        found = self._found.values()
        stated = bool(found) and all(one.node_confidence is not None for one in found)
        measured = bool(found) and all(one.node_deviation is not None for one in found)
        return Estimate(
            self._angles,
            edge_confidence=self._confidence,
            node_confidence=self._right if stated else None,
            node_deviation=self._deviation if measured else None,
            edge_precision=self._precision if measured else None,
        )
