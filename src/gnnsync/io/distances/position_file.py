"""Write positions and the residuals of the distances: CSV, Parquet or JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import DataFileError
from gnnsync.io.files import atomic_output
from gnnsync.io.solution_file import check_edge_ending, known_or, write_csv
from gnnsync.io.tables.parquet import write_parquet
from gnnsync.positions import Positions
from gnnsync.solution import plain_name
from gnnsync.solution.table import Table

ENDINGS = (".csv", ".parquet", ".json")


def check_position_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file of positions if its format can be written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataFileError(f"{path}: ends in {ending!r}: must be one of {', '.join(ENDINGS)}")
    return ending


def position_table(network: DistanceNetwork, positions: Positions) -> Table:
    """Columns name, x, y, deviation_x, deviation_y, correlation, localizable, component.

    The deviations and the correlation of their errors describe the ellipse of a point; they are NaN
    where the distances do not determine it.
    """
    variance = positions.covariance[:, [0, 1], [0, 1]]
    deviation = np.sqrt(np.where(variance >= 0.0, variance, np.nan))
    size = deviation.prod(axis=1)
    known = size > 0.0
    correlation = np.full(len(size), np.nan)
    correlation[known] = positions.covariance[known, 0, 1] / size[known]
    return {
        "name": _names(network),
        "x": positions.points[:, 0],
        "y": positions.points[:, 1],
        "deviation_x": deviation[:, 0],
        "deviation_y": deviation[:, 1],
        "correlation": correlation,
        "localizable": positions.localizable.astype(np.int64),
        "component": positions.component,
    }


def distance_table(network: DistanceNetwork, positions: Positions) -> Table:
    """Columns i, j, distance, residual (between the positions, less the distance), confidence."""
    names = _names(network)
    return {
        "i": names[network.pairs[0]],
        "j": names[network.pairs[1]],
        "distance": network.distance,
        "residual": network.residual(positions.points),
        "confidence": positions.edge_confidence,
    }


def write_positions(
    network: DistanceNetwork,
    positions: Positions,
    path: str | os.PathLike[str],
    *,
    summary: dict[str, Any] | None = None,
    keep_names: bool = False,
) -> None:
    """Write `position_table` in the format of the file's ending; the file is whole or not there.

    Args:
        network: the distances, for the names of the points.
        positions: the positions.
        path: `.csv`, `.parquet` or `.json`.
        summary: figures to add to a `.json` file.
        keep_names: in `.csv`, write names that a spreadsheet would run as they are.
    """
    ending, table = check_position_ending(path), position_table(network, positions)
    with atomic_output(path, "wb" if ending == ".parquet" else "w") as handle:
        if ending == ".parquet":
            write_parquet(table, handle)
        elif ending == ".json":
            content: dict[str, Any] = {"summary": summary or {}}
            content |= {title: known_or(values, None) for title, values in table.items()}
            content["name"] = [plain_name(name) for name in network.point_names]
            json.dump(content, handle, indent=1, allow_nan=False)
        else:
            write_csv(table, handle, keep_names=keep_names)


def write_position_table(
    network: DistanceNetwork, positions: Positions, handle: TextIO, *, keep_names: bool = False
) -> None:
    """Write `position_table` as CSV to an open file."""
    write_csv(position_table(network, positions), handle, keep_names=keep_names)


def write_distance_residuals(
    network: DistanceNetwork,
    positions: Positions,
    path: str | os.PathLike[str],
    *,
    keep_names: bool = False,
) -> None:
    """Write `distance_table` as CSV, or as Parquet by the file's ending."""
    ending, table = check_edge_ending(path), distance_table(network, positions)
    with atomic_output(path, "wb" if ending == ".parquet" else "w") as handle:
        if ending == ".parquet":
            write_parquet(table, handle)
        else:
            write_csv(table, handle, keep_names=keep_names)


def _names(network: DistanceNetwork) -> NDArray[Any]:
    """Names (n,) as objects."""
    names = np.empty(network.num_points, dtype=object)
    names[:] = [plain_name(name) for name in network.point_names]
    return names
