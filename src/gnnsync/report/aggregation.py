"""From rows to points: mean and standard deviation over the replicas of a variant on one data set.

A *row* is one replica (network and trial) of one job; a *point* is one variant at one setting of
the data; a *variant* is a method with the options that differ from its default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from gnnsync.report.naming import DENSITY, GRAPH, GROUPS, METRICS, NOISE, PRIOR, plain_text

LABEL = "label"
LIMITS = ("limit_oracle", "limit_certifiable")
_REPLICA = ("job_hash", "network_seed", "trial")
# Columns of how long and with which callbacks a model is trained; no part of its variant.
_BUDGET = ("trainer.", "callbacks.")


def labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column `label`: the variant, and its budget if one variant has several.

    The label is what points are grouped by, so rows of different budgets are never averaged. Rows
    that have the column keep it.
    """
    if LABEL in rows:
        return rows
    variant = rows["variant"] if "variant" in rows else rows["method"]
    label = variant.astype("str")
    for column in [name for name in rows if str(name).startswith(_BUDGET)]:
        value = rows[column].map(plain_text, na_action="ignore")
        several = value.fillna("").groupby(variant).transform("nunique") > 1
        short = str(column).rpartition(".")[2]
        longer = label + f" {short}=" + value.fillna("").astype("str")
        label = label.where(~(several & value.notna()), longer)
    return rows.assign(**{LABEL: label})


def data_columns(rows: pd.DataFrame) -> list[str]:
    """The columns in which the data of these rows differ, except the noise level.

    The paper's axes (k, graph, prior, p) come first and always count; any other column counts
    only if it has several values.
    """
    axes = [name for name in (GROUPS, GRAPH, PRIOR, DENSITY) if name in rows]
    others = [str(name) for name in rows if str(name).startswith("data.") and name not in axes]
    # A column that only one kind of data has (neighbours of a patch) is implied by the graph.
    varying = [name for name in others if name != NOISE and rows[name].nunique() > 1]
    return axes + varying


def distinct_replicas(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without repetitions of a replica, which occur if several sweeps share a job."""
    return rows.drop_duplicates([c for c in (*_REPLICA, LABEL) if c in rows], ignore_index=True)


def sweep_names(rows: pd.DataFrame) -> list[str]:
    """Names of the sweeps the rows come from, sorted."""
    return sorted(map(str, rows["sweep"].dropna().unique())) if "sweep" in rows else []


def aggregate(
    rows: pd.DataFrame,
    by: Sequence[str],
    metrics: Sequence[str] | None = None,
    lines: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """One point per combination of the columns `by`.

    Returns columns `METRIC`, `METRIC_std` (standard deviation with divisor n) and `METRIC_n`
    (number of rows), and the mean of both limits. With `lines` (override line by job hash) also
    `line`, which reproduces the point's first job, and `jobs`, the number of jobs it averages.
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
