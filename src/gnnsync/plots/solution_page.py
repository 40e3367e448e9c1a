"""The HTML page of one solution: its summary, its panels, and tables of nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gnnsync.plots.page import Column, Table, html_page
from gnnsync.plots.solution import PANEL, solution_panels
from gnnsync.typing import FloatArray
from gnnsync.units import Unit

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph
    from gnnsync.solution import Solution

_ANGLES = ("angle", "deviation", "offset", "residual", "|residual|")
_TITLES = {
    "residuals": "Residuals of all edges, with the fitted law",
    "peak": "Residuals of the inliers, with the fitted law",
    "offsets": "Measured offsets against those of the estimated angles",
    "angles": "Distribution of the angles",
    "edges": "Confidence of the edges",
    "nodes": "Confidence of the nodes",
}


def solution_page(
    solution: Solution,
    graph: MeasurementGraph,
    summary: str,
    *,
    nodes: Mapping[str, NDArray[Any]],
    edges: Mapping[str, NDArray[Any]],
    title: str,
    command: str,
    coordinates: FloatArray | None,
    unit: Unit,
) -> str:
    """The page as text.

    Args:
        solution: the estimated angles.
        graph: the measurements.
        summary: text of several lines.
        nodes: table of the nodes, see `gnnsync.solution.table`.
        edges: table of the edges.
        title: as the others, see `Solution.html`.
        command: what made the page.
        coordinates: (n, 2) places of the nodes.
        unit: of the angles; that of both tables.
    """
    panels = solution_panels(solution, graph, coordinates=coordinates, unit=unit)
    figures: dict[str, Figure] = {}
    for name, draw in panels.items():
        figures[_TITLES[name]] = Figure(figsize=PANEL, layout="constrained")
        draw(figures[_TITLES[name]])
    tables = [_nodes(nodes, unit), _edges(edges, solution, graph, unit)]
    return html_page(title, summary, figures, tables, command)


def _nodes(table: Mapping[str, NDArray[Any]], unit: Unit) -> Table:
    """Nodes, the least certain first."""
    doubt = -table["confidence"] if "confidence" in table else np.zeros(len(table["node"]))
    return Table.ranked("nodes", _titled(table, unit), doubt, "those of least confidence")


def _edges(
    table: Mapping[str, NDArray[Any]], solution: Solution, graph: MeasurementGraph, unit: Unit
) -> Table:
    """Edges, the worst first."""
    columns: dict[str, Column] = {"edge": range(graph.num_edges)}
    columns |= {"src": table["src"], "dst": table["dst"], "offset": table["offset"]}
    size = np.abs(table["residual"])
    columns |= {"residual": table["residual"], "|residual|": size}
    columns["confidence"] = table["confidence"]
    if solution.k > 1:
        columns["group"] = table["group"] + 1
    if graph.weight is not None:
        columns["weight"] = graph.weight
    if graph.trusted is not None:
        columns["trusted"] = graph.trusted
    return Table.ranked("edges", _titled(columns, unit), size, "those of largest |residual|")


def _titled(columns: Mapping[str, Column], unit: Unit) -> dict[str, Column]:
    """The columns, with the unit in the titles of those that are angles."""
    return {
        f"{title} ({unit.symbol})" if title.startswith(_ANGLES) else title: values
        for title, values in columns.items()
    }
