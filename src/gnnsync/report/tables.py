"""Tables as in the paper: mean ± standard deviation, best in bold, second best underlined."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from gnnsync.io.files import write_text
from gnnsync.report import naming
from gnnsync.report.aggregation import LABEL, aggregate, data_columns
from gnnsync.report.naming import GRAPH, METRICS, NOISE, UNRANKED
from gnnsync.report.parts import parts
from gnnsync.report.references import with_references
from gnnsync.results.names import variant_name

# Metrics that have tables: the ANE for maps, the agreement of sets for k > 1.
TABLED = ("mse", "ane", "rmse_localizable", "set_agreement")
_DIGITS = 3  # decimals shown, as in the paper; ranks are of the rounded means
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "η": r"$\eta$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "±": r"$\pm$",
    "−": "--",
}


@dataclass(frozen=True)
class Table:
    """One table: a row per data set and noise level, a column per variant.

    Args:
        name: file name without the ending.
        caption: metric, data and number of runs.
        by: the columns that identify a row, the noise level last.
        points: from `aggregate`, one per row and variant.
        metric: the column of `points` that is shown.
    """

    name: str
    caption: str
    by: list[str]
    points: pd.DataFrame
    metric: str

    def markdown(self) -> str:
        """A Markdown table: best in bold, second best in <ins> (underlined)."""
        lines = [
            _markdown(self.caption),
            "",
            "| " + " | ".join(map(_markdown, self.head)) + " |",
            "|" + "---|" * len(self.by) + "---:|" * len(self.labels),
        ]
        marks: dict[int | None, str] = {1: "**{}**", 2: "<ins>{}</ins>"}
        for row in self.rows:
            cells = [marks.get(c.rank, "{}").format(c.text) if c else "" for c in row.cells]
            lines.append("| " + " | ".join([*map(_markdown, row.texts), *cells]) + " |")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        r"""A LaTeX `tabular` with booktabs rules, \textbf and \underline."""
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(self.caption)}}}",
            rf"\begin{{tabular}}{{{'l' * len(self.by)}{'r' * len(self.labels)}}}",
            r"\toprule",
            " & ".join(map(_latex, self.head)) + r" \\",
            r"\midrule",
        ]
        marks: dict[int | None, str] = {1: r"\textbf{%s}", 2: r"\underline{%s}"}
        for row in self.rows:
            cells = [marks.get(c.rank, "%s") % _latex(c.text) if c else "" for c in row.cells]
            lines.append(" & ".join([*map(_latex, row.texts), *cells]) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])

    def csv(self) -> str:
        """One line per row and variant: mean, standard deviation, number of runs and rank."""
        buffer = io.StringIO()
        # The writer quotes line feeds by itself, carriage returns only with all other text.
        odd = any("\r" in str(text) for row in self.rows for text in (*row.values, *self.labels))
        writer = csv.writer(
            buffer,
            lineterminator="\n",
            quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL,
        )
        names = [name.removeprefix("data.") for name in self.by]
        writer.writerow([*names, "variant", "mean", "std", "runs", "rank"])
        for row in self.rows:
            for label, cell in zip(self.labels, row.cells, strict=True):
                if cell:
                    numbers = [cell.mean, cell.std, cell.runs, cell.rank]
                    writer.writerow([*row.values, label, *numbers])
        return buffer.getvalue()

    @cached_property
    def labels(self) -> list[str]:
        """The variants, in the order of the columns."""
        return naming.in_paper_order(list(self.points[LABEL]))

    @property
    def head(self) -> list[str]:
        """Titles of the columns: the data, then the variants with the paper's names."""
        titles = [naming.column_title(name) for name in self.by]
        return titles + [variant_name(label) for label in self.labels]

    @cached_property
    def rows(self) -> list[Row]:
        """The rows in order; a cell's rank is its place in its row, equal shown means share it."""
        keys = list(zip(*(self.points[name] for name in self.by), strict=True))
        numbers = [self.points[f"{self.metric}{end}"] for end in ("", "_std", "_n")]
        found: dict[tuple[object, ...], dict[str, tuple[float, float, int]]] = {}
        for key, label, *values in zip(keys, self.points[LABEL], *numbers, strict=True):
            found.setdefault(key, {})[label] = tuple(values)
        order = [
            {value: i for i, value in enumerate(naming.values_in_order(name, self.points[name]))}
            for name in self.by
        ]

        def place(key: tuple[object, ...]) -> list[int]:
            return [places.get(v, len(places)) for places, v in zip(order, key, strict=True)]

        return [self._row(key, found[key]) for key in sorted(found, key=place)]

    def _row(self, key: tuple[object, ...], own: dict[str, tuple[float, float, int]]) -> Row:
        ranking = sorted({round(mean, _DIGITS) for mean, _, _ in own.values() if mean == mean})
        ranked = self.metric not in UNRANKED
        cells: list[Cell | None] = []
        for label in self.labels:
            mean, std, runs = own.get(label, (float("nan"), 0.0, 0))
            rank = 1 + ranking.index(round(mean, _DIGITS)) if ranked and mean == mean else None
            cells.append(Cell(mean, std, int(runs), rank) if mean == mean else None)
        texts = [naming.value_text(name, value) for name, value in zip(self.by, key, strict=True)]
        return Row(list(key), texts, cells)


@dataclass(frozen=True)
class Cell:
    """One cell of a table; rank 1 is the best, None if the metric has no best."""

    mean: float
    std: float
    runs: int
    rank: int | None

    @property
    def text(self) -> str:
        """Mean ± standard deviation."""
        return f"{self.mean:.{_DIGITS}f} ± {self.std:.{_DIGITS}f}"


@dataclass(frozen=True)
class Row:
    """The values that identify a row, raw and as text, and its cells (None if there is no run)."""

    values: list[object]
    texts: list[str]
    cells: list[Cell | None]


def tables(rows: pd.DataFrame) -> Iterator[Table]:
    """One table per k, graph and any other data column that varies, of each metric of `TABLED`."""
    if rows.empty:
        return
    rows = with_references(rows)
    for metric in TABLED:
        if metric not in rows:
            continue
        for name, facts, part in parts(metric, rows[rows[metric].notna()], apart=(GRAPH,)):
            inner = [c for c in data_columns(part) if part[c].nunique(dropna=False) > 1]
            by = [*inner, *([NOISE] if NOISE in part else [])]
            if not by:
                by = [next(c for c in data_columns(part))]
            points = aggregate(part, [*by, LABEL], [metric])
            runs = points[f"{metric}_n"]
            count = f"{runs.min()}" if runs.nunique() == 1 else f"{runs.min()} to {runs.max()}"
            caption = f"{METRICS[metric]}, {facts}: mean ± standard deviation over {count} runs."
            yield Table(name, caption, by, points, metric)


def save_table(table: Table, folder: Path) -> list[Path]:
    """Write a table as Markdown, CSV and LaTeX; returns the files."""
    texts = {"md": table.markdown(), "csv": table.csv(), "tex": table.latex()}
    paths = []
    for ending, text in texts.items():
        paths.append(folder / f"{table.name}.{ending}")
        write_text(paths[-1], text)
    return paths


def _markdown(text: str) -> str:
    escaped = re.sub(r"([\\`*_{}\[\]|#~])", r"\\\1", text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
