"""How far distances reach, and which near pairs have none."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gnnsync.distance_network import DistanceNetwork
from gnnsync.typing import FloatArray, IntArray

# The reach of a point: this quantile of its distances.
_REACH = 0.9


def point_reach(network: DistanceNetwork) -> FloatArray:
    """How far the distances of each point reach, (n,): a high quantile of them."""
    n = network.num_points
    end = network.pairs.ravel()
    distance = np.tile(network.distance, 2)
    order = np.lexsort((distance, end))
    start = np.searchsorted(end[order], np.arange(n + 1))
    count = np.diff(start)
    rank = np.round(_REACH * np.maximum(count - 1, 0)).astype(np.int64)
    place = np.minimum(start[:-1] + rank, len(order) - 1)
    return np.where(count > 0, distance[order][place], np.median(network.distance))


def two_steps_apart(network: DistanceNetwork) -> IntArray:
    """Pairs (2, q) of points with a common neighbour and no distance between them."""
    n, (i, j) = network.num_points, network.pairs
    ends = np.concatenate([i, j]), np.concatenate([j, i])
    graph = sp.csr_array((np.ones(len(ends[0])), ends), shape=(n, n))
    both = sp.triu(graph @ graph, 1).tocoo()
    missing = ~np.isin(both.row.astype(np.int64) * n + both.col, _keys(network))
    return np.stack([both.row[missing], both.col[missing]]).astype(np.int64)


def _keys(network: DistanceNetwork) -> IntArray:
    """One number for each measured pair."""
    low, high = np.sort(network.pairs, axis=0)
    return np.asarray(low * network.num_points + high)
