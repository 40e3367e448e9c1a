"""Distances between points as instruments measure them: which pairs, and with which errors."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.errors import GraphError, ParameterError, check_choice, check_real
from gnnsync.typing import BoolArray, FloatArray, IntArray

NOISE = ("uniform", "normal", "additive")
# A measured distance is at least this part of the true one: normal noise has no bound, and a
# distance is positive.
_LEAST_PART = 0.01


def disc_graph(points: FloatArray, degree: float) -> tuple[IntArray, FloatArray, float]:
    """The pairs of points that are nearer than a radius at which the mean degree is `degree`.

    Of all pairs the round(n·degree/2) nearest are taken, and with them those that are as far apart
    as the last; the radius is its distance. O(n log n + m) time and memory.

    Args:
        points: (n, 2), no two at one place.
        degree: mean number of measured distances of a point.

    Returns:
        pairs (2, m) with the lower number first, sorted; their distances (m,); the radius.
    """
    n = len(points)
    check_real("degree", degree, 0, open_low=True)
    if degree > n - 1:
        raise ParameterError("degree", degree, f"at most {n - 1}, the other points")
    wanted = max(round(n * degree / 2.0), 1)
    tree = cKDTree(points)
    radius = _radius_of(tree, wanted)
    pairs = tree.query_pairs(radius, output_type="ndarray").astype(np.int64)
    apart = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    if not apart.all():
        i, j = pairs[int(np.argmin(apart))]
        raise GraphError(f"points {i} and {j} are at one place: remove one of them")
    last = float(np.partition(apart, wanted - 1)[wanted - 1])
    kept = apart <= last
    pairs, apart = pairs[kept], apart[kept]
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[order].T.copy(), apart[order], last


def noisy_distances(
    true: FloatArray, law: str, eta: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Measured distances (m,) and their standard deviations (m,).

    - `uniform`: d (1 + η u), u uniform in [-1, 1], the noise of ASAP (Cucuringu, Lipman and Singer
      2012); its deviation is η d/√3.
    - `normal`: d (1 + η z/√3), z standard normal: the same variance.
    - `additive`: d + η D z/√3 with D the root mean square of all d: the same variance on average.

    The draw does not depend on η, so that networks of one seed have noise of one shape.

    Args:
        true: (m,) true distances.
        law: one of `NOISE`.
        eta: η in [0, 1).
        rng: the random numbers.
    """
    check_choice("noise", law, NOISE)
    check_real("eta", eta, 0, 1, open_high=True)
    size = np.full(len(true), np.sqrt(np.mean(true**2))) if law == "additive" else true
    if law == "uniform":
        error = rng.uniform(-1.0, 1.0, len(true))
    else:
        error = rng.standard_normal(len(true)) / np.sqrt(3.0)
    measured = np.maximum(true + eta * size * error, _LEAST_PART * true)
    return measured, eta * size / np.sqrt(3.0)


def add_gross_errors(
    measured: FloatArray,
    share: float,
    bias: tuple[float, float],
    radius: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Distances with a positive bias on a share of them, and which these are, (m,) each.

    A signal that does not come along the line of sight travels farther: each distance is an outlier
    with probability `share`, and is longer by `radius` times a number uniform in `bias`. A smaller
    share of the same draw gives a part of the same outliers.
    """
    check_real("outliers", share, 0, 1, open_high=True)
    low, high = bias
    chance, extra = rng.random(len(measured)), rng.random(len(measured))
    outlier = chance < share
    return measured + outlier * radius * (low + (high - low) * extra), outlier


def _radius_of(tree: cKDTree, wanted: int) -> float:
    """A distance within which there are at least this many pairs, and not many more."""
    n = tree.n
    extent = float(np.linalg.norm(tree.maxes - tree.mins))
    if extent == 0.0:
        raise GraphError("all points are at one place: give points with distances between them")
    low, high = 0.0, extent / np.sqrt(n)

    def pairs_within(radius: float) -> int:
        return (int(tree.count_neighbors(tree, radius)) - n) // 2

    while pairs_within(high) < wanted:
        low, high = high, 2.0 * high
    # Until the surplus is small; ties may keep it large, and then the digits of the radius end it.
    while pairs_within(high) > 1.1 * wanted + 10 and high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        if pairs_within(middle) >= wanted:
            high = middle
        else:
            low = middle
    return high
