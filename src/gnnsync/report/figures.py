"""The figures that rows allow: error against noise, ablations, features, τ, and maps."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gnnsync.io.source import atomic_output
from gnnsync.pictures.maps import map_grid
from gnnsync.report.panels import Curves, layout, literal, panel_grid
from gnnsync.report.points import (
    DENSITY,
    GRAPH,
    GROUPS,
    LABEL,
    METRICS,
    NOISE,
    PRIOR,
    aggregate,
    data_columns,
    labelled,
    ordered,
    said,
    shown,
    title,
)
from gnnsync.report.styles import Style, styles

FORMATS = ("png", "pdf")
_MOST_MAPS = 12  # along either side of a grid


class Drawing(Protocol):
    """A figure yet to be drawn: small, and drawn in another process if need be."""

    @property
    def name(self) -> str:
        """Of its files, without the ending."""

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
    """All figures for these rows; with the folders of the jobs (by hash) also the maps."""
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
    """Draw it and write it whole, in each format."""
    figure = drawing.figure()
    paths = []
    for ending in formats:
        buffer = io.BytesIO()
        # Without the date, the same rows give the same file.
        metadata = {"CreationDate": None} if ending == "pdf" else None
        figure.savefig(buffer, format=ending, dpi=140, metadata=metadata)
        paths.append(folder / f"{drawing.name}.{ending}")
        with atomic_output(paths[-1], "wb") as handle:
            handle.write(buffer.getvalue())  # type: ignore[arg-type]
    return paths


def _against_noise(kind: str, rows: pd.DataFrame, metric: str) -> Iterator[Drawing]:
    """A metric against η, a line per variant."""
    if rows.empty or metric not in rows or NOISE not in rows:
        return
    curves = noise_curves(rows, metric)
    looks = styles(list(rows[LABEL]))
    for name, heading, part in parts(kind, rows[rows[metric].notna()]):
        if part[NOISE].nunique() > 1:
            points = aggregate(part, [*_panels(part), NOISE, LABEL], [metric])
            yield CurveDrawing(name, points, curves, looks, heading)


def noise_curves(rows: pd.DataFrame, metric: str) -> Curves:
    """A metric against η, a line per variant; the limits behind the MSE."""
    return Curves(
        NOISE, metric, LABEL, _noise_label(rows), METRICS[metric], symlog=True, band=metric == "mse"
    )


def _ablation(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one learned method that differ in its steps alone; none if the steps do not vary."""
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
    """How far the network gets beyond its input features, a line per kind of features."""
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
    """MSE against τ of the loss cycle + τ·upset, a line per noise level."""
    if not {"loss.tau", "mse"} <= set(rows) or NOISE not in rows:
        return
    own = rows[rows["loss.tau"].notna() & rows["mse"].notna()]
    if own["loss.tau"].nunique() < 2:
        return
    own = own.assign(noise=own[NOISE].map(lambda eta: f"η = {eta:g}"))
    levels = list(own.sort_values(NOISE)["noise"].unique())
    shades = colormaps["viridis"](np.linspace(0, 0.85, len(levels)))
    looks = {n: Style(to_hex(c), "o", False) for n, c in zip(levels, shades, strict=True)}
    curves = Curves("loss.tau", "mse", "noise", "τ", "MSE", symlog=True)
    for name, heading, part in parts("tau", own):
        if part["loss.tau"].nunique() > 1:
            points = aggregate(part, [*_panels(part), "loss.tau", "noise"], ["mse"])
            yield CurveDrawing(name, points, curves, looks, heading)


def _maps(rows: pd.DataFrame, folders: Mapping[str, Path]) -> Iterator[Drawing]:
    """A grid of maps for every cloud and prior: the first network and trial of each job."""
    if "ane" not in rows:
        return
    stitched = rows[rows["ane"].notna()]
    for name, _, part in parts("maps", stitched, apart=(GRAPH, PRIOR)):
        files: dict[tuple[str, str], Path] = {}
        levels = sorted(part[NOISE].unique())[:_MOST_MAPS]
        for label in ordered(list(part[LABEL]))[:_MOST_MAPS]:
            own = part[part[LABEL] == label].drop_duplicates(NOISE).set_index(NOISE)["job_hash"]
            for eta in (level for level in levels if level in own):
                path = folders.get(own[eta], Path()) / "solutions.npz"
                if path.is_file():
                    files[f"η = {eta:g}", literal(label)] = path
        if files:
            order = sorted(files, key=lambda place: float(place[0].split("= ")[1]))
            yield MapDrawing(name, {place: files[place] for place in order})


def parts(
    kind: str, rows: pd.DataFrame, apart: Sequence[str] = ()
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """The rows of one figure each, with its name and heading.

    Apart from graph, density and prior, which make panels, rows of different data do not share a
    figure; nor do clouds of points, which have no density, and random graphs.
    """
    if rows.empty:
        return
    if DENSITY in rows and rows[DENSITY].isna().any() and rows[DENSITY].notna().any():
        yield from parts(kind, rows[rows[DENSITY].notna()], apart)
        yield from parts(kind, rows[rows[DENSITY].isna()], apart)
        return
    columns = [name for name in data_columns(rows) if rows[name].nunique(dropna=False) > 1]
    panels = {GRAPH, DENSITY, PRIOR} - set(layout(rows)[2]) - set(apart)
    splits = [name for name in columns if name not in panels]
    always = [name for name in (GROUPS, *apart) if name in rows and name not in splits]
    groups: Any = rows.groupby(splits, dropna=False) if splits else [((), rows)]
    for _, part in groups:
        one = [name for name in (*always, *splits) if name in part]
        words = [_word(name, part[name].iloc[0]) for name in one]
        constant = [
            name
            for name in (GROUPS, GRAPH, PRIOR, DENSITY, "data.n", "data.inlier_noise", *splits)
            if name in part and part[name].nunique() == 1 and part[name].iloc[0] != 0
        ]
        facts = [said(name, part[name].iloc[0]) for name in dict.fromkeys(constant)]
        yield "_".join([kind, *words]), ", ".join(facts), part


def _panels(rows: pd.DataFrame) -> list[str]:
    return [name for name in (GRAPH, DENSITY, PRIOR) if name in rows and rows[name].notna().any()]


def _noise_label(rows: pd.DataFrame) -> str:
    random = DENSITY in rows and rows[DENSITY].notna().any()
    return "outlier fraction η" if random else "noise level η"


def _word(column: str, value: Any) -> str:
    """A value in the name of a file."""
    if column == PRIOR:
        return re.sub(r"Angles$", "", re.sub(r"\W+", "_", str(value)))
    text = shown(column, value)
    told = text if column == GRAPH else f"{title(column)}{text}"
    return re.sub(r"[^\w.-]+", "_", told)[:60]
