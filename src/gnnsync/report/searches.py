"""Searches of hyper-parameters: their jobs in the order in which they finished."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from gnnsync.io.files import write_text
from gnnsync.report.aggregation import LABEL
from gnnsync.report.parts import file_name
from gnnsync.report.references import with_references
from gnnsync.report.styles import Style, styles
from gnnsync.results.collect import Collection

_JOB, _BEST = "#6f7a86", "#d1434f"
_LOG_FROM = 10.0  # ratio of highest and lowest MSE from which the axis is logarithmic


@dataclass(frozen=True)
class Trial:
    """One job of a search: mean and standard deviation of the MSE, and its parameters."""

    mse: float
    std: float
    values: list[str]
    line: str


@dataclass(frozen=True)
class Search:
    """A search: the keys that it varied, and its jobs from first to last. Also a figure."""

    sweep: str
    parameters: list[str]
    trials: list[Trial]

    @property
    def name(self) -> str:
        """Name of its files, without the ending."""
        return f"search_{file_name(self.sweep)}"

    @property
    def heading(self) -> str:
        """What its figure shows."""
        return f"Search {self.sweep}: MSE of its {len(self.trials)} jobs, and the lowest so far"

    def figure(self) -> Figure:
        """The MSE of every job, in the order in which they finished, and the lowest so far."""
        figure = Figure(figsize=(5.4, 3.2), layout="constrained")
        axes = figure.subplots()
        mse = np.array([trial.mse for trial in self.trials])
        order = np.arange(1, len(mse) + 1)
        axes.plot(order, mse, "o", color=_JOB, markersize=4, label="job")
        lowest = np.fmin.accumulate(mse)
        axes.step(order, lowest, where="post", color=_BEST, linewidth=1.5, label="lowest so far")
        axes.set(xlabel="job, in the order of finishing", ylabel="MSE")
        if mse.max() > _LOG_FROM * mse.min() > 0:
            axes.set_yscale("log")
        axes.legend(frameon=False, fontsize=8)
        return figure

    def panels(self) -> Iterator[tuple[str, Figure]]:
        """None: the figure is one panel."""
        return iter(())


def searches(collection: Collection) -> list[Search]:
    """The searches among the sweeps of a collection that have finished jobs with an MSE."""
    found = []
    for folder in collection.searches:
        digests = [d for d, place in collection.folders.items() if place.parent == folder]
        digests.sort(key=lambda digest: (collection.finished.get(digest, 0.0), digest))
        search = _search(collection, digests)
        if search is not None:
            found.append(search)
    return found


def studied(collection: Collection) -> tuple[pd.DataFrame, dict[str, Style]]:
    """The rows that curves and tables show, with references, and the style of every variant.

    Those of searches are left out, unless there are no others: every job of a search is a variant
    of its own.
    """
    rows = with_references(collection.rows)
    folders = set(collection.searches)
    digests = {d for d, place in collection.folders.items() if place.parent in folders}
    searched = rows["job_hash"].isin(digests)
    studies = rows if searched.all() else rows[~searched]
    return studies, styles(list(studies[LABEL]))


def save_search(search: Search, folder: Path) -> Path:
    """Write the jobs of a search as CSV; returns the file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["job", "mse", "std", *search.parameters])
    for number, trial in enumerate(search.trials, 1):
        writer.writerow([number, trial.mse, trial.std, *trial.values])
    path = folder / f"{search.name}.csv"
    write_text(path, buffer.getvalue())
    return path


def _search(collection: Collection, digests: list[str]) -> Search | None:
    rows = collection.rows
    if "mse" not in rows or not digests:
        return None
    own = rows[rows["job_hash"].isin(digests) & rows["mse"].notna()]
    if own.empty:
        return None
    groups = own.groupby("job_hash")["mse"]
    means, deviations = groups.mean(), groups.std(ddof=0)
    done = [digest for digest in digests if digest in means.index]
    given = {digest: _overrides(collection.lines.get(digest, "")) for digest in done}
    keys = dict.fromkeys(key for values in given.values() for key in values)
    varied = [key for key in keys if len({values.get(key) for values in given.values()}) > 1]
    trials = [
        Trial(
            float(means[digest]),
            float(deviations[digest]),
            [given[digest].get(key, "") for key in varied],
            collection.lines.get(digest, ""),
        )
        for digest in done
    ]
    return Search(str(own["sweep"].iloc[0]), varied, trials)


def _overrides(line: str) -> dict[str, str]:
    """The overrides of a command line by key."""
    pairs = (word.partition("=") for word in shlex.split(line))
    return {key.lstrip("+"): value for key, _, value in pairs}
