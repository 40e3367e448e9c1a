"""Differences of the angles of two named nodes, for `gnnsync solve --between A,B`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnnsync.angles import wrap
from gnnsync.errors import printable
from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution, plain_name
from gnnsync.units import UNITS


def differences(
    graph: MeasurementGraph, solution: Solution, pairs: list[tuple[int, int]]
) -> list[dict[str, Any]]:
    """For each pair of nodes: the names, and by group the difference and its deviation in radians.

    `confidence` is the probability that both nodes are right, as if these were independent. What is
    unknown is None; nodes of different components have no difference.
    """
    return [_difference(graph, solution, *pair) for pair in pairs]


def between_lines(summary: dict[str, Any]) -> list[str]:
    """One line for each pair of nodes."""
    return [_line(one, summary["unit"]) for one in summary.get("between", [])]


def _difference(graph: MeasurementGraph, solution: Solution, one: int, two: int) -> dict[str, Any]:
    comparable = solution.component[one] == solution.component[two]
    names = graph.names
    gap = wrap(solution.angles[one] - solution.angles[two])
    deviation = solution.deviation_between(names[one], names[two], graph)
    right = solution.node_confidence
    both = np.nan if right is None else float(right[one] * right[two])
    return {
        "nodes": [plain_name(names[one]), plain_name(names[two])],
        "difference": gap.tolist() if comparable else None,
        "deviation": [None if np.isnan(value) else float(value) for value in deviation],
        "confidence": None if np.isnan(both) or not comparable else both,
    }


def _line(one: dict[str, Any], unit_name: str) -> str:
    ends = " - ".join(map(printable, one["nodes"]))
    if one["difference"] is None:
        return f"{ends}: in different components, not comparable"
    parts = []
    for gap, deviation in zip(one["difference"], one["deviation"], strict=True):
        spread = "unknown" if deviation is None else f"{deviation:.2g}"
        parts.append(UNITS[unit_name].label(f"{gap:.5g} ± {spread}"))
    right = "unknown" if one["confidence"] is None else f"{one['confidence']:.3g}"
    return f"{ends}: {'; '.join(parts)}; both right with probability {right}"
