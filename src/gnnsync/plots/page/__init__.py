"""One self-contained HTML page of a solution: summary, figures, sortable tables."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gnnsync.plots.page.self_contained import (
    image_address,
    script_json,
    script_text,
    self_contained,
)
from gnnsync.typing import FloatArray, IntArray

# Most rows of a table: a page of two such tables has a few megabytes and opens at once.
MOST_ROWS = 20_000
# Dots per inch of the figures: sharp on screens with two pixels per point.
_DPI = 140


Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the page.

    Args:
        name: `nodes` or `edges`.
        columns: values by title, all of the same length; NaN is shown as unknown.
        order: (r,) rows that the page holds, the most interesting first.
        note: why these, if they are not all.
    """

    name: str
    columns: Mapping[str, Column]
    order: IntArray
    note: str = ""

    @classmethod
    def ranked(cls, name: str, columns: Mapping[str, Column], rank: FloatArray, what: str) -> Table:
        """The rows of largest `rank` (r,) first, at most `MOST_ROWS`; `what` says which these are.

        Rows whose rank is NaN come last.
        """
        order = np.argsort(np.where(np.isnan(rank), np.inf, -rank), kind="stable")
        note = ""
        if len(order) > MOST_ROWS:
            note = f"{MOST_ROWS:,} of {len(order):,} {name}: {what}"
        return cls(name, columns, order[:MOST_ROWS], note)

    def content(self) -> dict[str, Any]:
        """Title, columns and rows as JSON can hold them."""
        cells = [[_plain(column[i]) for i in self.order] for column in self.columns.values()]
        rows = zip(*cells, strict=True)
        return {
            "name": self.name,
            "note": self.note,
            "titles": list(self.columns),
            "rows": [list(row) for row in rows],
        }


def html_page(
    title: str,
    summary: str,
    figures: Mapping[str, Figure],
    tables: Sequence[Table],
    command: str = "",
) -> str:
    """The page, with its style, script, figures and data; it loads nothing.

    Names of nodes and files are embedded as JSON or escaped, and shown as text, never as markup.
    The content security policy allows the page's own script alone, identified by its hash.

    Args:
        title: heading of the page.
        summary: text of several lines.
        figures: by what they show, in their order.
        tables: of nodes and edges.
        command: what made the page.
    """
    made = f"<p>Made by <code>{html.escape(command)}</code></p>" if command else ""
    parts = {
        "SUMMARY": html.escape(summary),
        "COMMAND": made,
        "FIGURES": "\n".join(_picture(name, figure) for name, figure in figures.items()),
        "TABLES": script_json([table.content() for table in tables]),
    }
    return self_contained(__package__, title, script_text(__package__, "page"), parts)


def _picture(name: str, figure: Figure) -> str:
    """A figure as an image within the page."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI)
    text = html.escape(name, quote=True)
    return f'<img alt="{text}" title="{text}" src="{image_address(stream.getvalue())}">'


def _plain(value: Any) -> Any:
    """A number, short text or None as JSON can hold it; six digits are enough for a table."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return str(value)
