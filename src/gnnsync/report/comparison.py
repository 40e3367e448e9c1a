"""One figure of a whole sweep: MSE against noise, one panel per data set."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from gnnsync.report.aggregation import LABEL, aggregate, data_columns
from gnnsync.report.figures import noise_curves
from gnnsync.report.naming import NOISE, fact
from gnnsync.report.panels import draw_panels
from gnnsync.report.references import with_references
from gnnsync.report.styles import styles

_PANELS_PER_ROW = 4


def varies(rows: pd.DataFrame) -> bool:
    """Whether the rows hold the MSE at more than one noise level."""
    return "mse" in rows and NOISE in rows and rows[NOISE].nunique() > 1


def comparison_figure(rows: pd.DataFrame) -> Figure:
    """One panel per data set, one line per variant: mean ± standard deviation over replicas.

    The band between oracle and certifiable limit is shaded. Lines of learned methods are dashed.
    """
    rows = with_references(rows)
    rows = rows[rows["mse"].notna()]
    columns = data_columns(rows)
    keys = [name for name in columns if rows[name].nunique(dropna=False) > 1]
    groups: Any = rows.groupby(keys, dropna=False) if keys else [((), rows)]
    panels = [
        (
            ", ".join(fact(name, value) for name, value in zip(keys, values, strict=True)),
            aggregate(part, [NOISE, LABEL], ["mse"]),
        )
        for values, part in groups
    ]
    common = [fact(name, rows[name].iloc[0]) for name in columns if name not in keys]
    arranged = [panels[i : i + _PANELS_PER_ROW] for i in range(0, len(panels), _PANELS_PER_ROW)]
    return draw_panels(
        arranged, noise_curves(rows, "mse"), styles(list(rows[LABEL])), ", ".join(common)
    )
