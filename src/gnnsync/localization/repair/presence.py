"""What missing distances tell: near points usually have one, so points without are not near."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from gnnsync.distance_network import DistanceNetwork
from gnnsync.typing import FloatArray, IntArray

# The reach of a point: this quantile of its distances.
_REACH = 0.9
# Bins of the distance, per reach, and how many: pairs farther apart tell nothing.
_BINS_PER_REACH, _BINS = 10, 13
# Pairs are looked for up to this multiple of the 90 % quantile of the reaches.
_FARTHEST = 1.2
# At most so many near pairs for each distance are counted; a map that is so crowded is folded.
_MOST_PAIRS = 40


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


def presence_log_likelihood(network: DistanceNetwork, points: FloatArray) -> float:
    r"""How well positions explain which distances were measured.

    With t the distance of two points on the map, in units of the smaller of their reaches, and
    q(t) the share of such pairs that are measured, in bins of t,

    .. math:: \sum_{measured} \log q(t) + \sum_{missing} \log(1 - q(t)).

    Where a map is folded, points are near others without a distance to them, and the sum falls. On
    networks whose distances do not depend on how near the points are, q is flat and the sum is the
    same for all maps.

    Args:
        network: the distances.
        points: (n, 2) without NaN.
    """
    n, reach = network.num_points, point_reach(network)
    farthest = _FARTHEST * float(np.quantile(reach, _REACH))
    tree = cKDTree(points)
    while tree.count_neighbors(tree, farthest) > 2 * _MOST_PAIRS * network.num_edges + n:
        farthest *= 0.8
    pairs = tree.query_pairs(farthest, output_type="ndarray").astype(np.int64)
    near = pairs[network.component[pairs[:, 0]] == network.component[pairs[:, 1]]]
    i, j = np.sort(near.T, axis=0)
    apart = np.hypot(*(points[i] - points[j]).T) / np.minimum(reach[i], reach[j])
    number = np.minimum(apart * _BINS_PER_REACH, _BINS).astype(np.int64)
    measured = np.isin(i * n + j, _keys(network))
    total = np.bincount(number, minlength=_BINS + 1)[:_BINS]
    found = np.bincount(number[measured], minlength=_BINS + 1)[:_BINS]
    share = (found + 1.0) / (total + 2.0)
    return float(found @ np.log(share) + (total - found) @ np.log(1.0 - share))


def _keys(network: DistanceNetwork) -> IntArray:
    """One number for each measured pair."""
    low, high = np.sort(network.pairs, axis=0)
    return np.asarray(low * network.num_points + high)
