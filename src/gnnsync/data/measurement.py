"""Which pairs are measured: random graphs as arrays of pairs i < j.

Up to `NETWORKX_NODES` nodes the graphs come from NetworkX, beyond that straight from arrays by the
same laws: NetworkX keeps several hundred bytes of dictionary per edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.topology import distinct
from gnnsync.typing import IntArray

if TYPE_CHECKING:
    import networkx

MeasurementModel = Callable[[int, float, int], IntArray]
"""Draws pairs (2, m) from (n, p, seed)."""

NETWORKX_NODES = 20_000
# NetworkX's plain G(n, p) tries every pair; its sparse variant follows the same law in O(n + m).
_SPARSE_NODES = 1000


def erdos_renyi(n: int, p: float, seed: int) -> IntArray:
    """Every pair independently with probability p."""
    if n > NETWORKX_NODES:
        return _erdos_renyi_pairs(n, p, np.random.default_rng(seed))
    import networkx as nx  # slow to load, and other data need none

    draw = nx.fast_gnp_random_graph if n > _SPARSE_NODES else nx.gnp_random_graph
    return _pairs(draw(n, p, seed=seed))


def barabasi_albert(n: int, p: float, seed: int) -> IntArray:
    """Preferential attachment; each new node brings ⌈np/2⌉ edges (at least 1, below n)."""
    # Rounded first: 200 · 0.07 / 2 is 7, and a hair more than 7 in floating point.
    attached = min(max(math.ceil(round(n * p / 2, 9)), 1), n - 1)
    if n > NETWORKX_NODES:
        return _barabasi_albert_pairs(n, attached, np.random.default_rng(seed))
    import networkx as nx  # as in `erdos_renyi`

    return _pairs(nx.barabasi_albert_graph(n, attached, seed=seed))


def random_geometric(n: int, p: float, seed: int) -> IntArray:
    """Uniform points in the unit square, joined when nearer than the radius 2p."""
    if n > NETWORKX_NODES:
        points = np.random.default_rng(seed).random((n, 2))
        return _ordered(cKDTree(points).query_pairs(2 * p, output_type="ndarray"))
    import networkx as nx  # as in `erdos_renyi`

    return _pairs(nx.random_geometric_graph(n, 2 * p, seed=seed))


def _pairs(graph: networkx.Graph) -> IntArray:
    flat = np.fromiter((i for edge in graph.edges() for i in edge), dtype=np.int64)
    return _ordered(flat.reshape(-1, 2))


def _ordered(pairs: IntArray) -> IntArray:
    """(m, 2) in any order → (2, m) with i < j, sorted."""
    pairs = np.sort(pairs.astype(np.int64, copy=False), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T


def _erdos_renyi_pairs(n: int, p: float, rng: np.random.Generator) -> IntArray:
    """A binomial number of pairs, every set of that size with the same chance."""
    possible = n * (n - 1) // 2
    wanted = int(rng.binomial(possible, p))
    if wanted > possible // 2:
        chosen = np.sort(rng.permutation(possible)[:wanted])
        return _decoded(chosen)
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < wanted:
        more = rng.integers(possible, size=wanted - len(chosen))
        chosen = distinct(np.concatenate([chosen, more]))
    return _decoded(chosen)


def _decoded(number: IntArray) -> IntArray:
    """Pairs i < j (2, m) from their numbers j(j-1)/2 + i, sorted."""
    j = ((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    # The root may be off by one where the number exceeds the precision of a float.
    j -= number < j * (j - 1) // 2
    j += number >= j * (j + 1) // 2
    return _ordered(np.stack([number - j * (j - 1) // 2, j], axis=1))


def _barabasi_albert_pairs(n: int, attached: int, rng: np.random.Generator) -> IntArray:
    """A star of `attached` + 1 nodes, then one node at a time to distinct ones by degree."""
    ends = np.empty(2 * attached * (n - attached), dtype=np.int64)
    ends[: 2 * attached : 2], ends[1 : 2 * attached : 2] = 0, np.arange(1, attached + 1)
    filled = 2 * attached
    for node in range(attached + 1, n):
        # A node stands in the list of ends as often as it has edges.
        targets = set(ends[rng.integers(filled, size=attached)].tolist())
        while len(targets) < attached:
            targets.add(int(ends[rng.integers(filled)]))
        after = filled + 2 * attached
        ends[filled:after:2], ends[filled + 1 : after : 2] = node, sorted(targets)
        filled = after
    return _ordered(ends.reshape(-1, 2))
