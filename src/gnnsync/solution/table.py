"""The tables of a solution: one row per node, one row per measurement.

CSV and Parquet files and `Solution.to_dataframe` have these columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.graph import MeasurementGraph
from gnnsync.units import RADIANS, Unit

if TYPE_CHECKING:
    from gnnsync.solution.solution import Solution

Table = dict[str, NDArray[Any]]
"""Columns of equal length by their titles; NaN where a number is unknown."""


def node_table(graph: MeasurementGraph, solution: Solution, unit: Unit = RADIANS) -> Table:
    """Columns node, angle (angle_1 to angle_k if k > 1), component, confidence, deviation.

    The last two (deviation_1 to deviation_k if k > 1) are present if the method estimates them.
    """
    k = solution.k
    table: Table = {"node": plain_names(graph)}
    table |= dict(zip(_numbered("angle", k), unit.angles(solution.angles).T, strict=True))
    table["component"] = solution.component
    if solution.node_confidence is not None:
        table["confidence"] = solution.node_confidence
    if solution.node_deviation is not None:
        deviation = unit.from_radians(solution.node_deviation).T
        table |= dict(zip(_numbered("deviation", k), deviation, strict=True))
    return table


def edge_table(graph: MeasurementGraph, solution: Solution, unit: Unit = RADIANS) -> Table:
    """Columns src, dst, offset, residual, confidence, group.

    `residual` is angle[src] - angle[dst] - offset reduced to [-π, π), for the group (one of the k
    sets of angles, from 0) with the smallest residual. `confidence` is NaN where nothing checks
    the measurement.
    """
    names = plain_names(graph)
    return {
        "src": names[graph.src],
        "dst": names[graph.dst],
        "offset": unit.angles(graph.offset),
        "residual": unit.from_radians(solution.residual(graph)),
        "confidence": solution.edge_confidence,
        "group": solution.edge_group,
    }


def plain_names(graph: MeasurementGraph) -> NDArray[Any]:
    """Names of the nodes as they are; integers if all are."""
    names = list(graph.names)
    if all(type(name) is int for name in names):
        return np.array(names)
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _numbered(name: str, k: int) -> list[str]:
    """Title of the columns of k groups."""
    return [name] if k == 1 else [f"{name}_{group + 1}" for group in range(k)]
