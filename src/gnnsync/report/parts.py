"""Which rows belong in one figure or table, and what it is called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from gnnsync.report.aggregation import (
    DENSITY,
    GRAPH,
    GROUPS,
    PRIOR,
    data_columns,
    said,
    shown,
    title,
)
from gnnsync.report.panels import layout

_FACTS = (GROUPS, GRAPH, PRIOR, DENSITY, "data.n", "data.inlier_noise")


def parts(
    kind: str, rows: pd.DataFrame, apart: Sequence[str] = ()
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """The rows of one figure each, with a name of its own and a heading.

    Graph, density and prior make panels, unless they are named in `apart`; rows that differ in
    other data do not share a figure. Nor do random graphs and clouds of points, which have no
    density, nor two clouds.
    """
    used: Counter[str] = Counter()
    for places, part in _split(rows, apart):
        name = "_".join([kind, *(word(place, part[place].iloc[0]) for place in places)])
        used[name] += 1
        if used[name] > 1:  # two names that differ only in what a file's may not hold
            name = f"{name}_{used[name]}"
        facts = [
            said(place, part[place].iloc[0])
            for place in dict.fromkeys((*_FACTS, *places))
            if place in part and part[place].nunique() == 1 and part[place].iloc[0] != 0
        ]
        yield name, ", ".join(facts), part


def word(column: str, value: Any) -> str:
    """A value in the name of a file."""
    if column == PRIOR:
        return file_name(re.sub(r"Angles$", "", str(value)))
    text = shown(column, value)
    return file_name(text if column == GRAPH else f"{title(column)}{text}")


def file_name(text: str) -> str:
    """Any text as a name that is one, short, and never leads elsewhere."""
    return re.sub(r"[^\w.+-]+", "_", text).lstrip(".")[:60] or "_"


def _split(rows: pd.DataFrame, apart: Sequence[str]) -> Iterator[tuple[list[str], pd.DataFrame]]:
    """Rows of the same data but for what makes panels, and the columns that name them."""
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
