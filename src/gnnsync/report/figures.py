"""The figures of a set of rows: error against noise, ablations, features, τ, and maps.

Each figure is drawn only if its horizontal axis has several values in the rows.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gnnsync.io.figure_file import write_figure
from gnnsync.io.files import writable_directory
from gnnsync.plots.maps import map_figure, map_grid
from gnnsync.report.aggregation import LABEL, aggregate
from gnnsync.report.naming import (
    DENSITY,
    GRAPH,
    LOGARITHMIC,
    METRICS,
    NOISE,
    PRIOR,
    in_paper_order,
)
from gnnsync.report.panels import Curves, draw_panels, literal, single_panels, split_panels
from gnnsync.report.parts import file_name, parts
from gnnsync.report.references import with_references
from gnnsync.report.styles import Style, styles
from gnnsync.results.files import SOLUTIONS
from gnnsync.results.names import noise_title, variant_name
from gnnsync.results.reading import read_maps
from gnnsync.typing import FloatArray

FORMATS = ("png", "pdf")
_DPI = 130
_PREVIEW_DPI = 90
_MOST_MAPS = 12  # rows and columns of a grid of maps
_LIGHTEST = 0.85  # position in the colour map of the last noise level; above it is too pale


class Drawing(Protocol):
    """The content of a figure, small enough to be sent to the process that draws it."""

    @property
    def name(self) -> str:
        """File name without the ending."""

    @property
    def heading(self) -> str:
        """What the figure shows, and the data that its panels have in common."""

    def figure(self) -> Figure:
        """Draw it."""

    def panels(self) -> Iterator[tuple[str, Figure]]:
        """Draw every panel alone, with its title, and the legend if there is one."""


@dataclass(frozen=True)
class CurveDrawing:
    """Curves in a grid of panels; see `split_panels`."""

    name: str
    points: pd.DataFrame
    curves: Curves
    styles: Mapping[str, Style]
    facts: str

    @property
    def heading(self) -> str:
        """The axes and the data, such as `MSE against outlier fraction η: k = 1, ERO`."""
        return f"{self.curves.y_label} against {self.curves.x_label}: {self.facts}"

    def figure(self) -> Figure:
        """Draw it."""
        return draw_panels(split_panels(self.points), self.curves, self.styles, self.facts)

    def panels(self) -> Iterator[tuple[str, Figure]]:
        """Draw every panel alone, and the legend."""
        return single_panels(split_panels(self.points), self.curves, self.styles)


@dataclass(frozen=True)
class MapDrawing:
    """Recovered maps, a row per noise level and a column per variant; see `map_grid`."""

    name: str
    files: Mapping[tuple[str, str], Path]
    facts: str

    @property
    def heading(self) -> str:
        """The data, such as `Recovered maps: k = 1, us_cities`."""
        return f"Recovered maps: {self.facts}"

    def figure(self) -> Figure:
        """Read the maps and draw them."""
        return map_grid(*self._read())

    def panels(self) -> Iterator[tuple[str, Figure]]:
        """Draw every map alone."""
        truth, recovered = self._read()
        for (level, label), points in recovered.items():
            yield f"{label} {level}", map_figure(truth, points)

    def _read(self) -> tuple[FloatArray, dict[tuple[str, str], FloatArray]]:
        truth, recovered = np.zeros((0, 2)), {}
        for place, path in self.files.items():
            if (found := read_maps(path)) is not None:
                truth, recovered[place] = found
        return truth, recovered


def drawings(
    rows: pd.DataFrame,
    folders: Mapping[str, Path] | None = None,
    looks: Mapping[str, Style] | None = None,
) -> list[Drawing]:
    """All figures of these rows.

    Args:
        rows: from `collect`.
        folders: folders of the jobs by job hash; without them there are no maps.
        looks: the style of every variant, by default from these rows alone.
    """
    if rows.empty:
        return []
    rows = with_references(rows)
    looks = styles(list(rows[LABEL])) if looks is None else looks
    found: list[Drawing] = []
    ablation = _ablation(rows)
    for metric in ("mse", "ane", "rmse_localizable"):
        if metric in rows and (metric != "mse" or len(ablation) < len(rows)):
            found += _against_noise(metric, rows, metric, looks)
    found += _against_noise("set_agreement", rows, "set_agreement", looks)
    found += _against_noise("ablation", ablation, "mse", looks)
    found += _improvement(rows)
    found += _tau(rows)
    if folders is not None:
        found += _maps(rows, folders)
    return found


@dataclass(frozen=True)
class Saved:
    """A figure that was written.

    Args:
        heading: what it shows.
        files: the figure in each format.
        panels: its panels and its legend alone, in each format.
        preview: a small PNG for the page.
    """

    heading: str
    files: list[Path]
    panels: list[Path]
    preview: bytes


def save(
    drawing: Drawing, folder: Path, formats: Sequence[str] = FORMATS, *, panels: bool = False
) -> Saved:
    """Draw a figure and write it in each format; with `panels` also each panel and the legend.

    Panels are written into the folder `panels/NAME` beside the figure.
    """
    figure = drawing.figure()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_PREVIEW_DPI)
    saved = Saved(drawing.heading, _write(figure, folder / drawing.name, formats), [], b"")
    used: set[str] = set()
    for title, single in drawing.panels() if panels else ():
        inside = writable_directory(folder / "panels" / drawing.name, "--output")
        # In ASCII as far as the names allow: LaTeX finds such files.
        name = file_name(title.replace(" = ", "").replace("η", "eta")) if title else "panel"
        while name in used:  # titles that differ only in characters replaced by file_name
            name += "_"
        used.add(name)
        saved.panels.extend(_write(single, inside / name, formats))
    return replace(saved, preview=buffer.getvalue())


def _write(figure: Figure, place: Path, formats: Sequence[str]) -> list[Path]:
    paths = [place.with_name(f"{place.name}.{ending}") for ending in formats]
    for path in paths:
        write_figure(figure, path, dpi=_DPI)
    return paths


def _against_noise(
    kind: str, rows: pd.DataFrame, metric: str, looks: Mapping[str, Style]
) -> Iterator[Drawing]:
    """A metric against η, one line per variant."""
    if rows.empty or metric not in rows or NOISE not in rows:
        return
    for name, heading, part in parts(kind, rows[rows[metric].notna()]):
        if part[NOISE].nunique() > 1:
            points = aggregate(part, [*_panels(part), NOISE, LABEL], [metric])
            yield CurveDrawing(name, points, noise_curves(part, metric), looks, heading)


def noise_curves(rows: pd.DataFrame, metric: str) -> Curves:
    """Axes of a metric against η, one line per variant; the MSE has the limit band behind it."""
    return Curves(
        NOISE,
        metric,
        LABEL,
        _noise_label(rows),
        METRICS[metric],
        symlog=metric in LOGARITHMIC,
        band=metric == "mse",
    )


def _ablation(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one learned method that differ in its steps only; none if the steps do not vary."""
    steps = [name for name in rows if str(name).startswith("model.steps")]
    learned = rows[rows["model.steps"].notna()] if "model.steps" in rows else rows.iloc[:0]
    if learned.empty:
        return learned
    same = [
        c for c in ("method", "loss", "loss.tau", "model.features", "model.encoder") if c in rows
    ]
    groups = learned.groupby(same, dropna=False)
    largest = groups.size().idxmax()
    usual = groups.get_group(largest if isinstance(largest, tuple) else (largest,))
    varies = any(usual[name].nunique(dropna=False) > 1 for name in steps)
    return usual if varies and usual[LABEL].nunique() > 1 else learned.iloc[:0]


def _improvement(rows: pd.DataFrame) -> Iterator[Drawing]:
    """MSE of the input features minus that of the network, one line per kind of features."""
    if not {"model.features", "mse_features", "mse"} <= set(rows) or NOISE not in rows:
        return
    own = rows[rows["mse_features"].notna() & rows["mse"].notna()]
    if own["model.features"].nunique() < 2:
        return
    own = own.assign(gain=own["mse_features"] - own["mse"])
    label = "MSE of features − MSE"
    curves = Curves(NOISE, "gain", "model.features", _noise_label(own), label, zero=True)
    looks = styles(list(own["model.features"]))
    for name, heading, part in parts("features", own):
        if part["model.features"].nunique() > 1:
            points = aggregate(part, [*_panels(part), NOISE, "model.features"], ["gain"])
            yield CurveDrawing(name, points, curves, looks, heading)


def _tau(rows: pd.DataFrame) -> Iterator[Drawing]:
    """MSE against τ of the loss cycle + τ·upset, one line per noise level."""
    if not {"loss.tau", "mse"} <= set(rows) or NOISE not in rows:
        return
    own = rows[rows["loss.tau"].notna() & rows["mse"].notna()]
    if own["loss.tau"].nunique() < 2:
        return
    own = own.assign(noise=own[NOISE].map(lambda eta: f"η = {eta:g}"))
    levels = list(own.sort_values(NOISE)["noise"].unique())
    shades = colormaps["viridis"](np.linspace(0, _LIGHTEST, len(levels)))
    looks = {n: Style(to_hex(c), "o", False) for n, c in zip(levels, shades, strict=True)}
    curves = Curves("loss.tau", "mse", "noise", "τ", "MSE", symlog=True)
    for name, heading, part in parts("tau", own):
        if part["loss.tau"].nunique() > 1:
            points = aggregate(part, [*_panels(part), "loss.tau", "noise"], ["mse"])
            yield CurveDrawing(name, points, curves, looks, heading)


def _maps(rows: pd.DataFrame, folders: Mapping[str, Path]) -> Iterator[Drawing]:
    """One grid of maps per point cloud and prior: the first network and trial of each job."""
    if "ane" not in rows:
        return
    stitched = rows[rows["ane"].notna()]
    for name, facts, part in parts("maps", stitched, apart=(GRAPH, PRIOR)):
        files: dict[tuple[str, str], Path] = {}
        levels = sorted(part[NOISE].unique())[:_MOST_MAPS]
        for label in in_paper_order(list(part[LABEL]))[:_MOST_MAPS]:
            own = part[part[LABEL] == label].drop_duplicates(NOISE).set_index(NOISE)["job_hash"]
            for eta in (level for level in levels if level in own):
                path = folders.get(own[eta], Path()) / SOLUTIONS
                if read_maps(path) is not None:
                    files[f"η = {eta:g}", literal(variant_name(label))] = path
        if files:
            order = sorted(files, key=lambda place: float(place[0].split("= ")[1]))
            yield MapDrawing(name, {place: files[place] for place in order}, facts)


def _panels(rows: pd.DataFrame) -> list[str]:
    return [name for name in (GRAPH, DENSITY, PRIOR) if name in rows and rows[name].notna().any()]


def _noise_label(rows: pd.DataFrame) -> str:
    return noise_title(outliers=DENSITY in rows and bool(rows[DENSITY].notna().any()))
