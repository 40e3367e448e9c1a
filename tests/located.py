"""A small network that was located, made by hand: no solver is needed."""

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.positions import Positions

POINTS = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0], [9.0, 9.0]])
PAIRS = np.array([[0, 1, 2, 3, 0, 1, 2], [1, 2, 3, 0, 2, 3, 4]])


def located(shift=0.0, truth=True):
    """A square with both diagonals, one of them measured wrong, and a point at the end of a line.

    The corners are off by `shift` in x; their 95 % ellipses have half axes 2.45·(0.2, 0.1).
    """
    true = np.linalg.norm(POINTS[PAIRS[0]] - POINTS[PAIRS[1]], axis=1)
    outlier = np.arange(7) == 5
    network = DistanceNetwork(
        PAIRS,
        true + 3.0 * outlier,
        5,
        points=POINTS if truth else None,
        outlier=outlier,
        names=("a", "b", "c", "d", "=e"),
    )
    covariance = np.tile(np.diag([0.04, 0.01]), (5, 1, 1))
    covariance[4] = np.nan
    positions = Positions(
        points=POINTS + np.array([shift, 0.0]),
        covariance=covariance,
        localizable=np.array([True] * 4 + [False]),
        component=np.zeros(5, dtype=np.int64),
        edge_confidence=np.where(outlier, 0.0, 1.0),
        stop_reason="as made",
        seconds=0.5,
    )
    return network, positions
