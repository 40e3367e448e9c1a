"""The tables of located points: one row per point, one row per distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.distance_network import DistanceNetwork
from gnnsync.positions import Positions
from gnnsync.solution import plain_name
from gnnsync.solution.table import Table


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


def _names(network: DistanceNetwork) -> NDArray[Any]:
    """Names (n,) as objects."""
    names = np.empty(network.num_points, dtype=object)
    names[:] = [plain_name(name) for name in network.point_names]
    return names
