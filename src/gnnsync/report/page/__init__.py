"""One HTML page that shows all points, works offline and needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Sequence
from importlib import resources
from typing import Any

import pandas as pd

from gnnsync.report.aggregation import (
    LABEL,
    LIMITS,
    METRICS,
    NOISE,
    aggregate,
    data_columns,
    labelled,
    ordered,
    said,
    shown,
    title,
    values_in_order,
)
from gnnsync.report.styles import styles
from gnnsync.results.collect import Collection

_MARKERS = {"o": "circle", "s": "square", "D": "diamond", "^": "up", "v": "down"}
_SHAPES = tuple(_MARKERS.values())
_WARPED = ("mse", "ane", "geodesic_mse")


def page(collection: Collection, heading: str) -> str:
    """The page as HTML: markup, style, script and data in one text.

    Whatever comes from the results is data: it is embedded as JSON, put into the page as text, and
    the only script that may run is the page's own, named by its hash.
    """
    files = resources.files(__package__)
    script = files.joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "HASH": f"sha256-{digest}",
        "TITLE": html.escape(heading),
        "STYLE": files.joinpath("page.css").read_text(encoding="utf-8"),
        "DATA": _embedded(page_data(collection)),
        "SCRIPT": script,
    }
    # Piece by piece, so that nothing in one part is taken for the place of another.
    pieces = files.joinpath("page.html").read_text(encoding="utf-8").split("@@")
    return "".join(parts[p] if i % 2 else p for i, p in enumerate(pieces))


def page_data(collection: Collection) -> dict[str, Any]:
    """What the page shows: points, not rows, and the jobs that have no result."""
    rows = labelled(collection.rows)
    # Data from a file have no noise level that anyone knows.
    rows = rows.assign(**{NOISE: rows[NOISE].fillna(0.0) if NOISE in rows else 0.0})
    once = rows.drop_duplicates([c for c in ("job_hash", "network_seed", "trial") if c in rows])
    sweeps = sorted(rows["sweep"].dropna().unique()) if "sweep" in rows else []
    sets = [("all", once)]
    if len(sweeps) > 1:
        sets += [(str(name), rows[rows["sweep"] == name]) for name in sweeps]
    columns = data_columns(rows)
    metrics = [name for name in METRICS if name in rows and rows[name].notna().any()]
    variants = ordered(list(rows[LABEL]))
    values = {name: _values(name, rows[name]) for name in columns}
    lines: dict[str, int] = {"": 0}
    points: list[list[Any]] = []
    for number, (_, part) in enumerate(sets):
        found = aggregate(part, [*columns, NOISE, LABEL], metrics, collection.lines)
        points += _arrays(found, number, values, metrics, variants, lines)
    looks = styles(variants)
    return {
        "rows": len(once),
        "jobs": int(once["job_hash"].nunique()),
        "sweeps": [name for name, _ in sets],
        "columns": [
            {
                "key": name,
                "title": title(name),
                "prefix": said(name, ""),
                "values": [shown(name, v) for v in values[name]],
            }
            for name in columns
        ],
        "metrics": [
            {
                "key": name,
                "title": METRICS[name],
                "scale": "log" if name in _WARPED else "linear",
                "band": name == "mse",
            }
            for name in metrics
        ],
        "variants": [
            {
                "label": label,
                "colour": looks[label].colour,
                "dashed": looks[label].dashed,
                "marker": _MARKERS.get(looks[label].marker, _SHAPES[i % len(_SHAPES)]),
            }
            for i, label in enumerate(variants)
        ],
        "lines": list(lines),
        "points": points,
        "absent": [
            {
                "state": job.state,
                "sweep": job.sweep,
                "reason": job.reason,
                "command": job.line,
                "job": job.job_hash,
            }
            for job in collection.absent
        ],
    }


def _arrays(
    found: pd.DataFrame,
    sweep: int,
    values: dict[str, list[Any]],
    metrics: Sequence[str],
    variants: Sequence[str],
    lines: dict[str, int],
) -> list[list[Any]]:
    """One array per point, in the order that page.js documents."""
    columns: list[list[Any]] = [[sweep] * len(found)]
    for name, known in values.items():
        place = {_key(value): i for i, value in enumerate(known)}
        columns.append([place[_key(value)] for value in found[name]])
    columns.append(_numbers(found[NOISE]))
    place = {label: i for i, label in enumerate(variants)}
    columns.append([place[label] for label in found[LABEL]])
    columns.append([lines.setdefault(line, len(lines)) for line in found["line"]])
    columns.append([int(jobs) for jobs in found["jobs"]])
    for name in LIMITS:
        columns.append(_numbers(found[name]) if name in found else [None] * len(found))
    for name in metrics:
        columns += [_numbers(found[name]), _numbers(found[f"{name}_std"])]
        columns.append([int(runs) for runs in found[f"{name}_n"]])
    return [list(point) for point in zip(*columns, strict=True)]


def _values(column: str, values: pd.Series) -> list[Any]:
    """The distinct values of a column; none at all is one of them, the last."""
    return values_in_order(column, values) + ([None] if values.isna().any() else [])


def _key(value: Any) -> Any:
    return None if pd.isna(value) else value


def _numbers(values: pd.Series) -> list[float | None]:
    """Six digits are more than anyone reads off a plot."""
    return [None if math.isnan(v) else float(f"{v:.6g}") for v in values.astype(float)]


def _embedded(content: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
