"""Regions of a graph that are held together by few edges, found by recursive spectral cuts."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from gnnsync.errors import GnnsyncError
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator, normalise
from gnnsync.typing import FloatArray, IntArray

# Spectral gap of the random walk below which regions of a graph can rotate against one another:
# measured up to 0.2 on geometric graphs and maps, from 0.4 on Erdős–Rényi graphs and preferential
# attachment.
_SMALL_GAP = 0.25
# Power iterations in which a small gap shows.
_POWERS = 200
# A region is not divided below this many nodes, nor below 1/_FINEST of all nodes.
_LEAST_NODES, _FINEST = 8, 64
# Edges of less weight do not hold a region together.
_NEGLIGIBLE_WEIGHT = 1e-3
# Accuracy of the eigenvector that gives a cut: only the order of its entries matters.
_CUT_ACCURACY = 1e-4


def is_extended(graph: MeasurementGraph, rng: np.random.Generator) -> bool:
    """Whether the random walk on the graph mixes slowly, as on graphs embedded in the plane.

    The Rayleigh quotient of D^{-1/2} A D^{-1/2}, orthogonal to its first eigenvector D^{1/2} 1,
    approaches the second eigenvalue from below by power iteration; the graph is extended if it
    exceeds 0.75.
    """
    operator, weight = EdgeOperator(graph), graph.edge_weight
    degree = operator.degree(weight)
    walk = normalise(operator.adjacency(weight), degree)
    first = np.sqrt(degree / degree.sum())
    vector = rng.standard_normal(graph.num_nodes)
    for _ in range(_POWERS):
        vector = vector - first * (first @ vector)
        size = np.linalg.norm(vector)
        if size == 0.0:
            return False
        vector /= size
        image = walk @ vector
        if vector @ image > 1.0 - _SMALL_GAP:
            return True
        # A lazy walk, with eigenvalues in [0, 1]: those near -1 would slow the iteration down.
        vector = 0.5 * (vector + image)
    return False


def find_regions(
    graph: MeasurementGraph, weight: FloatArray, rng: np.random.Generator
) -> list[IntArray]:
    """Both sides of every cut when the graph with edge weights (m,) is cut recursively.

    Each part is divided into its components, or else at the cut of least conductance along the
    second eigenvector of its random walk (Shi and Malik 2000).
    """
    n = graph.num_nodes
    adjacency = EdgeOperator(graph).adjacency(np.where(weight < _NEGLIGIBLE_WEIGHT, 0.0, weight))
    adjacency.eliminate_zeros()
    least = max(_LEAST_NODES, n // _FINEST)
    regions: list[IntArray] = []
    open_parts = [np.arange(n)]
    while open_parts:
        part = open_parts.pop()
        if len(part) < 2 * least:
            continue
        halves = _cut(adjacency[part][:, part], rng)
        if len(halves) > 1:
            found = [part[half] for half in halves]
            regions += [region for region in found if len(region) >= _LEAST_NODES // 2]
            open_parts += found
    return regions


def _cut(adjacency: sp.csr_array, rng: np.random.Generator) -> list[IntArray]:
    """Positions of the parts into which a graph is divided; a single part if it cannot be."""
    count, label = connected_components(adjacency, directed=False)
    if count > 1:
        return [np.flatnonzero(label == part) for part in range(count)]
    n = adjacency.shape[0]
    degree = adjacency.sum(axis=1)
    walk = normalise(adjacency, degree)
    try:
        vectors = top_eigenvectors(walk, 2, rng, bound=1.0, tol=_CUT_ACCURACY).vectors
    except GnnsyncError:  # eigenvalues too close to one another: no cut stands out
        return [np.arange(n)]
    order = np.argsort(vectors[:, 1].real / np.sqrt(degree), kind="stable")
    conductance = _conductance(adjacency, degree, order)
    margin = min(_LEAST_NODES // 2, n // 2)
    cut = margin + int(conductance[margin - 1 : n - margin].argmin())
    return [order[:cut], order[cut:]]


def _conductance(adjacency: sp.csr_array, degree: FloatArray, order: IntArray) -> FloatArray:
    """Conductance (n - 1,) of the cuts that separate the first nodes of `order` (n,) from the rest.

    The weight that crosses the cut over the smaller total degree of the two sides.
    """
    n = len(order)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    # Every edge crosses the cuts between the places of its two ends.
    tail = np.repeat(place, np.diff(adjacency.indptr))
    head = place[adjacency.indices]
    up = tail < head
    opened = np.bincount(tail[up], adjacency.data[up], n)
    closed = np.bincount(head[up], adjacency.data[up], n)
    volume = np.cumsum(degree[order])
    smaller = np.maximum(np.minimum(volume, volume[-1] - volume)[:-1], np.finfo(float).tiny)
    return np.cumsum(opened - closed)[:-1] / smaller
