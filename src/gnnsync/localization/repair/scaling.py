"""Classical scaling of shortest paths: a map of a connected network in closed form."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import eigsh

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError
from gnnsync.typing import FloatArray, IntArray

# Up to here a dense eigensolver takes 2 ms, and it always converges. Its time grows as n³: at 2000
# points it takes .26 s, where the Lanczos iteration takes .014 s.
_DENSE_POINTS = 300
# The paths between all pairs of so many points take 800 MB with the copy that centring makes.
MOST_POINTS = 7000
# Coordinates whose extent is less than this part of the largest are rounding.
_RANK = 1e-6


def check_size(method: str, network: DistanceNetwork) -> None:
    """Refuse a network whose paths between all pairs of points do not fit in memory."""
    if network.num_points > MOST_POINTS:
        raise GraphError(
            f"{method} takes at most {MOST_POINTS} points, because it needs the paths between all "
            f"pairs of them: the network has {network.num_points}"
        )


def path_lengths(network: DistanceNetwork, sources: IntArray | None = None) -> FloatArray:
    """Lengths (n, n) of the shortest paths, inf between components; O(n m log n) time.

    From some points (L,) alone, if they are given: (L, n) in O(L m log n) time.
    """
    return np.asarray(shortest_path(network.adjacency, method="D", directed=False, indices=sources))


def scaled_paths(network: DistanceNetwork) -> FloatArray:
    r"""Classical scaling (n, 2) of the lengths of shortest paths in a connected network.

    With D the squared lengths and J = I - 11ᵀ/n, the two largest eigenvalues λ and vectors v of
    -J D J/2 give the coordinates :math:`\sqrt{\lambda}\, v` (Torgerson 1952). Exact if all paths
    are straight.
    """
    value, vector = _leading(path_lengths(network) ** 2)
    return vector * np.sqrt(value)


def landmark_map(network: DistanceNetwork, landmarks: int, seed: int = 0) -> FloatArray:
    r"""Scaling (n, 2) of shortest paths to some points only, component by component.

    Landmark scaling (de Silva and Tenenbaum 2004): classical scaling of the paths among the
    landmarks, drawn at random, gives λ and v; a point with squared paths δ to them, whose mean over
    the landmarks is :math:`\bar\delta`, has the coordinates
    :math:`v^\top (\bar\delta - \delta) / (2\sqrt{\lambda})`. With all points as landmarks
    this is `scaled_paths`. The memory is n L and not n²: it grows as the network, and for 10,000
    points the paths to 500 landmarks take 40 MB where all paths take 800.

    Args:
        network: any number of components; the centre of its landmarks is at 0.
        landmarks: L, the most landmarks of a component.
        seed: of the choice of the landmarks.
    """
    points = np.zeros((network.num_points, 2))
    rng = np.random.default_rng(seed)
    order = np.argsort(network.component, kind="stable")
    cuts = np.flatnonzero(np.diff(network.component[order])) + 1
    for own in np.split(order, cuts):
        if len(own) > 1:
            part, _ = network.subnetwork(own)
            chosen = np.sort(rng.permutation(len(own))[:landmarks])
            points[own] = _by_landmarks(part, chosen)
    return points


def _by_landmarks(network: DistanceNetwork, chosen: IntArray) -> FloatArray:
    """Positions (n, 2) of the points of a connected network by landmarks (L,)."""
    squared = path_lengths(network, chosen) ** 2
    among = squared[:, chosen]
    mean = among.mean(axis=1)
    value, vector = _leading(among)
    root = np.sqrt(value)
    # A map on a line has no second coordinate.
    inverse = np.divide(0.5, root, out=np.zeros(len(root)), where=root > _RANK * root.max())
    squared -= mean[:, None]
    return np.asarray(-(squared.T @ vector) * inverse)


def _leading(squared: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Largest eigenvalues (2,), at least 0, and vectors (n, 2) of -J D J/2; overwrites D."""
    n = len(squared)
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1)[:, None]
    squared *= -0.5
    if n <= _DENSE_POINTS:
        value, vector = scipy.linalg.eigh(squared, subset_by_index=(max(n - 2, 0), n - 1))
    else:
        start = np.random.default_rng(0).standard_normal(n)
        value, vector = eigsh(squared, k=2, which="LA", v0=start)
    return np.maximum(value, 0.0), vector
