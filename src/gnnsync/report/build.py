"""Write a report into one folder: the rows, figures, tables and the HTML page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pandas as pd

from gnnsync.io.files import writable_directory, write_bytes, write_text
from gnnsync.report.aggregation import distinct_replicas, sweep_names
from gnnsync.report.figures import FORMATS, Drawing, Saved, drawings, save
from gnnsync.report.page import page
from gnnsync.report.page.gallery import Gallery
from gnnsync.report.parts import file_name
from gnnsync.report.searches import save_search, searches, studied
from gnnsync.report.tables import Table, save_table, tables
from gnnsync.results.collect import Collection, ReportError, collect

ROWS, PAGE = "rows.parquet", "index.html"
# Starting the processes of a pool takes as long as drawing a few figures.
_LEAST_FIGURES_FOR_POOL = 4
_LONGEST_TITLE = 120  # characters of the page's title


@dataclass
class Report:
    """The files of a report and the results it was made from.

    Args:
        folder: folder of the report.
        collection: the rows, and the jobs without a result.
        figures: figure files.
        panels: files of single panels and legends.
        tables: table files.
    """

    folder: Path
    collection: Collection
    figures: list[Path] = field(default_factory=list)
    panels: list[Path] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)


def write_report(
    directories: Sequence[Path],
    output: Path | None = None,
    *,
    together: bool = False,
    panels: bool = True,
    workers: int = 1,
) -> Report:
    """Read all jobs below the folders and write the report.

    Args:
        directories: folders of sweeps, of jobs, or of several sweeps.
        output: folder of the report; by default `report` in the folder read, or in the current
            one if several are read.
        together: one set of figures and tables for all sweeps instead of one for each.
        panels: write every panel and every legend as files of their own, too.
        workers: number of processes that draw figures.

    Raises:
        ReportError: there is no finished job in the folders.
    """
    collection = collect(directories)
    if collection.rows.empty:
        raise ReportError(f"{', '.join(map(str, directories))}: {_why_empty(collection)}")
    inside = directories[0] if len(directories) == 1 else Path()
    target = output if output is not None else inside / "report"
    folder = writable_directory(target, "--output")
    report = Report(folder, collection)
    _write_parquet(with_lines(collection), folder / ROWS)
    studies, looks = studied(collection)
    drawn: list[tuple[Drawing, Path]] = []
    listed: list[tuple[Table, list[Path]]] = []
    for sub, rows in _sets(studies, together):
        found = drawings(rows, collection.folders, looks)
        drawn += [(drawing, folder / "figures" / sub) for drawing in found]
        for table in tables(rows):
            inside = writable_directory(folder / "tables" / sub, "--output")
            listed.append((table, save_table(table, inside)))
    for search in searches(collection):
        drawn.append((search, folder / "figures"))
        report.tables.append(save_search(search, writable_directory(folder / "tables")))
    saved = save_all(drawn, panels=panels, workers=workers)
    report.figures = [path for one in saved for path in one.files]
    report.panels = [path for one in saved for path in one.panels]
    report.tables += [path for _, paths in listed for path in paths]
    heading = "gnnsync: " + ", ".join(sweep_names(collection.rows))
    gallery = Gallery.of(folder, saved, listed)
    write_text(folder / PAGE, page(collection, _short(heading), gallery))
    return report


def save_all(
    drawn: Sequence[tuple[Drawing, Path]],
    formats: Sequence[str] = FORMATS,
    *,
    panels: bool = False,
    workers: int = 1,
) -> list[Saved]:
    """Draw and write figures into their folders, in several processes if there are many."""
    for folder in {folder for _, folder in drawn}:
        writable_directory(folder, "--output")
    write = partial(save, formats=tuple(formats), panels=panels)
    arguments = [d for d, _ in drawn], [folder for _, folder in drawn]
    if workers > 1 and len(drawn) >= _LEAST_FIGURES_FOR_POOL:
        # Spawned, not forked: a forked copy of a process with threads can deadlock.
        with ProcessPoolExecutor(min(workers, len(drawn)), get_context("spawn")) as pool:
            return list(pool.map(write, *arguments))
    return list(map(write, *arguments))


def with_lines(collection: Collection) -> pd.DataFrame:
    """The rows with a column `overrides`, the arguments of `gnnsync run` that reproduce the job."""
    return collection.rows.assign(overrides=collection.rows["job_hash"].map(collection.lines))


def _sets(rows: pd.DataFrame, together: bool) -> list[tuple[str, pd.DataFrame]]:
    """Subfolder and rows of each set of figures: one per sweep, or one for all."""
    names = sweep_names(rows)
    if together or len(names) < 2:
        return [("", distinct_replicas(rows))]
    return [(file_name(name), rows[rows["sweep"] == name]) for name in names]


def _why_empty(collection: Collection) -> str:
    if not collection.absent:
        return "no results found: give a folder in which `gnnsync run` has written"
    states = [job.state for job in collection.absent]
    counts = ", ".join(f"{states.count(s)} {s}" for s in dict.fromkeys(states))
    first = collection.absent[0]
    return f"no finished job ({counts}); the first: {first.line or first.job_hash}: {first.reason}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 3] + "..."


def _write_parquet(rows: pd.DataFrame, path: Path) -> None:
    buffer = io.BytesIO()
    rows.to_parquet(buffer, index=False)
    write_bytes(path, buffer.getvalue())
