"""The HTML page of one solution: its summary, its panels, and tables of nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from gnnsync.plots.page import Column, Table, html_page
from gnnsync.plots.solution import PANEL, solution_panels
from gnnsync.solution_table import edge_table, node_table
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
    title: str,
    command: str,
    coordinates: FloatArray | None,
    unit: Unit,
) -> str:
    """The page as text; arguments as in `Solution.html`."""
    panels = solution_panels(solution, graph, coordinates=coordinates, unit=unit)
    figures: dict[str, Figure] = {}
    for name, draw in panels.items():
        figures[_TITLES[name]] = Figure(figsize=PANEL, layout="constrained")
        draw(figures[_TITLES[name]])
    tables = [_nodes(solution, graph, unit), _edges(solution, graph, unit)]
    return html_page(title, summary, figures, tables, command)


def _nodes(solution: Solution, graph: MeasurementGraph, unit: Unit) -> Table:
    """Nodes, the least certain first."""
    columns = _titled(node_table(graph, solution, unit), unit)
    doubt = np.zeros(graph.num_nodes)
    if solution.node_confidence is not None:
        doubt = -solution.node_confidence
    return Table.ranked("nodes", columns, doubt, "those of least confidence")


def _edges(solution: Solution, graph: MeasurementGraph, unit: Unit) -> Table:
    """Edges, the worst first."""
    table = edge_table(graph, solution, unit)
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
