"""The figures of the page, drawn from the kept rows in the style of `gnnsync report`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from benchmarks.reproduction.evidence import variants
from benchmarks.reproduction.naming import GRAPHS, PRIORS
from benchmarks.reproduction.sections import SECTIONS, Section
from benchmarks.reproduction.store import Store
from benchmarks.reproduction.study import PROTOCOLS
from benchmarks.reproduction.tables import title
from gnnsync.io.files import write_bytes
from gnnsync.plots.maps import map_grid
from gnnsync.report.aggregation import LABEL
from gnnsync.report.figures import CurveDrawing, drawings
from gnnsync.results.files import read_result

_DPI = 80
_COLOURS = 256  # of the palette: a third of the bytes of a full PNG
_MAP_METHODS = ("gnnsync", "spectral_rn", "gpm", "transync")
_MAP_WIDTH = 900  # pixels
# Options of the network that `drawings` looks for, by the column of a section.
_OPTIONS = {"steps": "model.steps", "features": "model.features", "tau": "loss.tau"}


@dataclass(frozen=True)
class Drawn:
    """A figure of the page: file name, heading, and how it is drawn."""

    name: str
    heading: str
    drawing: CurveDrawing

    def png(self) -> bytes:
        """Draw it."""
        return small_png(self.drawing.figure())


def figures(store: Store, section: Section) -> Iterator[Drawn]:
    """The curves of a section that its finished jobs allow, for each protocol."""
    replicas = store.replicas()
    for protocol in PROTOCOLS:
        own = replicas[(replicas["protocol"] == protocol) & replicas["part"].isin(section.parts)]
        if own.empty:
            continue
        for drawing in drawings(_report_rows(own, section.by)):
            if isinstance(drawing, CurveDrawing):
                name = f"{section.parts[0]}_{protocol}_{drawing.name}.png"
                yield Drawn(name, f"`protocol={protocol}`: {drawing.heading}", drawing)


def write_figures(store: Store, folder: Path) -> None:
    """Draw every figure of the page, and remove those that it no longer has."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set()
    for section in SECTIONS:
        for drawn in figures(store, section):
            write_bytes(folder / drawn.name, drawn.png())
            wanted.add(drawn.name)
    for path in folder.glob("*.png"):
        if path.name not in wanted and not path.name.startswith("map_"):
            path.unlink()


def write_maps(store: Store, folder: Path, output: Path) -> None:
    """Draw the recovered maps of the jobs whose solutions are in the output folder.

    Rows do not hold maps: without the solutions the pictures stay as they are.
    """
    for part in ("us_cities", "pacm"):
        for protocol in PROTOCOLS:
            jobs = store.jobs[(store.jobs["part"] == part) & (store.jobs["protocol"] == protocol)]
            found = {}
            for path in sorted((output / protocol / part).glob("*/solutions.npz")):
                result = None if path.parent.is_symlink() else read_result(path.parent)
                job = jobs[jobs["job_hash"] == (result or {}).get("job_hash")]
                if len(job) and job["method"].iloc[0] in _MAP_METHODS:
                    with np.load(path) as arrays:
                        place = (f"η = {job['eta'].iloc[0]:g}", title(job["method"].iloc[0]))
                        found[place] = arrays["points"], arrays["recovered"]
            names = [title(name) for name in _MAP_METHODS]
            order = sorted(found, key=lambda p: (p[0], names.index(p[1])))
            if found:
                truth = found[order[0]][0]
                grid = map_grid(truth, {place: found[place][1] for place in order})
                dpi = _MAP_WIDTH / grid.get_figwidth()
                write_bytes(folder / f"map_{part}_{protocol}.png", small_png(grid, dpi))


def small_png(figure: Figure, dpi: float = _DPI) -> bytes:
    """A PNG with few colours."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    image = Image.open(buffer).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small = io.BytesIO()
    image.save(small, format="png", optimize=True)
    return small.getvalue()


def _report_rows(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Replicas with the column names of `gnnsync report`."""
    rows = rows.drop_duplicates(["job_hash", "network_seed", "trial"])
    label = rows["method"].astype(str)
    if by in ("loss", "steps", "encoder"):
        label = label.where(rows[by].isna(), label + f" {by}=" + rows[by].astype(str))
    found = {
        "job_hash": rows["job_hash"],
        LABEL: label,
        "method": rows["method"],
        "variant": variants(rows, by),
        "data.graph": rows["graph"].map(lambda name: GRAPHS.get(name, name)),
        "data.angles": rows["angles"].map(PRIORS),
        "data.p": rows["p"],
        "data.eta": rows["eta"],
        "data.k": rows["k"].astype(int),
        "data.n": rows["n"],
        "mse": rows["mse"].astype(float),
        "mse_features": rows["mse_features"].astype(float),
        "limit_oracle": rows["limit_oracle"].astype(float),
        "limit_certifiable": rows["limit_certifiable"].astype(float),
    }
    if rows["ane_paper"].notna().any():
        found["ane"] = rows["ane_paper"].astype(float)
    if by in _OPTIONS:
        found[_OPTIONS[by]] = rows[by]
    return pd.DataFrame(found).dropna(axis=1, how="all").reset_index(drop=True)
