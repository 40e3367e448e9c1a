"""Operations on pairs of nodes (2, m), i < j, that several families of graphs share."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.topology import component_labels, distinct
from gnnsync.typing import FloatArray, IntArray

# Radius of a search grows by this factor until enough pairs are within it.
_GROWTH = 1.3


def wanted_pairs(n: int, degree: float) -> int:
    """Number of pairs with this mean degree: n·degree/2, at most all n(n-1)/2, at least n-1."""
    return min(max(round(n * degree / 2.0), n - 1), n * (n - 1) // 2)


def distinct_pairs(i: IntArray, j: IntArray, n: int) -> IntArray:
    """The distinct pairs (2, m) with i < j among (i, j) in any order; pairs i = j are left out."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    key = distinct((low * n + high)[low != high])
    return np.stack(np.divmod(key, n))


def numbered_pairs(number: IntArray) -> IntArray:
    """Pairs (2, m) from their numbers j(j-1)/2 + i, i < j."""
    j = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    j -= number < j * (j - 1) // 2  # the root may be rounded to the next whole number
    return np.stack([number - j * (j - 1) // 2, j])


def sampled(pairs: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` of the pairs at random, or all of them if there are no more."""
    if pairs.shape[1] <= count:
        return pairs
    return pairs[:, np.sort(rng.choice(pairs.shape[1], count, replace=False))]


def joined(
    pairs: IntArray, n: int, rng: np.random.Generator, points: FloatArray | None = None
) -> IntArray:
    """The pairs and those that make the graph connected: one per component beyond the largest.

    Every other component is joined to the largest one: by its shortest link if the nodes have
    `points` (n, d), by random nodes of both otherwise. All n nodes are kept.
    """
    label = component_labels(pairs, n)
    largest = int(np.argmax(np.bincount(label)))
    outside, inside = np.flatnonzero(label != largest), np.flatnonzero(label == largest)
    if not len(outside):
        return pairs
    if points is None:
        priority, near = rng.random(len(outside)), rng.integers(len(inside), size=len(outside))
    else:
        priority, near = cKDTree(points[inside]).query(points[outside])
    order = np.argsort(priority, kind="stable")
    first = order[np.unique(label[outside][order], return_index=True)[1]]
    i = np.concatenate([pairs[0], outside[first]])
    j = np.concatenate([pairs[1], inside[near[first]]])
    return distinct_pairs(i, j, n)


def shortest_pairs(points: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    """The `count` pairs of points (n, d) at the smallest distance, joined to a connected graph.

    The graph of all pairs within a radius, with the radius that gives `count` pairs. Ties are
    broken at random.
    """
    n, dimension = points.shape
    tree = cKDTree(points)
    extent = float(np.ptp(points, axis=0).max())
    radius = extent * (2.0 * count / (n * n)) ** (1.0 / dimension)
    pairs = tree.query_pairs(radius, output_type="ndarray")
    while len(pairs) < count:
        radius *= _GROWTH
        pairs = tree.query_pairs(radius, output_type="ndarray")
    i, j = pairs.T.astype(np.int64)
    length = np.linalg.norm(points[i] - points[j], axis=1)
    kept = np.lexsort((rng.random(len(length)), np.round(length / radius, 9)))[:count]
    return joined(distinct_pairs(i[kept], j[kept], n), n, rng, points)


def nearest_pairs(points: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    """`count` pairs of nearest neighbours among points (n, d), joined to a connected graph.

    A pair has the rank r if one of the two is the r-th nearest neighbour of the other; pairs are
    taken by rank, those of the last rank at random.
    """
    n = len(points)
    # n·K directed neighbours are at least n·K/2 pairs.
    most = min(int(np.ceil(2.0 * count / n)), n - 1)
    neighbour = cKDTree(points).query(points, most + 1)[1][:, 1:].astype(np.int64)
    i, j = np.repeat(np.arange(n), most), neighbour.ravel()
    rank = np.tile(np.arange(most), n)
    order = np.lexsort((rng.random(len(rank)), rank))
    key = (np.minimum(i, j) * n + np.maximum(i, j))[order]
    first = np.sort(np.unique(key, return_index=True)[1])[:count]
    kept = order[first]
    return joined(distinct_pairs(i[kept], j[kept], n), n, rng, points)
