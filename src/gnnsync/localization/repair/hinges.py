"""Parts of a map that hang on a narrow place, reflected there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from gnnsync.distance_network import DistanceNetwork
from gnnsync.typing import BoolArray, FloatArray, IntArray

# A narrow place is what a disc of this radius, in reaches, covers; the map around it, up to the
# second radius, falls apart without it.
_DISC, _AROUND = 0.6, 2.5
# Discs are placed so far apart, in reaches.
_SPACING = 0.3
# Points of the smallest part that is reflected, beyond the disc.
_LEAST_PART = 3
# Directions of the lines that a part is reflected at.
_DIRECTIONS = 12
# The same part is reflected at so many lines at most.
_LINES = 5
# Two parts are the same if they share more than this of their points.
_SAME = 0.8


@dataclass(frozen=True, eq=False)
class Reflected:
    """A part of the map on the other side of a line.

    Args:
        cost: sum of the squared changes of the distances to the rest, relative to the reach.
        part: (n,) the points that are reflected.
        points: (n, 2) the map with them.
    """

    cost: float
    part: BoolArray
    points: FloatArray


def reflected_parts(
    network: DistanceNetwork, points: FloatArray, reach: float, held: BoolArray, most: int
) -> list[Reflected]:
    """Maps with one part reflected at a line across a narrow place, cheapest first.

    Args:
        network: connected.
        points: (n, 2).
        reach: largest usual distance.
        held: (n,) points that stay.
        most: number of maps; few of them reflect the same part, at different lines.
    """
    found: list[Reflected] = []
    for centre, part, disc in _narrow_places(network, points, reach):
        lines = _lines(network, points, centre, part, disc, reach)
        found += [one for one in lines if not (one.part & held).any()]
    chosen: list[Reflected] = []
    for candidate in sorted(found, key=lambda one: one.cost):
        if len(chosen) == most:
            break
        if sum(_alike(candidate.part, other.part) for other in chosen) < _LINES:
            chosen.append(candidate)
    return chosen


def _alike(one: BoolArray, other: BoolArray) -> bool:
    return float((one & other).sum()) > _SAME * float((one | other).sum())


def _narrow_places(
    network: DistanceNetwork, points: FloatArray, reach: float
) -> Iterator[tuple[FloatArray, BoolArray, BoolArray]]:
    """Centres (2,), parts (n,) beyond the disc around it, and the points (n,) of the disc."""
    n, graph = network.num_points, network.adjacency
    tree = cKDTree(points)
    waiting = np.ones(n, dtype=bool)
    for i in range(n):
        if not waiting[i]:
            continue
        waiting[tree.query_ball_point(points[i], _SPACING * reach)] = False
        disc = np.zeros(n, dtype=bool)
        disc[tree.query_ball_point(points[i], _DISC * reach)] = True
        near = np.array(tree.query_ball_point(points[i], _AROUND * reach))
        near = near[~disc[near]]
        count = connected_components(_part(graph, near), directed=False)[0]
        if count < 2:
            continue
        rest = np.flatnonzero(~disc)
        count, label = connected_components(_part(graph, rest), directed=False)
        sizes = np.bincount(label, minlength=count)
        for k in np.flatnonzero(sizes >= _LEAST_PART).tolist():
            if k != int(np.argmax(sizes)):
                part = np.zeros(n, dtype=bool)
                part[rest[label == k]] = True
                yield points[i], part, disc


def _part(graph: sp.csr_array, chosen: IntArray) -> sp.csr_array:
    return sp.csr_array(graph[chosen][:, chosen])


def _lines(
    network: DistanceNetwork,
    points: FloatArray,
    centre: FloatArray,
    part: BoolArray,
    disc: BoolArray,
    reach: float,
) -> list[Reflected]:
    """The reflections at lines through the centre that change the distances least.

    Points of the disc on the side of the part go with it, or stay.
    """
    found: list[Reflected] = []
    middle = points[part].mean(axis=0) - centre
    before = np.abs(network.residual(points))
    for angle in np.linspace(0.0, np.pi, _DIRECTIONS, endpoint=False).tolist():
        normal = np.array([-np.sin(angle), np.cos(angle)])
        height = (points - centre) @ normal
        mirrored = points - 2.0 * height[:, None] * normal
        side = disc & (height * (middle @ normal) > 0.0)
        for moved in (part | side, part):
            map_ = np.where(moved[:, None], mirrored, points)
            change = np.abs(network.residual(map_)) - before
            cost = float(np.sum((np.maximum(change, 0.0) / reach) ** 2))
            found.append(Reflected(cost, moved, map_))
    return sorted(found, key=lambda one: one.cost)[:_LINES]
