"""Small pose graphs with known angles: a trajectory that returns to its own places."""

from __future__ import annotations

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.typing import BoolArray


def laps(
    *,
    laps: int = 6,
    length: int = 40,
    noise: float = 0.02,
    closures: int = 80,
    false: int = 0,
    drift: float = 0.0,
    seed: int = 0,
) -> tuple[MeasurementGraph, BoolArray]:
    """Several laps of the same way, closures between laps, false closures of random heading.

    Returns the graph, odometry trusted, and which edges (m,) are false.
    """
    rng = np.random.default_rng(seed)
    n = laps * length
    angles = np.tile(rng.normal(0.0, 1.0, length), laps)
    chain = np.stack([np.arange(1, n), np.arange(n - 1)])
    first = rng.integers(0, n - length, closures)
    later = first + length * rng.integers(1, laps, len(first))
    true = np.stack([later, first])[:, later < n]
    ends = rng.integers(0, n, (2, 3 * false))
    wrong = ends[:, np.abs(ends[0] - ends[1]) > 1][:, :false]
    index = np.concatenate([chain, true, wrong], axis=1)
    offset = angles[index[0]] - angles[index[1]] + rng.normal(0.0, noise, index.shape[1])
    offset[: n - 1] += drift
    outlier = np.arange(index.shape[1]) >= index.shape[1] - false
    offset[outlier] = rng.uniform(0.0, 2.0 * np.pi, false)
    graph = MeasurementGraph(
        index, offset, n, trusted=np.arange(index.shape[1]) < n - 1, angles=angles
    )
    return graph, outlier
