"""Tables and figure of the rows that `benchmarks.pose_graphs` stores."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.pose_row import GTSAM
from gnnsync.io.files import write_bytes, write_text

# The page between these lines is written by the benchmark.
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
FIGURE = "pose_benchmark.png"
_PANEL = (3.4, 2.8)  # inches
_MARKS = "os^vDPX*"
_FIGURES = ("right", "mse", "seconds", "precision_heading", "recall", "calibration")
# A method is behind GTSAM in a cell if its share of right headings is lower by more than this.
_BEHIND = 0.001


def write_report(
    stored: list[dict[str, Any]], results: Path, page: Path | None = None
) -> list[Path]:
    """Write `results` with the endings .md and .png, and the measured part of a page of the docs.

    The page's figure is written in the folder `figures` beside it.
    """
    if not stored:
        raise SystemExit(f"{results}: holds no rows: run the benchmark first")
    rows = pd.DataFrame(stored)
    # A row that failed has no figures.
    rows = rows.reindex(columns=list(dict.fromkeys([*rows, *_FIGURES])))
    picture = io.BytesIO()
    draw(rows).savefig(picture, format="png", dpi=110)
    table, image = results.with_suffix(".md"), results.with_suffix(".png")
    text = markdown(rows)
    write_text(table, f"# Measured by `python -m benchmarks.pose_graphs`\n\n{text}")
    write_bytes(image, picture.getvalue())
    if page is None:
        return [table, image]
    old = page.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    after = rest.partition(END)[2]
    figure = f"![Share of right headings against false closures](figures/{FIGURE})"
    write_text(page, f"{before}{BEGIN}\n\n{figure}\n\n{text}\n{END}{after}")
    write_bytes(page.parent / "figures" / FIGURE, picture.getvalue())
    return [table, image, page, page.parent / "figures" / FIGURE]


def markdown(rows: pd.DataFrame) -> str:
    """Tables of headings and of closures for each kind of false closure, means over the seeds."""
    methods = list(dict.fromkeys(rows["method"]))
    parts = []
    for title, cells in _conditions(rows):
        parts.append(f"### {title}\n")
        parts.append("Share of right headings, MSE, seconds:\n")
        parts.append(_table(cells, methods, _headings))
        parts.append("Closures: precision, recall, calibration error of the confidence:\n")
        parts.append(_table(cells, methods, _closures))
    behind = _behind(rows)
    parts.append("### Behind GTSAM's GNC\n")
    parts.append("\n".join(f"- {line}" for line in behind) + "\n" if behind else "No cell.\n")
    machines = ", ".join(sorted(set(rows["machine"])))
    parts.append(f"One thread; {machines}.\n")
    return "\n".join(parts)


def draw(rows: pd.DataFrame) -> Figure:
    """Share of right headings against the number of false closures, per graph and method."""
    conditions, graphs = list(_conditions(rows)), list(dict.fromkeys(rows["graph"]))
    methods = list(dict.fromkeys(rows["method"]))
    shape = len(conditions), len(graphs)
    figure = Figure((_PANEL[0] * shape[1], _PANEL[1] * shape[0] + 0.5), layout="constrained")
    panels = figure.subplots(*shape, squeeze=False, sharey=True)
    for line, (title, cells) in zip(panels, conditions, strict=True):
        for axes, graph in zip(line, graphs, strict=True):
            own = cells[cells["graph"] == graph]
            axes.set_visible(not own.empty)
            for i, method in enumerate(methods):
                of = own[own["method"] == method]
                # A run that failed has no right heading.
                mean = of["right"].astype(float).fillna(0.0).groupby(of["count"]).mean()
                axes.plot(mean.index, mean, f"{_MARKS[i % len(_MARKS)]}-", label=method, alpha=0.8)
            axes.set_xscale("symlog", linthresh=10)
            counts = sorted(set(own["count"]))
            axes.set_xticks(counts, [str(count) for count in counts])
            axes.minorticks_off()
            axes.set_ylim(-0.03, 1.03)
            axes.set_title(f"{graph}\n{title}", fontsize="small")
            axes.set_xlabel("false closures")
        line[0].set_ylabel("share of right headings")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small")
    return figure


def _conditions(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Title and rows of each kind and heading of false closures; rows without any are in each."""
    clean = rows["count"] == 0
    keys = list(dict.fromkeys(zip(rows["kind"][~clean], rows["heading"][~clean], strict=True)))
    found = []
    for kind, heading in keys:
        own = (rows["kind"] == kind) & (rows["heading"] == heading)
        title = f"{kind.replace('_', ' ')}, heading {heading}"
        graphs = set(rows["graph"][own])
        found.append((title, rows[own | (clean & rows["graph"].isin(graphs))]))
    return found or [("no false closures", rows)]


def _table(cells: pd.DataFrame, methods: list[str], entry: Callable[[pd.DataFrame], str]) -> str:
    present = [method for method in methods if (cells["method"] == method).any()]
    lines = [
        f"| graph + false closures | {' | '.join(present)} |",
        "|---" * (1 + len(present)) + "|",
    ]
    for (graph, count), cell in cells.groupby(["graph", "count"], sort=True):
        entries = [entry(cell[cell["method"] == method]) for method in present]
        lines.append(f"| {graph} +{count} | {' | '.join(entries)} |")
    return "\n".join(lines) + "\n"


def _headings(rows: pd.DataFrame) -> str:
    done = rows[rows["status"] == "ok"]
    if done.empty:
        return _failure(rows)
    mean = done[list(_FIGURES[:3])].astype(float).mean()
    lost = "" if len(done) == len(rows) else f" ({len(rows) - len(done)} of {len(rows)} failed)"
    right = f"{np.floor(mean['right'] * 1000) / 1000:.3f}"
    return f"{right}, {mean['mse']:.3f}, {_seconds(mean['seconds'])} s{lost}"


def _closures(rows: pd.DataFrame) -> str:
    done = rows[rows["status"] == "ok"]
    if done.empty:
        return _failure(rows)
    names = list(_FIGURES[3:])
    mean = done[names].astype(float).mean()
    return ", ".join("–" if np.isnan(mean[name]) else f"{mean[name]:.2f}" for name in names)


def _failure(rows: pd.DataFrame) -> str:
    return "–" if rows.empty else str(rows["status"].iloc[0]).partition(":")[0]


def _behind(rows: pd.DataFrame) -> list[str]:
    """Cells in which `auto`, `gnc_angles` or `poses` has fewer right headings than GTSAM's GNC."""
    scores = rows.assign(right=rows["right"].astype(float).fillna(0.0))
    found = []
    for key, cell in scores.groupby(["graph", "count", "kind", "heading"], sort=True):
        right = cell.groupby("method")["right"].mean()
        graph, count, kind, heading = key
        for method in ("auto", "gnc_angles", "poses"):
            if {method, GTSAM} <= set(right.index) and right[method] < right[GTSAM] - _BEHIND:
                found.append(
                    f"{graph} +{count} ({kind}, {heading}): {method} {right[method]:.3f}, "
                    f"{GTSAM} {right[GTSAM]:.3f}"
                )
    return found


def _seconds(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"
