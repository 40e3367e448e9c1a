"""The summary of a solution: counts, residuals, noise and the worst measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.metrics import estimate_outliers
from gnnsync.units import RADIANS

if TYPE_CHECKING:
    from gnnsync.solution.solution import Solution

# The summary counts nodes whose confidence is at least this.
SURE = 0.95
# Levels of the residual quantiles in the summary.
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
# Figures of `summarize` that are angles: `gnnsync.units.in_unit` converts them, at any depth.
ANGLE_FIGURES = (
    "residual_quantiles",
    "inlier_noise",
    "node_deviation",
    "offset",
    "residual",
    "difference",
    "deviation",
)
# Measurements that the summary lists as the worst.
WORST_EDGES = 5
# Residuals (radians) up to this are rounding.
_ROUNDING = 1e-9


def summarize(graph: MeasurementGraph, solution: Solution) -> dict[str, Any]:
    """Numbers that describe a solution: counts, residuals, noise, and how the method ended.

    Edges on no cycle (`edges_unchecked` of them) have no residual, whatever their offset: they
    take no part in `residual_quantiles` (of |residual|), nor in `outlier_share` (fraction of the
    other edges) and `inlier_noise` (standard deviation), which `estimate_outliers` finds; all three
    are None if there are no other edges. `nodes_sure` and `nodes_unknown` are the fractions of
    nodes with a confidence of at least `SURE`, and without any. `worst_edges` are the measurements
    that disagree most with the angles. Angles are in radians.
    """
    checked = ~graph.bridges
    residual = np.abs(solution.residual(graph))[checked]
    outliers, noise = estimate_outliers(residual) if len(residual) else (None, None)
    return {
        "unit": RADIANS.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "edges_unchecked": int((~checked).sum()),
        "components": graph.num_components,
        "k": solution.k,
        "residual_quantiles": {
            f"{level:g}": float(np.quantile(residual, level)) if len(residual) else None
            for level in QUANTILES
        },
        "outlier_share": outliers,
        "inlier_noise": noise,
        "nodes_sure": _share_of_nodes(solution, SURE),
        "nodes_unknown": _share_of_nodes(solution, None),
        "node_deviation": _typical_deviation(solution),
        "worst_edges": worst_edges(graph, solution),
        "converged": bool(solution.converged),
        "iterations": int(solution.iterations),
        "stop_reason": solution.stop_reason,
        "seconds_solve": float(solution.seconds),
    }


def worst_edges(
    graph: MeasurementGraph, solution: Solution, most: int = WORST_EDGES
) -> list[dict[str, Any]]:
    """The measurements of largest |residual|, worst first: number, nodes, offset, confidence.

    Residuals within `_ROUNDING` are none.
    """
    residual, names = solution.residual(graph), graph.names
    size = np.abs(residual)
    # Sorting a million residuals takes longer than finding the largest.
    largest = np.argpartition(-size, most)[:most] if len(size) > most else np.arange(len(size))
    largest = largest[np.argsort(-size[largest], kind="stable")]
    return [
        {
            "edge": e,
            "src": plain_name(names[graph.src[e]]),
            "dst": plain_name(names[graph.dst[e]]),
            "offset": float(graph.offset[e]),
            "residual": float(residual[e]),
            "confidence": _number(solution.edge_confidence[e]),
        }
        for e in largest.tolist()
        if size[e] > _ROUNDING
    ]


def plain_name(name: Any) -> int | str:
    """The name of a node as JSON can hold it."""
    return name if isinstance(name, int) else str(name)


def _share_of_nodes(solution: Solution, least: float | None) -> float | None:
    """Fraction of nodes with at least this confidence, or with an unknown one if `least` is None.

    None if there are no confidences.
    """
    confidence = solution.node_confidence
    if confidence is None:
        return None
    counted = np.isnan(confidence) if least is None else confidence >= least
    return float(counted.mean())


def _typical_deviation(solution: Solution) -> float | None:
    """Median of the standard deviations that are known; None if there are none."""
    if solution.node_deviation is None:
        return None
    known = solution.node_deviation[np.isfinite(solution.node_deviation)]
    return float(np.median(known)) if len(known) else None


def _number(value: float) -> float | None:
    """A figure as JSON can hold it: None for NaN."""
    return None if np.isnan(value) else float(value)
