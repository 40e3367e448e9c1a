"""Write positions and the residuals of the distances: CSV, Parquet or JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import DataFileError
from gnnsync.io.files import atomic_output
from gnnsync.io.solution_file import check_edge_ending, known_or, write_csv
from gnnsync.io.tables.parquet import write_parquet
from gnnsync.position_tables import distance_table, position_table
from gnnsync.positions import Positions
from gnnsync.solution import plain_name

ENDINGS = (".csv", ".parquet", ".json")


def check_position_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a file of positions if its format can be written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataFileError(f"{path}: ends in {ending!r}: must be one of {', '.join(ENDINGS)}")
    return ending


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
