"""The outlier model: which offset is observed on each measured pair."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI, reduce_angle
from gnnsync.errors import check_choice, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import FloatArray, IntArray

ORIENTATIONS = ("random", "upper", "released")


def observe(
    pairs: IntArray,
    angles: FloatArray,
    eta: float,
    *,
    rng: np.random.Generator,
    orientation: str = "random",
    inlier_noise: float = 0.0,
) -> MeasurementGraph:
    """Observe the offsets of `angles` (n, k) on `pairs` (2, m), i < j.

    A uniform selection variable u per pair decides: group l if (1-η)(l-1)/k ≤ u < (1-η)l/k, an
    outlier (offset uniform on the circle) if u ≥ 1-η. Inliers carry θ_i - θ_j plus normal noise of
    standard deviation `inlier_noise`.

    Orientation of the stored edge:
      * ``random``: either way with equal chance, so that direction carries no information;
      * ``upper``: always i → j;
      * ``released``: as in the authors' released code, where true differences are not reduced
        mod 2π before the non-negative one is kept. An inlier points from the larger to the smaller
        angle (with `inlier_noise`: as the noisy difference has it), an outlier always from i to j:
        the direction *leaks the truth*.
    """
    check_real("eta", eta, 0, 1)
    check_real("inlier_noise", inlier_noise, 0)
    check_choice("orientation", orientation, ORIENTATIONS)
    n, k = angles.shape
    m: int = pairs.shape[1]
    selection, noise_angle = rng.random(m), rng.uniform(0.0, TWO_PI, m)
    jitter, coin = rng.standard_normal(m), rng.random(m)

    # Thresholds (1-η)l/k for l = 1..k; side="right" keeps the intervals closed on the left.
    thresholds = (1.0 - eta) * np.arange(1, k + 1) / k
    interval = np.searchsorted(thresholds, selection, side="right")
    outlier = interval == k
    group = np.where(outlier, -1, interval)

    i, j = pairs
    own = np.where(outlier, 0, group)
    difference = angles[i, own] - angles[j, own] + inlier_noise * jitter
    offset = np.where(outlier, noise_angle, difference)
    reverse = {"random": coin < 0.5, "upper": coin < 0, "released": offset < 0}[orientation]
    edge_index = np.where(reverse, pairs[::-1], pairs)
    offset = reduce_angle(np.where(reverse, -offset, offset))
    return MeasurementGraph(edge_index, offset, n, angles=angles, group=group)
