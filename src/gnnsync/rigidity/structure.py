"""What the distances of a graph determine: rigid, redundantly rigid and globally rigid parts."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gnnsync.rigidity.pebbles import PebbleGame
from gnnsync.rigidity.separation import inseparable_sets, neighbour_sets
from gnnsync.topology import find_triangles
from gnnsync.typing import BoolArray, IntArray


class Rigidity:
    """Generic rigidity in the plane of a graph with n points and m edges.

    A graph is rigid if the lengths of its edges leave only the three motions of the plane,
    redundantly rigid if it stays so without any one edge, and globally rigid if the lengths
    determine all positions up to a motion and a reflection: a graph of at least 4 points is
    globally rigid iff it is redundantly rigid and 3-connected (Hendrickson, SIAM J. Comput. 21,
    1992; Jackson and Jordan, J. Combin. Theory B 94, 2005). Near-linear in m for networks in
    the plane; O(n²) at worst.

    Args:
        pairs: (2, m) edges between different points, each pair at most once.
        num_points: n.
    """

    def __init__(self, pairs: IntArray, num_points: int) -> None:
        self.pairs, self.num_points = np.asarray(pairs, dtype=np.int64), num_points
        self._game = PebbleGame(self.pairs, num_points)

    @property
    def freedom(self) -> int:
        """Degrees of freedom that the lengths leave, the three motions of the plane included."""
        return self._game.freedom

    @cached_property
    def rigid_component(self) -> IntArray:
        """Rigid component (m,) of each edge; two components have at most one point in common."""
        return self._game.rigid_components()

    @cached_property
    def connected_set(self) -> IntArray:
        """Number (m,) of the set of edges that check each other, directly or by others; or -1.

        The components of the rigidity matroid. An edge that is in none (-1) is checked by no other:
        without it a rigid graph would not be rigid.
        """
        return self._game.connected_sets()

    @property
    def redundant(self) -> BoolArray:
        """Edges (m,) without which the same points stay rigid."""
        return self.connected_set >= 0

    @cached_property
    def bodies(self) -> list[IntArray]:
        """Maximal sets of points that have unique positions relative to each other, sorted.

        The 3-connected parts of each connected set of edges, and triangles that are in none of
        them. Every two points of a body have the same distance in all placements with the given
        lengths (Jackson, Jordan and Szabadka, Discrete Comput. Geom. 35, 2006). Two bodies share at
        most two points. A pair of points with an edge that is in no other body is not listed.
        """
        label = self.connected_set
        order = np.argsort(label, kind="stable")
        cuts = np.flatnonzero(np.diff(label[order])) + 1
        found = []
        for edges in np.split(order, cuts):
            if len(edges) and label[edges[0]] >= 0:
                neighbours = neighbour_sets(self.pairs[:, edges])
                found += inseparable_sets(neighbours, neighbours)
        found += self._loose_triangles()
        return [np.array(points, dtype=np.int64) for points in found]

    @property
    def is_rigid(self) -> bool:
        """Whether all n points are rigid relative to each other."""
        return self.freedom == min(3, 2 * self.num_points)

    @property
    def is_redundantly_rigid(self) -> bool:
        """Whether all points stay rigid without any one edge."""
        return self.is_rigid and bool(self.redundant.all())

    @property
    def is_globally_rigid(self) -> bool:
        """Whether the lengths determine all points up to one motion and a reflection."""
        if self.num_points <= 3:
            return self.pairs.shape[1] == self.num_points * (self.num_points - 1) // 2
        return len(self.bodies) == 1 and len(self.bodies[0]) == self.num_points

    def _loose_triangles(self) -> list[list[int]]:
        """Triangles (sorted points) whose edges are not of one connected set."""
        label = np.where(self.redundant, self.connected_set, -1 - np.arange(self.pairs.shape[1]))
        triangles = find_triangles(self.pairs, self.num_points).edges
        loose = (label[triangles] != label[triangles[:, :1]]).any(axis=1)
        return [np.unique(self.pairs[:, edges]).tolist() for edges in triangles[loose]]

    def __repr__(self) -> str:
        m = self.pairs.shape[1]
        return f"Rigidity(points={self.num_points}, edges={m}, freedom={self.freedom})"
