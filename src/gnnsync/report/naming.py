"""Names and order of variants, data columns and their values in figures, tables and the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from gnnsync.results.names import GRAPHS, METHODS, PRIORS, method_of

NOISE, GRAPH, PRIOR = "data.eta", "data.graph", "data.angles"
DENSITY, GROUPS = "data.p", "data.k"

# Metrics that are averaged, with their axis label.
METRICS = {
    "mse": "MSE",
    "ane": "ANE",
    "rmse_localizable": "RMSE of localizable points",
    "geodesic_mse": "geodesic MSE",
    "upset": "upset",
    "cycle_inconsistency": "cycle inconsistency",
    "set_agreement": "agreement of sets",
    "seconds_train": "seconds per replica",
}
# Metrics on a logarithmic axis.
LOGARITHMIC = ("mse", "ane", "rmse_localizable", "geodesic_mse")
# Metrics of which less is not better.
UNRANKED = ("set_agreement",)
_TITLES = {GRAPH: "graph", PRIOR: "prior", "data.inlier_noise": "σ", NOISE: "η"}


def in_paper_order(labels: Sequence[str]) -> list[str]:
    """Distinct variants: GNNSync first, then the paper's baselines, then all others."""
    known = list(METHODS)

    def place(label: str) -> tuple[int, str]:
        method = method_of(label)
        return (known.index(method) if method in known else len(known), label)

    return sorted(set(labels), key=place)


def values_in_order(column: str, values: pd.Series) -> list[Any]:
    """Distinct values of a data column: graphs and priors as in the paper, others sorted."""
    known = list({GRAPH: GRAPHS, PRIOR: PRIORS}.get(column, {}))
    found = list(values.dropna().unique())

    def place(value: Any) -> tuple[int, Any]:
        return (known.index(value), "") if value in known else (len(known), value)

    return sorted(found, key=place)


def column_title(column: str) -> str:
    """Title of a data column: `p`, `η`, `prior`."""
    return _TITLES.get(column, column.removeprefix("data."))


def value_text(column: str, value: Any) -> str:
    """A value of a data column as text: `ERO` for `erdos_renyi`, `0.05`."""
    if column == GRAPH:
        return GRAPHS.get(str(value), str(value))
    if column == PRIOR:
        return PRIORS.get(str(value), str(value))
    return plain_text(value)


def fact(column: str, value: Any) -> str:
    """A data column and its value in a heading: `ERO`, `prior 1: gamma`, `p = 0.05`."""
    if column == GRAPH:
        return value_text(column, value)
    return f"{column_title(column)}{' ' if column == PRIOR else ' = '}{value_text(column, value)}"


def plain_text(value: Any) -> str:
    """Any value as text; a dash for a missing one."""
    if value is None or value is pd.NA or value != value:
        return "–"
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
