"""True angles and reflections of patches, where the true points are known."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.localization.base import LocalPatches
from gnnsync.typing import FloatArray, IntArray

# An offset with a larger error, in radians, is an outlier: the patches do not fit each other.
_LARGEST_ERROR = np.pi / 6


def patch_truth(
    points: FloatArray, patches: LocalPatches, signs: IntArray, graph: MeasurementGraph
) -> tuple[FloatArray, IntArray, int]:
    """True angles (p,) of patches with these signs, groups (m,) of the offsets, and wrong signs.

    The angle of a patch is that which brings it, reflected where its sign is -1, nearest to the
    true points. The truth is known up to a reflection of each component of the graph: it is that
    which most signs agree with, and the number of others is returned.

    Args:
        points: (n, 2) true.
        patches: with positions.
        signs: (p,) +1 or -1.
        graph: of the rotations.
    """
    assert patches.position is not None
    p = len(patches)
    owner = np.repeat(np.arange(p), np.diff(patches.indptr))
    own = patches.position[:, 0] + 1j * patches.position[:, 1]
    own = np.where(signs[owner] < 0, own.conj(), own)
    true = (points[:, 0] + 1j * points[:, 1])[patches.member]

    def total(value: np.ndarray) -> np.ndarray:
        return np.bincount(owner, value.real, p) + 1j * np.bincount(owner, value.imag, p)

    centred = own - (total(own) / np.bincount(owner))[owner]
    same, mirrored = total(true * centred.conj()), total(true.conj() * centred.conj())
    right = np.where(np.abs(same) >= np.abs(mirrored), 1, -1)
    component = graph.components
    most = np.bincount(component, right)[component] >= 0
    wrong = int((right != np.where(most, 1, -1)).sum())
    angles = np.angle(np.where(most, same, mirrored))
    i, j = graph.edge_index
    error = np.abs(wrap(angles[i] - angles[j] - graph.offset))
    group = np.where(error <= _LARGEST_ERROR, 0, -1)
    return np.asarray(angles % (2.0 * np.pi)), group.astype(np.int64), wrong
