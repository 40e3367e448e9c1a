"""What a solution says about its measurements, in a few figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution

# Confidence from which a node counts as sure.
SURE = 0.95
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)

# Residuals that vanish to rounding would make the normal density infinite.
_LEAST_NOISE = 1e-6


def summarize(graph: MeasurementGraph, solution: Solution) -> dict[str, Any]:
    """Counts, quantiles of |residual| (radians), outlier share and noise, how the method ended."""
    residual = np.abs(solution.residual(graph))
    share, noise = estimate_outliers(residual)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "components": graph.num_components,
        "k": solution.k,
        "residual_quantiles": {
            f"{level:g}": float(np.quantile(residual, level)) if len(residual) else 0.0
            for level in QUANTILES
        },
        "outlier_share": share,
        "inlier_noise": noise,
        "nodes_sure": _sure(solution),
        "converged": bool(solution.converged),
        "iterations": int(solution.iterations),
        "stop_reason": solution.stop_reason,
        "seconds_solve": float(solution.seconds),
    }


def _sure(solution: Solution) -> float | None:
    """Share of nodes whose angles are right with probability 0.95; None if nobody says."""
    confidence = solution.node_confidence
    return None if confidence is None else float((confidence >= SURE).mean())


def estimate_outliers(
    residual: NDArray[np.float64], max_iterations: int = 200
) -> tuple[float, float]:
    """Share η of outliers and noise σ of inliers from residuals (m,), by maximum likelihood.

    The residuals are taken as a mixture: uniform on the circle with probability η, normal with
    standard deviation σ otherwise; fitted by expectation maximisation. Since angles are fitted to
    the measurements, outliers included, η is rather too low than too high on sparse graphs.
    """
    size = np.abs(np.asarray(residual, dtype=np.float64))
    if not len(size):
        return 0.0, 0.0
    uniform = 1.0 / (2.0 * np.pi)
    share = 0.5
    noise = max(float(np.median(size)) / 0.6745, _LEAST_NOISE)
    for _ in range(max_iterations):
        normal = np.exp(-0.5 * (size / noise) ** 2) / (np.sqrt(2.0 * np.pi) * noise)
        inlier = (1 - share) * normal / ((1 - share) * normal + share * uniform + 1e-300)
        total = inlier.sum()
        new_share = 1.0 - float(total) / len(size)
        new_noise = max(float(np.sqrt((inlier * size**2).sum() / max(total, 1e-300))), _LEAST_NOISE)
        settled = abs(new_share - share) < 1e-7 and abs(new_noise - noise) < 1e-7
        share, noise = new_share, new_noise
        if settled:
            break
    return min(max(share, 0.0), 1.0), noise
