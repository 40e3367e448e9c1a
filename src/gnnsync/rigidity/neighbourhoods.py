"""Globally rigid parts of the neighbourhood of every point, fast."""

from __future__ import annotations

import numpy as np

from gnnsync.rigidity.separation import biconnected_blocks, neighbour_sets
from gnnsync.typing import IntArray


def neighbourhood_bodies(
    pairs: IntArray, num_points: int, min_size: int = 4
) -> list[list[IntArray]]:
    """Globally rigid parts of each point's neighbourhood: the point, its neighbours, their edges.

    A point joined to all points of a graph makes a globally rigid graph in the plane iff the
    graph itself is so on the line (Connelly and Whiteley, Discrete Comput. Geom. 43, 2010), that
    is, 2-connected. So the parts are the 2-connected blocks of the neighbours, each with the
    point itself.

    Args:
        pairs: (2, m) edges, each pair at most once.
        num_points: n.
        min_size: least number of points in a part. Parts of 3 are triangles, in which no
            distance checks another.

    Returns:
        for each point a list of parts, largest first, each an array with the point itself first.
    """
    neighbours = neighbour_sets(pairs)
    found = []
    for point in range(num_points):
        blocks = biconnected_blocks(neighbours, neighbours.get(point, ()))
        parts = [np.array([point, *sorted(b)]) for b in blocks if len(b) + 1 >= min_size]
        found.append(sorted(parts, key=len, reverse=True))
    return found
