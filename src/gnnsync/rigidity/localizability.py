"""Which points of a network the distances determine."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gnnsync.rigidity.structure import Rigidity
from gnnsync.topology import component_labels
from gnnsync.typing import BoolArray, IntArray


def localizable_points(pairs: IntArray, num_points: int, anchors: ArrayLike = ()) -> BoolArray:
    """Points (n,) whose position the distances determine, for generic positions.

    Known positions of anchors are the same as edges between all of them. In a connected part with
    at least three anchors a point is localizable if it is in one globally rigid body with three
    of them; then its position is absolute. Elsewhere the points of the largest body are
    localizable, up to a motion and a reflection of the part. Anchors always are.

    Sufficient by Jackson, Jordan and Szabadka (2006), who conjecture that it is necessary. Three
    anchors on one line are not generic: they leave a reflection.

    Args:
        pairs: (2, m) edges, each pair at most once.
        num_points: n.
        anchors: (a,) points with known positions.
    """
    known = np.unique(np.asarray(anchors, dtype=np.int64))
    joined = _with_anchors_joined(pairs, num_points, known)
    label = component_labels(joined, num_points)
    absolute = label[known[0]] if len(known) >= 3 else -1
    is_anchor = np.zeros(num_points, dtype=bool)
    is_anchor[known] = True
    best: dict[int, IntArray] = {}
    for body in Rigidity(joined, num_points).bodies:
        part = int(label[body[0]])
        if part == absolute:
            if is_anchor[body].sum() >= 3:
                best[part] = body
        elif part not in best or len(body) > len(best[part]):
            best[part] = body
    found = is_anchor
    for body in best.values():
        found[body] = True
    return found


def _with_anchors_joined(pairs: IntArray, num_points: int, anchors: IntArray) -> IntArray:
    """The edges, and enough edges between the anchors that they are globally rigid.

    The first three are joined to all others: no less than all edges between them.
    """
    first = anchors[:3]
    hub, other = np.meshgrid(first, anchors, indexing="ij")
    extra = np.stack([hub[other > hub], other[other > hub]])
    both = np.concatenate([np.sort(pairs, axis=0), extra], axis=1)
    keys = np.unique(both[0] * num_points + both[1])
    return np.stack(np.divmod(keys, max(num_points, 1)))
