"""The summary that `gnnsync solve` prints."""

from __future__ import annotations

from typing import Any

from gnnsync.cli.solve.between import between_lines
from gnnsync.errors import printable
from gnnsync.solution import NODE_TOLERANCE, SURE
from gnnsync.units import UNITS


def summary_text(summary: dict[str, Any]) -> str:
    """One line per figure of the summary, in its unit, with its name in front; lists follow."""
    ended = "converged" if summary["converged"] else "NOT converged"
    if summary["converged"] and summary["stop_reason"].startswith("time limit"):
        ended = "best so far"
    trusted = f"{summary['trusted']} edges (--trust none turns this off)"
    lines = {
        "nodes": summary["nodes"],
        "edges": summary["edges"],
        "trusted": trusted if summary["trusted"] else None,
        "unchecked": _unchecked_text(summary),
        "anchors": _anchors_text(summary),
        "components": summary["components"],
        "method": f"{summary['method']} (k = {summary['k']}), {ended}: {summary['stop_reason']}",
        "|residual|": _quantiles_text(summary),
        "outliers": _noise_text(summary),
        "confidence": _confidence_text(summary),
        "deviation": _deviation_text(summary),
        "hint": _second_set_text(summary),
        "time": f"{summary['seconds_read']:.2f} s to read, "
        f"{summary['seconds_solve']:.2f} s to solve",
    }
    text = [f"{name:<11} {value}" for name, value in lines.items() if value is not None]
    return "\n".join([*text, *_worst_lines(summary), *between_lines(summary)])


def angle_text(value: float, summary: dict[str, Any]) -> str:
    """An angle of the summary, which is in its unit already, with the symbol of it."""
    return UNITS[summary["unit"]].label(f"{value:.3g}")


def _unchecked_text(summary: dict[str, Any]) -> str | None:
    count, edges = summary["edges_unchecked"], summary["edges"]
    if not count:
        return None
    text = f"{count} of {edges} measurements are on no cycle"
    return f"no redundancy: {text}" if count == edges else f"{text}: nothing checks them"


def _anchors_text(summary: dict[str, Any]) -> str | None:
    if not summary.get("anchors"):
        return None
    wrong = summary["anchors_contradicted"]
    contradicted = f"; the measurements contradict {wrong} of them (see the warning)" * bool(wrong)
    return f"{summary['anchors']} known angles held{contradicted}"


def _quantiles_text(summary: dict[str, Any]) -> str | None:
    quantiles = summary["residual_quantiles"]
    if None in quantiles.values():
        return None
    text = ", ".join(f"{float(level):.0%} {value:.3g}" for level, value in quantiles.items())
    return UNITS[summary["unit"]].label(text)


def _noise_text(summary: dict[str, Any]) -> str:
    if summary["outlier_share"] is None:
        return "unknown, and so is the noise: no measurement is checked by others"
    noise = angle_text(summary["inlier_noise"], summary)
    return f"about {summary['outlier_share']:.1%}; noise of the inliers {noise}"


def _confidence_text(summary: dict[str, Any]) -> str | None:
    sure, unknown = summary["nodes_sure"], summary["nodes_unknown"]
    if sure is None:
        return None
    if unknown == 1.0:
        return f"unknown: {_why_unknown(summary)}"
    within = UNITS[summary["unit"]].format(NODE_TOLERANCE)
    text = f"{sure:.1%} of the nodes are within {within} with {SURE:.0%} or more"
    return f"{text}; {unknown:.1%} are unknown" if unknown else text


def _why_unknown(summary: dict[str, Any]) -> str:
    if summary["edges_unchecked"] == summary["edges"]:
        return "nothing checks the measurements"
    if summary["stop_reason"].startswith("time limit"):
        return "it was not computed within the time limit"
    return "too few measurements are checked to tell how many are wrong"


def _deviation_text(summary: dict[str, Any]) -> str | None:
    if summary["node_deviation"] is None:
        return None
    return f"{angle_text(summary['node_deviation'], summary)} for the median of the nodes"


def _second_set_text(summary: dict[str, Any]) -> str | None:
    second = summary.get("second_set")
    if second is None:
        return None
    return f"k = 2 explains {second['explained']:.0%} of the edges; try --k 2"


def _probability_text(probability: float | None) -> str:
    """A probability to three decimals: what is smaller is 0 to a reader."""
    return "unknown" if probability is None else f"{round(probability, 3):g}"


def _worst_lines(summary: dict[str, Any]) -> list[str]:
    worst = summary["worst_edges"]
    if not worst:
        return []
    rows = [
        (
            f"{printable(edge['src'])} - {printable(edge['dst'])}",
            f"offset {angle_text(edge['offset'], summary)}",
            f"residual {angle_text(edge['residual'], summary)}",
            f"confidence {_probability_text(edge['confidence'])}",
        )
        for edge in worst
    ]
    width = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = (
        "  ".join(cell.ljust(w) for cell, w in zip(row, [*width, 0], strict=True)) for row in rows
    )
    return ["worst edges", *(f"  {line}" for line in lines)]
