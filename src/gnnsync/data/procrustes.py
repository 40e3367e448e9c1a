"""Offsets between overlapping patches: the best rotation of one onto the other."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gnnsync.angles import reduce_angle
from gnnsync.data.patches import Patches
from gnnsync.errors import check_choice, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import FloatArray, IntArray

WEIGHTS = ("none", "overlap", "precision")
# Common points that coincide have no variance, and a weight must be positive.
_LEAST_WEIGHT = 1e-12

# Positions compared at a time, (pairs × patch size): bounds the working memory to some 200 MB.
_POSITIONS_PER_CHUNK = 1 << 20


def overlapping_pairs(patches: Patches, min_overlap: int) -> IntArray:
    """Pairs (2, m) of patches i < j with at least `min_overlap` common points, sorted."""
    check_integer("min_overlap", min_overlap, 2)
    common = sp.triu(patches.incidence @ patches.incidence.T, k=1).tocoo()
    enough = common.data >= min_overlap
    pairs = np.stack([common.row[enough], common.col[enough]]).astype(np.int64)
    return pairs[:, np.lexsort((pairs[1], pairs[0]))]


def procrustes(patches: Patches, pairs: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    r"""Rotation of patch j that brings it nearest to patch i, for each pair (2, m).

    Over the points :math:`x` that both hold, with :math:`\bar p` the mean over those points,

    .. math:: a_{ij} = \arg \sum_x (p_i(x) - \bar p_i)\,\overline{(p_j(x) - \bar p_j)},

    minimises :math:`\sum_x |p_i(x) - \bar p_i - e^{ia}(p_j(x) - \bar p_j)|^2`: the orthogonal
    Procrustes problem restricted to rotations, so that a reflection cannot appear. The result
    estimates θ_i - θ_j for patches turned by θ_i and θ_j.

    Returns the angles (m,), the numbers of common points (m,) and the modulus of the sum (m,).
    The last estimates V = Σ_x |z(x) - z̄|² of the common points without bias, since the
    noise of the two patches is independent; noise σ in every coordinate gives the angle a
    variance of about 2σ²/V.
    """
    keys, slots = _slots(patches)
    m, s = pairs.shape[1], patches.size
    rotation, variance = np.zeros(m), np.zeros(m)
    overlap = np.zeros(m, dtype=np.int64)
    step = max(_POSITIONS_PER_CHUNK // s, 1)
    for start in range(0, m, step):
        part = slice(start, start + step)
        i, j = pairs[:, part]
        wanted = j[:, None] * patches.num_points + patches.member[i]
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        shared = keys[found] == wanted
        here = np.where(shared, patches.position[i], 0)
        there = np.where(shared, patches.position[j[:, None], slots[found]], 0)
        count = shared.sum(axis=1)
        here -= np.where(shared, (here.sum(axis=1) / count)[:, None], 0)
        there -= np.where(shared, (there.sum(axis=1) / count)[:, None], 0)
        product = (here * there.conj()).sum(axis=1)
        rotation[part], variance[part], overlap[part] = np.angle(product), np.abs(product), count
    return rotation, overlap, variance


def measure_offsets(
    patches: Patches, min_overlap: int = 6, weights: str = "none"
) -> MeasurementGraph:
    """The measurement graph of patches: an edge i → j, i < j, for every overlapping pair.

    Weights: ``none``; ``overlap``, the number of common points; ``precision``, the scatter V of the
    common points, to which the inverse variance of the offset is proportional (see
    `procrustes`). Both are scaled to mean 1.
    """
    check_choice("weights", weights, WEIGHTS)
    pairs = overlapping_pairs(patches, min_overlap)
    rotation, overlap, variance = procrustes(patches, pairs)
    weight = {"none": None, "overlap": overlap.astype(np.float64), "precision": variance}[weights]
    if weight is not None and len(weight):
        weight = np.maximum(weight / (weight.mean() or 1.0), _LEAST_WEIGHT)
    return MeasurementGraph(pairs, reduce_angle(rotation), len(patches), weight=weight)


def _slots(patches: Patches) -> tuple[IntArray, IntArray]:
    """Sorted keys patch·n + point, and the slot of each in its patch: a lookup by bisection."""
    p, s = patches.member.shape
    keys = (np.arange(p)[:, None] * patches.num_points + patches.member).ravel()
    order = np.argsort(keys)
    return keys[order], order % s
