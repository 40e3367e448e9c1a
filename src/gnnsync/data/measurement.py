"""Which pairs are measured: random graphs from NetworkX, as arrays of pairs i < j."""

from __future__ import annotations

import math
from collections.abc import Callable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

MeasurementModel = Callable[[int, float, int], NDArray[np.int64]]
"""Draws pairs (2, m) from (n, p, seed)."""

# NetworkX's plain G(n, p) tries every pair; its sparse variant follows the same law in O(n + m).
_SPARSE_NODES = 1000


def erdos_renyi(n: int, p: float, seed: int) -> NDArray[np.int64]:
    """Every pair independently with probability p."""
    draw = nx.fast_gnp_random_graph if n > _SPARSE_NODES else nx.gnp_random_graph
    return _pairs(draw(n, p, seed=seed))


def barabasi_albert(n: int, p: float, seed: int) -> NDArray[np.int64]:
    """Preferential attachment; each new node brings ⌈np/2⌉ edges (at least 1, below n)."""
    # Rounded first: 200 · 0.07 / 2 is 7, and a hair more than 7 in floating point.
    attached = min(max(math.ceil(round(n * p / 2, 9)), 1), n - 1)
    return _pairs(nx.barabasi_albert_graph(n, attached, seed=seed))


def random_geometric(n: int, p: float, seed: int) -> NDArray[np.int64]:
    """Uniform points in the unit square, joined when nearer than the radius 2p."""
    return _pairs(nx.random_geometric_graph(n, 2 * p, seed=seed))


def _pairs(graph: nx.Graph) -> NDArray[np.int64]:
    flat = np.fromiter((i for edge in graph.edges() for i in edge), dtype=np.int64)
    pairs = np.sort(flat.reshape(-1, 2), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T
