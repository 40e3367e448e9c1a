"""Which points of a network the distances determine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnnsync.rigidity.structure import Rigidity
from gnnsync.topology import component_labels
from gnnsync.typing import BoolArray, IntArray

# This many anchors, not on one line, fix a rigid body in the plane.
ANCHORS_THAT_FIX = 3


@dataclass(frozen=True, eq=False)
class Frames:
    """The points of each component that have places relative to its frame.

    The frame of a component is its largest globally rigid body or, where it has at least three
    anchors, these.

    Args:
        component: (n,) connected component of each point.
        localizable: (n,) points in one globally rigid body with the frame, and all anchors.
        rigid: (n,) points in one rigid part with the frame: no small movement of them keeps all
            distances, but a reflection of some may.
        fixed: (n,) points of components with at least three anchors.
    """

    component: IntArray
    localizable: BoolArray
    rigid: BoolArray
    fixed: BoolArray


def localizable_points(pairs: IntArray, num_points: int, anchors: ArrayLike = ()) -> BoolArray:
    """Points (n,) whose position the distances determine, for generic positions.

    Known positions of anchors are the same as edges between all of them. In a component of the
    network with at least three anchors a point is localizable if it is in one globally rigid body
    with three anchors; then its position is absolute. Elsewhere the points of the largest body are
    localizable, up to a motion and a reflection of the component. Anchors always are.

    Sufficient by Jackson, Jordan and Szabadka (2006), who conjecture that it is necessary. Three
    anchors on one line are not generic: they leave a reflection.

    Args:
        pairs: (2, m) edges, each pair at most once.
        num_points: n.
        anchors: (a,) points with known positions.
    """
    return network_frames(pairs, num_points, anchors).localizable


def network_frames(pairs: IntArray, num_points: int, anchors: ArrayLike = ()) -> Frames:
    """The frame of each component and what belongs to it; arguments as `localizable_points`."""
    n, known = num_points, np.unique(np.asarray(anchors, dtype=np.int64))
    component = component_labels(pairs, n).astype(np.int64)
    is_anchor = np.zeros(n, dtype=bool)
    is_anchor[known] = True
    fixed = (np.bincount(component[known], minlength=n) >= ANCHORS_THAT_FIX)[component]
    joined = _join_anchors(pairs, n, known)
    rigidity = Rigidity(joined, n)
    core = _bodies(rigidity.bodies, component, is_anchor, fixed)
    localizable = core | is_anchor
    core[fixed] = is_anchor[fixed]
    bare = np.bincount(component, weights=core, minlength=n)[component] == 0
    core |= bare
    # The rigid part of each component that holds most of its frame.
    keys = np.unique((rigidity.rigid_component * n + joined).ravel())
    part, point = np.divmod(keys, n)
    held = np.unique(component[point] * (part.max(initial=0) + 1) + part, return_inverse=True)[1]
    share = np.bincount(held, weights=core[point])[held] if len(held) else np.zeros(0)
    most = np.zeros(n)
    np.maximum.at(most, component[point], share)
    first = np.full(n, np.iinfo(np.int64).max)
    largest = share == most[component[point]]
    np.minimum.at(first, component[point[largest]], part[largest])
    rigid = is_anchor & fixed
    rigid[point[part == first[component[point]]]] = True
    return Frames(component, localizable, rigid, fixed)


def _bodies(
    bodies: list[IntArray], component: IntArray, is_anchor: BoolArray, fixed: BoolArray
) -> BoolArray:
    """Points (n,) in the globally rigid body that is chosen in each component."""
    best: dict[int, IntArray] = {}
    for body in bodies:
        held = is_anchor[body].sum() >= ANCHORS_THAT_FIX
        for part in np.unique(component[body]).tolist():
            own = body[component[body] == part]
            if held if fixed[own[0]] else part not in best or len(own) > len(best[part]):
                best[part] = own
    found = np.zeros(len(component), dtype=bool)
    for own in best.values():
        found[own] = True
    return found


def _join_anchors(pairs: IntArray, num_points: int, anchors: IntArray) -> IntArray:
    """The edges, and enough edges between the anchors (sorted) to make them globally rigid.

    The first three are joined to all others: no less than all edges between them.
    """
    hub, other = np.meshgrid(anchors[:ANCHORS_THAT_FIX], anchors, indexing="ij")
    extra = np.stack([hub[other > hub], other[other > hub]])
    both = np.concatenate([np.sort(pairs, axis=0), extra], axis=1)
    keys = np.unique(both[0] * num_points + both[1])
    return np.stack(np.divmod(keys, num_points))
