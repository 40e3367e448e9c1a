"""From rows to points: mean and spread over the replicas of one variant on one kind of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

NOISE = "data.eta"
GRAPH, PRIOR, DENSITY, GROUPS = "data.graph", "data.angles", "data.p", "data.k"
LABEL = "label"

# What is averaged, with the name on an axis.
METRICS = {
    "mse": "MSE",
    "ane": "ANE",
    "geodesic_mse": "geodesic MSE",
    "upset": "upset",
    "cycle_inconsistency": "cycle inconsistency",
    "seconds_train": "seconds per replica",
}
LIMITS = ("limit_oracle", "limit_certifiable")
# In the order of the paper; whatever is not named here comes after, by its own name.
GRAPHS = {"erdos_renyi": "ERO", "barabasi_albert": "BAO", "random_geometric": "RGGO"}
PRIORS = {
    "GammaAngles": "1: gamma",
    "NormalRankOneAngles": "2: normal, rank 1",
    "NormalIIDAngles": "3: normal, iid",
    "NormalBlockAngles": "4: normal, blocks",
    "UniformAngles": "uniform",
}
_METHODS = (
    "gnnsync",
    "gnnsync_plus",
    "spectral",
    "spectral_rn",
    "gpm",
    "transync",
    "cemp_gcw",
    "cemp_mst",
    "tas",
    "irls",
    "trivial",
)
_TITLES = {GRAPH: "graph", PRIOR: "prior", "data.inlier_noise": "σ", NOISE: "η"}


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a `label`: the variant, and its budget where one variant comes with several.

    Rows of different budgets are then never averaged.
    """
    variant = rows["variant"] if "variant" in rows else rows["method"]
    label = variant.astype("str")
    for column in [name for name in rows if str(name).startswith("trainer.")]:
        value = rows[column].map(_text, na_action="ignore")
        several = value.fillna("").groupby(variant).transform("nunique") > 1
        told = several & value.notna()
        short = str(column).removeprefix("trainer.")
        label = label.where(~told, label + f" {short}=" + value.fillna("").astype("str"))
    return rows.assign(**{LABEL: label})


def data_columns(rows: pd.DataFrame) -> list[str]:
    """What distinguishes the data of these rows, besides the noise level: the paper's axes first.

    A column in which all rows agree counts only if it is one of those.
    """
    axes = [name for name in (GROUPS, GRAPH, PRIOR, DENSITY) if name in rows]
    others = [str(name) for name in rows if str(name).startswith("data.") and name not in axes]
    # What only one kind of data has (neighbours of a patch) tells nothing that the graph does not.
    varying = [name for name in others if name != NOISE and rows[name].nunique() > 1]
    return axes + varying


def aggregate(
    rows: pd.DataFrame,
    by: Sequence[str],
    metrics: Sequence[str] | None = None,
    lines: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One point per group: mean, standard deviation (of the runs themselves, ddof 0) and number.

    Columns `METRIC`, `METRIC_std` and `METRIC_n`, the mean of both limits, and with `lines` (by
    job) the line that reproduces the point's first job and how many jobs it is made of.
    """
    wanted = [name for name in (metrics or METRICS) if name in rows]
    limits = [name for name in LIMITS if name in rows]
    grouped = rows.groupby(list(by), dropna=False, sort=False)
    parts = []
    if wanted:
        values = grouped[wanted]
        parts += [
            values.mean(),
            values.std(ddof=0).add_suffix("_std"),
            values.count().add_suffix("_n"),
        ]
    if limits:
        parts.append(grouped[limits].mean())
    if lines is not None:
        first_job = grouped["job_hash"].first()
        line = first_job.map(lambda digest: lines.get(digest, "")).rename("line")
        parts += [line, grouped["job_hash"].nunique().rename("jobs")]
    return pd.concat(parts, axis=1).reset_index()


def ordered(labels: Sequence[str]) -> list[str]:
    """Variants in the order of the paper: GNNSync first, then the baselines, then all else."""

    def place(label: str) -> tuple[int, str]:
        method = label.split(" ")[0].removeprefix("refined/")
        return (_METHODS.index(method) if method in _METHODS else len(_METHODS), label)

    return sorted(set(labels), key=place)


def values_in_order(column: str, values: pd.Series) -> list[Any]:
    """Distinct values of a data column: graphs and priors as in the paper, others sorted."""
    known = list({GRAPH: GRAPHS, PRIOR: PRIORS}.get(column, {}))
    found = list(values.dropna().unique())

    def place(value: Any) -> tuple[int, Any]:
        return (known.index(value), "") if value in known else (len(known), value)

    return sorted(found, key=place)


def title(column: str) -> str:
    """A data column as people call it."""
    return _TITLES.get(column, column.removeprefix("data."))


def shown(column: str, value: Any) -> str:
    """A value of a data column as people call it."""
    if column == GRAPH:
        return GRAPHS.get(str(value), str(value))
    if column == PRIOR:
        return PRIORS.get(str(value), str(value))
    return _text(value)


def said(column: str, value: Any) -> str:
    """A data column and its value in a heading: `ERO`, `prior 1: gamma`, `p = 0.05`."""
    if column == GRAPH:
        return shown(column, value)
    return f"{title(column)}{' ' if column == PRIOR else ' = '}{shown(column, value)}"


def _text(value: Any) -> str:
    if value is None or value != value or value is pd.NA:
        return "–"
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
