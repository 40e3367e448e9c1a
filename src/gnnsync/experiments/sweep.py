"""A finished sweep: its rows in one table, and the figure they make."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pandas as pd

from gnnsync.experiments.job import read_result
from gnnsync.io.source import atomic_output
from gnnsync.report.comparison import comparison_figure, varies

log = logging.getLogger(__name__)


def collect(folder: Path) -> pd.DataFrame:
    """All rows of the jobs in a sweep's folder, one per replica; broken results are passed over."""
    found = (read_result(path.parent) for path in sorted(folder.glob("*/result.json")))
    return pd.DataFrame([row for result in found if result is not None for row in result["rows"]])


def summarise(folder: Path) -> None:
    """Write `rows.csv` and, if the sweep varied the noise, `mse.png` in the sweep's folder."""
    rows = collect(folder)
    if rows.empty:
        log.warning("no finished job in %s", folder)
        return
    buffer = io.StringIO()
    rows.to_csv(buffer, index=False)
    _write(folder / "rows.csv", buffer.getvalue().encode())
    written = ["rows.csv"]
    if varies(rows):
        image = io.BytesIO()
        comparison_figure(rows).savefig(image, format="png", dpi=150)
        _write(folder / "mse.png", image.getvalue())
        written.append("mse.png")
    log.info(
        "%d rows of %d jobs: %s in %s",
        len(rows),
        rows["job_hash"].nunique(),
        " and ".join(written),
        folder,
    )


def _write(path: Path, content: bytes) -> None:
    with atomic_output(path, "wb") as handle:
        handle.write(content)  # type: ignore[arg-type]
