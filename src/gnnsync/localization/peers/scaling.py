"""Classical scaling of shortest paths: a map of a connected network in closed form."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import eigsh

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError
from gnnsync.typing import FloatArray

# Up to here a dense eigensolver takes 2 ms, and it always converges. Its time grows as n³: at 2000
# points it takes .26 s, where the Lanczos iteration takes .014 s.
_DENSE_POINTS = 300
# The paths between all pairs of so many points take 800 MB with the copy that centring makes.
MOST_POINTS = 7000


def check_size(method: str, network: DistanceNetwork) -> None:
    """Refuse a network whose paths between all pairs of points do not fit in memory."""
    if network.num_points > MOST_POINTS:
        raise GraphError(
            f"{method} takes at most {MOST_POINTS} points, because it needs the paths between all "
            f"pairs of them: the network has {network.num_points}"
        )


def path_lengths(network: DistanceNetwork) -> FloatArray:
    """Lengths (n, n) of the shortest paths, inf between components; O(n m log n) time."""
    return np.asarray(shortest_path(network.adjacency, method="D", directed=False))


def scaled_paths(network: DistanceNetwork) -> FloatArray:
    r"""Classical scaling (n, 2) of the lengths of shortest paths in a connected network.

    With D the squared lengths and J = I - 11ᵀ/n, the two largest eigenvalues λ and vectors v of
    -J D J/2 give the coordinates :math:`\sqrt{\lambda}\, v` (Torgerson 1952). Exact if all paths
    are straight.
    """
    n = network.num_points
    squared = path_lengths(network) ** 2
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1)[:, None]
    squared *= -0.5
    if n <= _DENSE_POINTS:
        value, vector = scipy.linalg.eigh(squared, subset_by_index=(max(n - 2, 0), n - 1))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        value, vector = eigsh(squared, k=2, which="LA", v0=start)
    return vector * np.sqrt(np.maximum(value, 0.0))
