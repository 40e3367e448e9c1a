"""The figures of a set of rows: error against noise, ablations, features, τ, and maps.

Each figure is drawn only if its horizontal axis has several values in the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gnnsync.io.figure_file import write_figure
from gnnsync.plots.maps import map_grid
from gnnsync.report.aggregation import LABEL, aggregate, labelled
from gnnsync.report.naming import DENSITY, GRAPH, METRICS, NOISE, PRIOR, in_paper_order
from gnnsync.report.panels import Curves, literal, panel_grid
from gnnsync.report.parts import parts
from gnnsync.report.styles import Style, styles

FORMATS = ("png", "pdf")
_DPI = 130
_MOST_MAPS = 12  # rows and columns of a grid of maps
_LIGHTEST = 0.85  # position in the colour map of the last noise level; above it is too pale


class Drawing(Protocol):
    """The content of a figure, small enough to be sent to the process that draws it."""

    @property
    def name(self) -> str:
        """File name without the ending."""

    def figure(self) -> Figure:
        """Draw it."""


@dataclass(frozen=True)
class CurveDrawing:
    """Curves in a grid of panels; see `panel_grid`."""

    name: str
    points: pd.DataFrame
    curves: Curves
    styles: Mapping[str, Style]
    heading: str

    def figure(self) -> Figure:
        """Draw it."""
        return panel_grid(self.points, self.curves, self.styles, self.heading)


@dataclass(frozen=True)
class MapDrawing:
    """Recovered maps, a row per noise level and a column per variant; see `map_grid`."""

    name: str
    files: Mapping[tuple[str, str], Path]

    def figure(self) -> Figure:
        """Read the maps and draw them."""
        truth, recovered = np.zeros((0, 2)), {}
        for place, path in self.files.items():
            with np.load(path) as arrays:
                truth, recovered[place] = arrays["points"], arrays["recovered"]
        return map_grid(truth, recovered)


def drawings(rows: pd.DataFrame, folders: Mapping[str, Path] | None = None) -> list[Drawing]:
    """All figures of these rows; with the folders of the jobs (by job hash) also the maps."""
    if rows.empty:
        return []
    rows = labelled(rows)
    found: list[Drawing] = []
    ablation = _ablation(rows)
    for metric in ("mse", "ane"):
        if metric in rows and (metric == "ane" or len(ablation) < len(rows)):
            found += _against_noise(metric, rows, metric)
    found += _against_noise("ablation", ablation, "mse")
    found += _improvement(rows)
    found += _tau(rows)
    if folders is not None:
        found += _maps(rows, folders)
    return found


def save(drawing: Drawing, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw a figure and write it in each format; returns the files."""
    figure = drawing.figure()
    paths = [folder / f"{drawing.name}.{ending}" for ending in formats]
    for path in paths:
        write_figure(figure, path, dpi=_DPI)
    return paths


def _against_noise(kind: str, rows: pd.DataFrame, metric: str) -> Iterator[Drawing]:
    """A metric against η, one line per variant."""
    if rows.empty or metric not in rows or NOISE not in rows:
        return
    looks = styles(list(rows[LABEL]))
    for name, heading, part in parts(kind, rows[rows[metric].notna()]):
        if part[NOISE].nunique() > 1:
            points = aggregate(part, [*_panels(part), NOISE, LABEL], [metric])
            yield CurveDrawing(name, points, noise_curves(part, metric), looks, heading)


def noise_curves(rows: pd.DataFrame, metric: str) -> Curves:
    """Axes of a metric against η, one line per variant; the MSE has the limit band behind it."""
    return Curves(
        NOISE, metric, LABEL, _noise_label(rows), METRICS[metric], symlog=True, band=metric == "mse"
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
    usual = groups.get_group(groups.size().idxmax())
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
    for name, _, part in parts("maps", stitched, apart=(GRAPH, PRIOR)):
        files: dict[tuple[str, str], Path] = {}
        levels = sorted(part[NOISE].unique())[:_MOST_MAPS]
        for label in in_paper_order(list(part[LABEL]))[:_MOST_MAPS]:
            own = part[part[LABEL] == label].drop_duplicates(NOISE).set_index(NOISE)["job_hash"]
            for eta in (level for level in levels if level in own):
                path = folders.get(own[eta], Path()) / "solutions.npz"
                if path.is_file():
                    files[f"η = {eta:g}", literal(label)] = path
        if files:
            order = sorted(files, key=lambda place: float(place[0].split("= ")[1]))
            yield MapDrawing(name, {place: files[place] for place in order})


def _panels(rows: pd.DataFrame) -> list[str]:
    return [name for name in (GRAPH, DENSITY, PRIOR) if name in rows and rows[name].notna().any()]


def _noise_label(rows: pd.DataFrame) -> str:
    random = DENSITY in rows and rows[DENSITY].notna().any()
    return "outlier fraction η" if random else "noise level η"
