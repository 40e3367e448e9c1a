"""Generated pose graphs: a walk on the streets of a grid, with closures where it comes again."""

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.pose_graph import PoseGraph, rotate


def walk(n, rng, side):
    """Poses (n, 3) of a walk with steps of 1 that turns at random and stays within the grid."""
    poses = np.zeros((n, 3))
    x, y, quarter = side // 2, side // 2, 0
    for k in range(1, n):
        quarter += rng.choice([0, 0, 0, 1, -1])
        for turn in (0, 1, -1, 2):
            angle = (quarter + turn) * np.pi / 2
            there = x + round(np.cos(angle)), y + round(np.sin(angle))
            if all(0 <= place < side for place in there):
                quarter += turn
                break
        x, y = there
        poses[k] = x, y, quarter * np.pi / 2
    return poses


def manhattan(n, seed=0, *, noise=(0.05, 0.05, 0.02), per_visit=0.5, side=None, gap=10):
    """A pose graph of n poses and its true poses (n, 3), the first at the origin.

    A visit to a place where an earlier pose was, `gap` steps ago or more, has a closure with
    probability `per_visit`. Edges of the odometry are trusted.
    """
    rng = np.random.default_rng(seed)
    poses = walk(n, rng, side or int(np.sqrt(n)) + 2)
    start, end = list(range(n - 1)), list(range(1, n))
    seen = {}
    for k, (x, y, _) in enumerate(poses):
        earlier = [i for i in seen.setdefault((x, y), []) if i <= k - gap]
        if earlier and rng.random() < per_visit:
            start.append(int(rng.choice(earlier)))
            end.append(k)
        seen[x, y].append(k)
    return measured(poses, np.array(start), np.array(end), rng, noise), at_origin(poses)


def measured(poses, start, end, rng, noise):
    """The pose graph that measures pose `end` from pose `start`, with normal noise."""
    error = rng.normal(size=(len(start), 3)) * np.array(noise)
    step = rotate(-poses[start, 2], poses[end, :2] - poses[start, :2]) + error[:, :2]
    turn = wrap(poses[end, 2] - poses[start, 2] + error[:, 2])
    sigma = np.maximum(noise, 1e-3)
    information = np.tile(np.diag(sigma**-2.0), (len(start), 1, 1))
    trusted = np.abs(start - end) == 1
    weight = information[:, 2, 2]
    rotations = MeasurementGraph(
        np.stack([end, start]), turn, len(poses), weight=weight, trusted=trusted
    )
    return PoseGraph(rotations, step, information)


def at_origin(poses):
    """The poses moved so that the first is (0, 0, 0)."""
    first = poses[0]
    position = rotate(np.full(len(poses), -first[2]), poses[:, :2] - first[:2])
    return np.column_stack([position, wrap(poses[:, 2] - first[2])])
