"""The HTML page of located points: summary, map, and tables of points and distances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.plots.page import Column, Table, html_page
from gnnsync.plots.positions import positions_figure

if TYPE_CHECKING:
    from gnnsync.distance_network import DistanceNetwork
    from gnnsync.positions import Positions


def positions_page(
    network: DistanceNetwork,
    positions: Positions,
    summary: str,
    *,
    points: Mapping[str, NDArray[Any]],
    distances: Mapping[str, NDArray[Any]],
    title: str,
    command: str,
) -> str:
    """The page as text.

    Args:
        network: the distances.
        positions: what was located.
        summary: text of several lines.
        points: columns of the table of points, see `gnnsync.position_tables`.
        distances: columns of the table of distances.
        title: heading of the page.
        command: what made the page.
    """
    radius = positions.ellipses[0][:, 0]
    doubt = np.where(np.isfinite(radius), radius, np.inf)
    tables = [
        Table.ranked("points", _listed(points), doubt, "those of the largest ellipses"),
        Table.ranked(
            "distances",
            _listed(distances),
            -positions.edge_confidence,
            "those of least confidence",
        ),
    ]
    figures = {"The map, with 95 % ellipses": positions_figure(network, positions)}
    return html_page(title, summary, figures, tables, command)


def _listed(columns: Mapping[str, NDArray[Any]]) -> dict[str, Column]:
    return {title: values.tolist() for title, values in columns.items()}
