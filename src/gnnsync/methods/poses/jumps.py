"""Odometry that is grossly wrong in one place: many rejected closures then tell the same jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.angles import wrap
from gnnsync.methods.poses.closures import Selection
from gnnsync.methods.poses.residual import RelativePoses
from gnnsync.pose_graph import rotate
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Jumps count as the same if they agree in heading (radians) and in position (as a fraction of the
# size of the map).
SAME_HEADING, SAME_POSITION = 0.15, 0.05
# Fewer closures than this, or than this share of the rejected ones, do not speak against odometry:
# some of many random closures agree by chance.
LEAST_CLOSURES, LEAST_SHARE = 6, 0.02


@dataclass(frozen=True, eq=False)
class Jump:
    """A way to explain rejected closures.

    Args:
        edge: number of the trusted measurement that would be wrong.
        poses: (n, 3) with all later poses moved by the jump.
        active: (m,) believed measurements: the closures that tell the jump are, the trusted one
            and the closures that contradict the jump are not.
    """

    edge: int
    poses: FloatArray
    active: BoolArray


def find_jump(edges: RelativePoses, trusted: BoolArray, found: Selection) -> Jump | None:
    r"""The jump that most rejected closures agree on, or None.

    A closure between poses i < k < j asks for the rigid motion T of all poses after k with
    :math:`T x_j = x_i z`. T does not depend on k: if the odometry is wrong at k alone, all closures
    over k ask for the same T. The place k is where most of them pass and fewest accepted closures.

    Args:
        edges: m measurements; trusted ones must join consecutive poses.
        trusted: (m,).
        found: poses, and which measurements were accepted.
    """
    first, last = np.minimum(edges.start, edges.end), np.maximum(edges.start, edges.end)
    if not trusted.any() or (last - first)[trusted].max() > 1:
        return None
    rejected = np.flatnonzero(~found.active & ~trusted)
    if len(rejected) < LEAST_CLOSURES:
        return None
    turn, moved = _motions(edges.part(rejected), found.poses)
    size = float(np.ptp(found.poses[:, :2], axis=0).max())
    near = SAME_POSITION * size + np.finfo(float).tiny
    angle = np.column_stack([np.cos(turn), np.sin(turn)]) / SAME_HEADING
    tree = cKDTree(np.column_stack([moved / near, angle]))
    neighbours = tree.query_ball_point(tree.data, 1.0)
    best = int(np.argmax([len(members) for members in neighbours]))
    group = rejected[neighbours[best]]
    accepted = np.flatnonzero(found.active & ~trusted)
    n = edges.num_poses
    balance = _passing(first[group], last[group], n) - _passing(first[accepted], last[accepted], n)
    place = int(np.argmax(balance))
    across = group[(first[group] <= place) & (last[group] > place)]
    wrong = np.flatnonzero(trusted & (first == place))
    enough = max(LEAST_CLOSURES, LEAST_SHARE * len(rejected))
    if len(across) < enough or balance[place] <= 0 or not len(wrong):
        return None
    active = found.active.copy()
    active[accepted[(first[accepted] <= place) & (last[accepted] > place)]] = False
    active[wrong] = False
    active[across] = True
    later = np.arange(n) > place
    poses = found.poses.copy()
    centre = _centre(found.poses)
    poses[later] = _apply(turn[best], moved[best], centre, poses[later])
    return Jump(int(wrong[0]), poses, active)


def _motions(part: RelativePoses, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The motion that each closure asks for: its angle (c,), and where it takes the centre (c, 2).

    The later of the two poses is the one that moves.
    """
    i, j = part.start, part.end
    angle = poses[i, 2] + part.heading
    position = poses[i, :2] + rotate(poses[i, 2], part.translation)
    turn = wrap(angle - poses[j, 2])
    centre = _centre(poses)
    moved = position + rotate(turn, centre - poses[j, :2])
    # If pose i is the later one, it moves by the inverse.
    back = i > j
    inverse = centre + rotate(-turn, centre - moved)
    return np.where(back, -turn, turn), np.where(back[:, None], inverse, moved)


def _apply(turn: float, moved: FloatArray, centre: FloatArray, poses: FloatArray) -> FloatArray:
    """Poses moved by the motion that turns by `turn` and takes `centre` to `moved`."""
    position = moved + rotate(np.full(len(poses), turn), poses[:, :2] - centre)
    return np.column_stack([position, poses[:, 2] + turn])


def _centre(poses: FloatArray) -> FloatArray:
    return poses[:, :2].mean(axis=0)


def _passing(first: IntArray, last: IntArray, n: int) -> IntArray:
    """How many intervals [first, last) contain each of 0..n-1."""
    change = np.bincount(first, minlength=n + 1) - np.bincount(last, minlength=n + 1)
    return np.cumsum(change)[:n]
