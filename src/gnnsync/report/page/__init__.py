"""The page of a report: one HTML file that shows all points and works offline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from gnnsync.plots.page.self_contained import script_json, script_text, self_contained
from gnnsync.report import naming
from gnnsync.report.aggregation import (
    LABEL,
    LIMITS,
    aggregate,
    data_columns,
    distinct_replicas,
    sweep_names,
)
from gnnsync.report.naming import LOGARITHMIC, METRICS, NOISE, UNRANKED
from gnnsync.report.page.gallery import Gallery
from gnnsync.report.searches import searches, studied
from gnnsync.report.styles import Style, marker_path
from gnnsync.report.training import MOST_CURVES, training_curve
from gnnsync.results.collect import Absent, Collection
from gnnsync.results.names import noise_title, variant_name

# Parts of the script, in order; all share one scope.
_SCRIPTS = (
    "base",
    "selection",
    "plot",
    "point",
    "tables",
    "training",
    "search",
    "gallery",
    "start",
)


def page(collection: Collection, heading: str, gallery: Gallery | None = None) -> str:
    """The page as HTML with its style, script and data.

    Names and values from the results are embedded as JSON and inserted as text, never as markup.
    The content security policy allows only the page's own script, identified by its SHA-256 hash.
    """
    script = '"use strict";\n(() => {\n' + script_text(__package__, *_SCRIPTS) + "})();\n"
    data = script_json(page_data(collection, gallery or Gallery()))
    return self_contained(__package__, heading, script, {"DATA": data})


def page_data(collection: Collection, gallery: Gallery | None = None) -> dict[str, Any]:
    """The data of the page: points rather than rows, training curves, searches, the gallery."""
    rows, looks = studied(collection)
    # Data read from a file have no known noise level.
    rows = rows.assign(**{NOISE: rows[NOISE].fillna(0.0) if NOISE in rows else 0.0})
    sets = _sets(rows)
    metrics = [name for name in METRICS if name in rows and rows[name].notna().any()]
    variants = list(looks)
    values = {name: _values(name, rows[name]) for name in data_columns(rows)}
    lines: dict[str, int] = {"": 0}
    points: list[list[Any]] = []
    for number, part in enumerate(sets.values()):
        found = aggregate(part, [*values, NOISE, LABEL], metrics, collection.lines)
        points += _arrays(found, number, values, metrics, variants, lines)
    gallery = gallery or Gallery()
    return {
        "rows": len(distinct_replicas(collection.rows)),
        "jobs": int(collection.rows["job_hash"].nunique()),
        "sweeps": list(sets),
        "columns": [_column(name, known) for name, known in values.items()],
        "noise": [noise_title(outliers=True), noise_title(outliers=False)],
        "metrics": [_metric(name) for name in metrics],
        "variants": _variants(looks),
        "lines": list(lines),
        "points": points,
        "curves": _curves(sets["all"], values, variants, collection),
        "searches": [asdict(search) for search in searches(collection)],
        "figures": gallery.figures,
        "tables": gallery.tables,
        "absent": [_absent(job) for job in collection.absent],
    }


def _sets(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each choice of the control "sweep": all, and each sweep if there are several."""
    names = sweep_names(rows)
    alone = {name: rows[rows["sweep"] == name] for name in names if len(names) > 1}
    return {"all": distinct_replicas(rows)} | alone


def _column(name: str, values: list[Any]) -> dict[str, Any]:
    return {
        "key": name,
        "title": naming.column_title(name),
        "prefix": naming.fact(name, ""),
        "values": [naming.value_text(name, value) for value in values],
    }


def _metric(name: str) -> dict[str, Any]:
    scale = "log" if name in LOGARITHMIC else "linear"
    return {
        "key": name,
        "title": METRICS[name],
        "scale": scale,
        "band": name == "mse",
        "ranked": name not in UNRANKED,
    }


def _variants(looks: Mapping[str, Style]) -> list[dict[str, Any]]:
    return [
        {
            "label": variant_name(label),
            "colour": style.colour,
            "dashed": style.dashed,
            "marker": marker_path(style.marker),
        }
        for label, style in looks.items()
    ]


def _curves(
    rows: pd.DataFrame,
    values: dict[str, list[Any]],
    variants: Sequence[str],
    collection: Collection,
) -> list[list[Any]]:
    """The training curve of each point's first job: data columns, noise, variant, losses."""
    if "loss" not in rows:  # no method that trains
        return []
    learned = rows[rows["loss"].notna()]
    jobs = learned.groupby([*values, NOISE, LABEL], dropna=False, sort=False)["job_hash"].first()
    place = {
        name: {_key(value): i for i, value in enumerate(known)} for name, known in values.items()
    }
    found = []
    for (*cell, noise, label), digest in list(jobs.items())[:MOST_CURVES]:
        curve = training_curve(collection.folders[digest])
        if curve is not None:
            columns = [place[name][_key(v)] for name, v in zip(values, cell, strict=True)]
            losses = [curve.steps, curve.train, curve.evaluation]
            found.append([columns, float(f"{noise:.6g}"), variants.index(label), *losses])
    return found


def _absent(job: Absent) -> dict[str, str]:
    return {
        "state": job.state,
        "sweep": job.sweep,
        "reason": job.reason,
        "command": job.line,
        "job": job.job_hash,
    }


def _arrays(
    found: pd.DataFrame,
    sweep: int,
    values: dict[str, list[Any]],
    metrics: Sequence[str],
    variants: Sequence[str],
    lines: dict[str, int],
) -> list[list[Any]]:
    """One array per point, in the order documented in page.js.

    A line is stored as its number in `lines`, to which new lines are added.
    """
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
    """The distinct values of a column in order, and last None if some are missing."""
    return naming.values_in_order(column, values) + ([None] if values.isna().any() else [])


def _key(value: Any) -> Any:
    return None if pd.isna(value) else value


def _numbers(values: pd.Series) -> list[float | None]:
    """Numbers rounded to six significant digits, to keep the page small; None for NaN."""
    return [None if math.isnan(v) else float(f"{v:.6g}") for v in values.astype(float)]
