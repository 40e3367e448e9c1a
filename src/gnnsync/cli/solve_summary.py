"""The summary that `gnnsync solve` prints."""

from __future__ import annotations

from typing import Any

from gnnsync.solution import NODE_TOLERANCE, SURE


def summary_text(summary: dict[str, Any]) -> str:
    """One line per figure of the summary, with its name in front."""
    quantiles = ", ".join(
        f"{float(level):.0%} {value:.3g}" for level, value in summary["residual_quantiles"].items()
    )
    ended = "converged" if summary["converged"] else "NOT converged"
    trusted = f"{summary['trusted']} edges (--trust none turns this off)"
    lines = {
        "nodes": summary["nodes"],
        "edges": summary["edges"],
        "trusted": trusted if summary["trusted"] else None,
        "components": summary["components"],
        "method": f"{summary['method']} (k = {summary['k']}), {ended}: {summary['stop_reason']}",
        "|residual|": f"{quantiles} rad",
        "outliers": f"about {summary['outlier_share']:.1%}; noise of the inliers "
        f"{summary['inlier_noise']:.3g} rad",
        "confidence": _confidence_text(summary["nodes_sure"]),
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    return "\n".join(f"{name:<11} {value}" for name, value in lines.items() if value is not None)


def _confidence_text(fraction: float | None) -> str | None:
    if fraction is None:
        return None
    return f"{fraction:.1%} of the nodes are within {NODE_TOLERANCE:g} rad with {SURE:.0%} or more"
