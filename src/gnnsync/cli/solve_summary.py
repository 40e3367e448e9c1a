"""The summary that `gnnsync solve` prints."""

from __future__ import annotations

from typing import Any

from gnnsync.solution import NODE_TOLERANCE, SURE
from gnnsync.units import UNITS, Unit


def summary_text(summary: dict[str, Any]) -> str:
    """One line per figure of the summary, in its unit, with its name in front."""
    unit = UNITS[summary["unit"]]
    quantiles = ", ".join(
        f"{float(level):.0%} {value:.3g}" for level, value in summary["residual_quantiles"].items()
    )
    ended = "converged" if summary["converged"] else "NOT converged"
    trusted = f"{summary['trusted']} edges (--trust none turns this off)"
    noise = unit.label(f"{summary['inlier_noise']:.3g}")
    lines = {
        "nodes": summary["nodes"],
        "edges": summary["edges"],
        "trusted": trusted if summary["trusted"] else None,
        "components": summary["components"],
        "method": f"{summary['method']} (k = {summary['k']}), {ended}: {summary['stop_reason']}",
        "|residual|": unit.label(quantiles),
        "outliers": f"about {summary['outlier_share']:.1%}; noise of the inliers {noise}",
        "confidence": _confidence_text(summary["nodes_sure"], unit),
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    return "\n".join(f"{name:<11} {value}" for name, value in lines.items() if value is not None)


def _confidence_text(fraction: float | None, unit: Unit) -> str | None:
    if fraction is None:
        return None
    within = unit.format(NODE_TOLERANCE)
    return f"{fraction:.1%} of the nodes are within {within} with {SURE:.0%} or more"
