"""Trusted edges that are wrong: a wheel that slipped, a scan that was matched wrongly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.methods.robust.closures.fit import ClosureFit
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.typing import FloatArray, IntArray

# Rejected closures must agree on a turn within this (radians), and so many more of them than of the
# believed ones must span the place.
_SAME_TURN, _LEAST_VOTES = 0.15, 4
# Random closures agree on a turn by chance: so many standard deviations above that number.
_CHANCE_DEVIATIONS = 3.0
# A believed closure across the place counts as much as this many rejected ones.
_BELIEVED_VOTES = 2
# Turns that are tried, one per rejected closure.
_MOST_TURNS = 300


@dataclass(frozen=True)
class Slip:
    """A wrong trusted edge and the turn (radians) of all poses after it."""

    edge: int
    turn: float


def find_slip(problem: ClosureProblem, fit: ClosureFit) -> Slip | None:
    """The trusted edge that, turned by one angle, explains the most rejected closures.

    A wrong odometry edge contradicts every closure between the poses before and after it, by the
    same angle. The place is spanned by many rejected closures that ask for the same turn, and by
    few believed ones. None if there is no such edge, or if the trusted edges form no path.
    """
    edges = _path_edges(problem)
    rejected = problem.closures[fit.probability[problem.closures] < 0.5]
    if edges is None or len(rejected) < _LEAST_VOTES:
        return None
    believed = problem.closures[fit.probability[problem.closures] >= 0.5]
    chance = _spans(problem, rejected, len(edges)) * _SAME_TURN / np.pi
    against = _BELIEVED_VOTES * _spans(problem, believed, len(edges))
    against = against + chance + _CHANCE_DEVIATIONS * np.sqrt(chance)
    ends = problem.steps[problem.graph.edge_index[:, rejected]]
    turn = np.where(ends[0] > ends[1], 1.0, -1.0) * problem.residual(fit.angles)[rejected]
    tried = turn[:: max(1, len(turn) // _MOST_TURNS)]
    best, found = float(_LEAST_VOTES), None
    for value in tried:
        same = np.abs(wrap(turn - value)) < _SAME_TURN
        votes = _spans(problem, rejected[same], len(edges)) - against
        most = votes.max()
        if most > best:
            # Every place with the same votes is as likely: the middle one.
            place = np.flatnonzero(votes == most)
            mean = value + float(np.mean(wrap(turn[same] - value)))
            best, found = float(most), Slip(int(edges[place[len(place) // 2]]), mean)
    return found


def turned(problem: ClosureProblem, angles: FloatArray, slip: Slip) -> FloatArray:
    """Angles (n,) with all poses after the slip turned."""
    after = problem.steps[problem.graph.edge_index[:, slip.edge]].max()
    return np.where(problem.steps >= after, angles + slip.turn, angles)


def _path_edges(problem: ClosureProblem) -> IntArray | None:
    """The tree edges in order along the path, or None if the tree branches or is not trusted."""
    ends = problem.steps[problem.graph.edge_index[:, problem.tree]]
    first = ends.min(axis=0)
    order = np.argsort(first)
    low = problem.steps.min()
    path = np.array_equal(first[order], low + np.arange(len(first)))
    return problem.tree[order] if path and problem.trusted[problem.tree].all() else None


def _spans(problem: ClosureProblem, edges: IntArray, length: int) -> IntArray:
    """How many of the edges span each step of the path (length,)."""
    ends = problem.steps[problem.graph.edge_index[:, edges]] - problem.steps.min()
    change = np.zeros(length + 1, dtype=np.int64)
    np.add.at(change, ends.min(axis=0).astype(np.int64), 1)
    np.add.at(change, ends.max(axis=0).astype(np.int64), -1)
    return np.cumsum(change)[:length]
