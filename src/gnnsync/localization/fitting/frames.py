"""Where the components of a map lie: on their anchors."""

from __future__ import annotations

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.positions import rigid_motion
from gnnsync.rigidity.localizability import ANCHORS_THAT_FIX
from gnnsync.typing import BoolArray, FloatArray


def held_anchors(network: DistanceNetwork) -> BoolArray:
    """Anchors (n,) of components with at least three of them."""
    anchors = network.anchor_index
    own = network.component[anchors]
    count = np.bincount(own, minlength=network.num_components)
    held = np.zeros(network.num_points, dtype=bool)
    held[anchors[count[own] >= ANCHORS_THAT_FIX]] = True
    return held


def anchored(network: DistanceNetwork, points: FloatArray) -> FloatArray:
    """Positions (n, 2) moved, component by component, as near to the anchors as they go.

    Without anchors a component stays where it is. The anchors of a component with three or more
    take their known positions.
    """
    moved = points.copy()
    known = np.full((network.num_points, 2), np.nan)
    known[network.anchor_index] = network.anchor_place
    placed = np.isfinite(points).all(axis=1)
    for c in np.unique(network.component[network.anchor_index]).tolist():
        own = network.component == c
        both = own & placed & np.isfinite(known).all(axis=1)
        if both.any():
            turn, shift = rigid_motion(points[both], known[both])
            if both.sum() == 1:
                turn, shift = np.eye(2), (known - points)[both][0]
            moved[own] = points[own] @ turn.T + shift
    held = held_anchors(network)
    moved[held] = known[held]
    return moved
