"""Split rows into those of one figure or table each, with its file name and heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from gnnsync.report.aggregation import data_columns
from gnnsync.report.naming import DENSITY, GRAPH, GROUPS, PRIOR, column_title, fact, value_text
from gnnsync.report.panels import layout

# Columns that a heading states where all rows agree.
_FACTS = (GROUPS, GRAPH, PRIOR, DENSITY, "data.n", "data.inlier_noise")
_LONGEST_NAME = 60  # characters of a file name, without its ending


def parts(
    kind: str, rows: pd.DataFrame, apart: Sequence[str] = ()
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield (distinct file name without ending, heading, rows) of each figure or table.

    Graph, density and prior become panels of one figure, unless `apart` names them; rows that
    differ in other data are in different figures. So are random graphs and point clouds, which
    have no density, and different point clouds.
    """
    used: Counter[str] = Counter()
    for columns, part in _split(rows, apart):
        name = "_".join([kind, *(_name_part(column, part[column].iloc[0]) for column in columns)])
        used[name] += 1
        if used[name] > 1:  # two values that differ only in characters replaced by file_name
            name = f"{name}_{used[name]}"
        facts = [
            fact(column, part[column].iloc[0])
            for column in dict.fromkeys((*_FACTS, *columns))
            if column in part and part[column].nunique() == 1 and part[column].iloc[0] != 0
        ]
        yield name, ", ".join(facts), part


def file_name(text: str) -> str:
    """The text as a short file name without separators or leading dots."""
    return re.sub(r"[^\w.+-]+", "_", text).lstrip(".")[:_LONGEST_NAME] or "_"


def _name_part(column: str, value: Any) -> str:
    """A value of a data column as part of a file name: `ERO`, `p0.05`, `Gamma`."""
    if column == PRIOR:
        return file_name(re.sub(r"Angles$", "", str(value)))
    text = value_text(column, value)
    return file_name(text if column == GRAPH else f"{column_title(column)}{text}")


def _split(rows: pd.DataFrame, apart: Sequence[str]) -> Iterator[tuple[list[str], pd.DataFrame]]:
    """Yield (columns that name the figure, rows that differ only in the columns of the panels)."""
    if rows.empty:
        return
    if DENSITY in rows and rows[DENSITY].isna().any():
        yield from _split(rows[rows[DENSITY].notna()], apart)
        rows, apart = rows[rows[DENSITY].isna()].drop(columns=DENSITY), [*apart, GRAPH]
    panels = {GRAPH, DENSITY, PRIOR} - set(layout(rows)[2]) - set(apart)
    varying = [name for name in data_columns(rows) if rows[name].nunique(dropna=False) > 1]
    splits = [name for name in varying if name not in panels]
    named = [name for name in dict.fromkeys((GROUPS, *apart, *splits)) if name in rows]
    groups: Any = rows.groupby(splits, dropna=False) if splits else [((), rows)]
    for _, part in groups:
        yield named, part
