"""Anchors that contradict the distances: they are farther apart than any path between them."""

from __future__ import annotations

import logging

import numpy as np
from scipy.sparse.csgraph import dijkstra

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import printable

log = logging.getLogger(__name__)

# A straight line is no longer than a path; measured paths may be shorter by their errors.
_TOLERANCE = 1.5
# Paths are looked for from so many anchors, so that the time stays linear in the distances.
_MOST_ANCHORS = 100


def warn_of_conflicts(network: DistanceNetwork) -> None:
    """Warn of the two anchors whose distance exceeds the path between them most.

    No path of right distances is shorter than the straight line. Either one of the two anchors is
    wrong, or a distance on the path is much too short.
    """
    place, number = network.anchor_place, network.anchor_index
    if len(number) < 2:
        return
    paths = dijkstra(network.adjacency, directed=False, indices=number[:_MOST_ANCHORS])[:, number]
    apart = np.linalg.norm(place[:_MOST_ANCHORS, None] - place, axis=2)
    joined = np.isfinite(paths) & (paths > 0.0)
    excess = np.divide(apart, paths, out=np.zeros_like(apart), where=joined)
    a, b = np.unravel_index(int(np.argmax(excess)), excess.shape)
    if excess[a, b] > _TOLERANCE:
        log.warning(
            "the anchors contradict the distances: %s and %s are %.4g apart, but a path of "
            "distances between them is only %.4g long: correct their positions",
            *(printable(network.name(int(number[k]))) for k in (a, b)),
            apart[a, b],
            paths[a, b],
        )
