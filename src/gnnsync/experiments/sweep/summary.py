"""Summary of a sweep: the rows of its jobs in one table, and figures."""

from __future__ import annotations

import io
import logging
import re
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from gnnsync.io.figure_file import write_figure
from gnnsync.io.files import write_text
from gnnsync.plots.maps import map_grid
from gnnsync.report.comparison import comparison_figure, varies
from gnnsync.results.collect import collect
from gnnsync.results.files import FAILURE, SOLUTIONS, job_files, read_failure
from gnnsync.results.reading import read_maps
from gnnsync.typing import FloatArray

log = logging.getLogger(__name__)

# Dots per inch: curves are read closely; a grid of maps is large and shows little per panel.
_CURVE_DPI, _MAP_DPI = 150, 110


def summarise(folder: Path) -> None:
    """Write `rows.csv` in the sweep's folder, and the figures that its jobs allow.

    `mse.png` if the noise varied; `map_NAME.png` for every point cloud that was stitched, a row
    per noise level and a column per method (first network and trial of each).
    """
    found = collect([folder])
    rows = found.rows
    if rows.empty:
        log.warning("no finished job in %s", folder)
        return
    buffer = io.StringIO()
    rows.to_csv(buffer, index=False)
    write_text(folder / "rows.csv", buffer.getvalue())
    written = ["rows.csv"]
    if varies(rows):
        write_figure(comparison_figure(rows), folder / "mse.png", dpi=_CURVE_DPI)
        written.append("mse.png")
    stitched = rows[rows["ane"].notna()] if "ane" in rows else rows.iloc[:0]
    for cloud, part in stitched.groupby("data.graph"):
        figure = _map_grid(found.folders, part)
        if figure is not None:
            name = "map_" + re.sub(r"\W+", "_", str(cloud)) + ".png"
            write_figure(figure, folder / name, dpi=_MAP_DPI)
            written.append(name)
    log.info(
        "%d rows of %d jobs: %s in %s",
        len(rows),
        rows["job_hash"].nunique(),
        " and ".join(written),
        folder,
    )


def failures(folder: Path, since: float) -> list[str]:
    """One line per job that has failed since a time (seconds since the epoch)."""
    lines = []
    for path in job_files(folder, FAILURE):
        note = read_failure(path.parent)
        # Clocks of file systems are coarse.
        if note is not None and path.stat().st_mtime >= since - 1.0:
            lines.append(f"{' '.join(note['overrides'])}: {note['error']}")
    return lines


def _map_grid(folders: dict[str, Path], rows: pd.DataFrame) -> Figure | None:
    """The recovered maps of the jobs that differ in noise and method only."""
    recovered: dict[tuple[str, str], FloatArray] = {}
    points = None
    for (eta, method), part in rows.sort_values("data.eta").groupby(
        ["data.eta", "method"], sort=False
    ):
        file = folders[part["job_hash"].iloc[0]] / SOLUTIONS
        if (found := read_maps(file)) is not None:
            points, recovered[f"η = {eta:g}", str(method)] = found
    return None if points is None else map_grid(points, recovered)
