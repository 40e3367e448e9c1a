"""Solution: the estimated angles that every method returns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.errors import GraphError, ParameterError, SolutionError, check_choice
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.propagation import difference_variance
from gnnsync.solution.conflicts import Conflicts, edge_sigma, estimate_sigma, find_conflicts
from gnnsync.solution.summary import ANGLE_FIGURES, summarize
from gnnsync.solution.table import edge_table, node_table
from gnnsync.typing import FloatArray, IntArray
from gnnsync.units import RADIANS, Unit, find_unit, in_unit

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# A node counts as recovered if its angle is within this of the truth, in radians (14°).
NODE_TOLERANCE = 0.25


@dataclass(frozen=True, eq=False)
class Solution:
    """Estimated angles, confidences, and how the method ended.

    Angles are comparable within a connected component only: each component, and each of the k
    groups (sets of angles), is determined up to one rotation.

    Args:
        angles: (n, k) in [0, 2π).
        edge_confidence: (m,) in [0, 1], confidence that each measurement is an inlier; NaN where
            nothing checks it: it is on no cycle, and not trusted.
        edge_group: (m,) group with the smallest residual at each edge; all 0 for k = 1.
        component: (n,) connected component of each node.
        converged: whether the method met its own stopping criterion.
        iterations: number of iterations.
        stop_reason: why the method stopped, in a few words.
        seconds: wall time.
        diagnostics: further numbers by name.
        node_confidence: (n,) in [0, 1], the probability that a node's angles (of all k groups)
            are within `NODE_TOLERANCE` of the truth, up to the common rotation of its component;
            NaN where no measurement is checked by others; None if the method does not estimate it.
        node_deviation: (n, k) standard deviation in radians of each angle about the truth, given
            that it is right, up to the mean rotation of its component; NaN where no noise can be
            estimated; None if the method does not estimate it.
        edge_precision: (m, k) inverse variance in 1/rad² with which each measurement holds the
            difference of its two angles in each group, 0 for outliers; None if not estimated.
        graph: the measurements that were solved; None in a solution built without them.
    """

    angles: FloatArray
    edge_confidence: FloatArray
    edge_group: IntArray
    component: IntArray
    converged: bool = True
    iterations: int = 0
    stop_reason: str = ""
    seconds: float = 0.0
    diagnostics: dict[str, float] = field(default_factory=dict)
    node_confidence: FloatArray | None = None
    node_deviation: FloatArray | None = None
    edge_precision: FloatArray | None = field(default=None, repr=False)
    graph: MeasurementGraph | None = field(default=None, repr=False)

    @classmethod
    def from_angles(
        cls,
        graph: MeasurementGraph,
        angles: FloatArray,
        *,
        edge_confidence: FloatArray | None = None,
        **fields: Any,
    ) -> Solution:
        """Build a Solution from angles (n,) or (n, k).

        Each edge is assigned to the group with the smallest residual M. If the method gives no
        `edge_confidence`, it is (1 + cos M)/2, from 1 at M = 0 to 0 at M = π. That of an edge that
        nothing checks is NaN: angles can be fitted to it whatever its offset.
        """
        angles = reduce_angle(angles[:, None] if angles.ndim == 1 else angles)
        known = np.isfinite(angles).all(axis=1)
        if not known.all():
            name = graph.names[int(np.argmin(known))]
            raise SolutionError(
                f"no finite angle was found for node {name}: check the offsets and weights of its "
                "measurements, or use another method"
            )
        residual = np.abs(graph.residual(angles))
        group = residual.argmin(axis=1)
        if edge_confidence is None:
            edge_confidence = (1.0 + np.cos(residual.min(axis=1))) / 2.0
        edge_confidence = np.where(graph.unchecked, np.nan, edge_confidence)
        return cls(angles, edge_confidence, group, graph.components, graph=graph, **fields)

    @property
    def k(self) -> int:
        """Number of groups (sets of angles)."""
        return self.angles.shape[1]

    def residual(self, graph: MeasurementGraph | None = None) -> FloatArray:
        """Residual (m,) of each edge for the group it is assigned to, in [-π, π).

        `graph` is the solution's own if not given.
        """
        of_groups = self.check_graph(graph).residual(self.angles)
        return np.take_along_axis(of_groups, self.edge_group[:, None], axis=1).ravel()

    def conflicts(
        self,
        edge: int | tuple[Hashable, Hashable],
        graph: MeasurementGraph | None = None,
        *,
        most: int = 10,
    ) -> Conflicts:
        """The cycles of other measurements that speak for and against one; `print` them.

        The noise σ of an inlier of mean weight is the method's own, `diagnostics["sigma"]` (and
        `diagnostics["sigma_trusted"]` for trusted edges, if there). It is estimated from the
        residuals if there is none, or if it is the scale of a heavy-tailed law
        (`diagnostics["normal_noise"]` is 0). For k > 1 only cycles within the group of the
        measurement count.

        Args:
            edge: number of the measurement, or the names of its two nodes.
            graph: the measurements; the solution's own if not given.
            most: number of cycles of either kind, see `gnnsync.solution.conflicts.Conflicts`.
        """
        graph = self.check_graph(graph)
        sigma = self.diagnostics.get("sigma")
        if sigma is None or not self.diagnostics.get("normal_noise", 1.0):
            sigma = estimate_sigma(graph, self.residual(graph), self.edge_confidence, self.k)
        return find_conflicts(
            graph,
            edge,
            self.edge_confidence,
            edge_sigma(graph, sigma, self.diagnostics.get("sigma_trusted")),
            group=self.edge_group,
            most=most,
        )

    def deviation_between(
        self, one: Hashable, two: Hashable, graph: MeasurementGraph | None = None
    ) -> FloatArray:
        """Standard deviation (k,) in radians of the difference of two nodes' angles.

        Of their angles in each group, given that these are right. NaN if the method estimates no
        noise, and if no inlier measurements join the nodes.

        Args:
            one: name of a node, or its number if no node has such a name.
            two: the other node.
            graph: the measurements; the solution's own if not given.
        """
        graph = self.check_graph(graph)
        ends = find_node(graph, one), find_node(graph, two)
        if self.edge_precision is None:
            return np.full(self.k, np.nan)
        variance = [difference_variance(graph, own, *ends) for own in self.edge_precision.T]
        return np.sqrt(variance)

    def to_dataframe(self, table: str = "nodes", *, unit: str | Unit = RADIANS) -> pd.DataFrame:
        """A pandas DataFrame of the nodes (angle, component, confidence) or of the edges.

        The columns are those of the files that `gnnsync solve` writes.

        Args:
            table: `nodes` or `edges`.
            unit: of the angles: `radians`, `degrees` or `turns`.
        """
        # pandas takes half a second to import, and only this method needs it.
        import pandas as pd

        makers = {"nodes": node_table, "edges": edge_table}
        make = makers[check_choice("table", table, makers)]
        return pd.DataFrame(make(self.check_graph(), self, find_unit(unit)))

    def plot(
        self,
        graph: MeasurementGraph | None = None,
        *,
        title: str = "",
        coordinates: FloatArray | None = None,
        unit: Unit = RADIANS,
    ) -> Figure:
        """A Matplotlib figure of residuals, offsets, angles and confidences.

        Save it with `figure.savefig("solution.png")`.

        Args:
            graph: the measurements; the solution's own if not given. Without any, only angles and
                edge confidences are drawn.
            title: above the panels.
            coordinates: (n, 2) places of the nodes, NaN where unknown; by default a layout
                computed from the edges.
            unit: of the angles on the axes.
        """
        # Matplotlib is slow to import, and only this method needs it.
        from gnnsync.plots.solution import solution_figure

        known = self.graph is not None or graph is not None
        measured = self.check_graph(graph) if known else None
        return solution_figure(self, measured, title=title, coordinates=coordinates, unit=unit)

    def html(
        self,
        graph: MeasurementGraph | None = None,
        *,
        title: str = "Solution",
        summary: str | None = None,
        command: str = "",
        coordinates: FloatArray | None = None,
        unit: Unit = RADIANS,
    ) -> str:
        """One self-contained HTML page: summary, figures, sortable tables of nodes and edges.

        Save it with `Path("report.html").write_text(solution.html(), encoding="utf-8")`.

        Args:
            graph: the measurements; the solution's own if not given.
            title: heading of the page.
            summary: text of several lines; by default the figures of `summarize`.
            command: what made the page.
            coordinates: as in `plot`.
            unit: of the angles.
        """
        # Matplotlib is slow to import, and only this method and `plot` need it.
        from gnnsync.plots.solution_page import solution_page

        graph = self.check_graph(graph)
        if summary is None:
            figures = in_unit(summarize(graph, self), unit, ANGLE_FIGURES)
            figures.pop("worst_edges", None)
            summary = "\n".join(f"{name:<18} {value}" for name, value in figures.items())
        return solution_page(
            self,
            graph,
            summary,
            nodes=node_table(graph, self, unit),
            edges=edge_table(graph, self, unit),
            title=title,
            command=command,
            coordinates=coordinates,
            unit=unit,
        )

    def check_graph(self, graph: MeasurementGraph | None = None) -> MeasurementGraph:
        """Return the graph, or the solution's own, if it has the nodes and edges of the solution.

        Raises:
            ParameterError: another graph.
            GraphError: no graph is given, and the solution has none.
        """
        if graph is None:
            if self.graph is None:
                raise GraphError("the solution has no graph: give it as `graph`")
            return self.graph
        n, m = len(self.angles), len(self.edge_confidence)
        fits = isinstance(graph, MeasurementGraph) and (graph.num_nodes, graph.num_edges) == (n, m)
        if fits and self.graph is not None:
            fits = np.array_equal(graph.edge_index, self.graph.edge_index)
        if not fits:
            allowed = f"the MeasurementGraph that was solved, with {n} nodes and {m} edges"
            raise ParameterError("graph", graph, allowed)
        return graph

    def replace(self, **changes: Any) -> Solution:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        n, k = self.angles.shape
        return (
            f"Solution(n={n}, k={k}, converged={self.converged}, iterations={self.iterations}, "
            f"seconds={self.seconds:.3g})"
        )


def find_node(graph: MeasurementGraph, name: Hashable) -> int:
    """The number of the node of this name; a number that is no name is itself the number."""
    names = graph.names
    if name in names:
        return list(names).index(name)
    number = isinstance(name, int) and 0 <= name < graph.num_nodes
    if not number:
        raise ParameterError("node", name, f"the name of a node, or a number below {len(names)}")
    return int(name)  # type: ignore[call-overload]
