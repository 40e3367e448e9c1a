"""Pose graphs of a robot in a city of square blocks: `python -m benchmarks.pose_world N FILE`.

For those who have no recorded pose graphs at hand. The noise of the headings is that stated in the
public graph M3500: a standard deviation of .01 rad, and .02 more per radian of turn.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.io import write_poses
from gnnsync.pose_graph import PoseGraph, odometry_edges
from gnnsync.typing import FloatArray, IntArray

# Standard deviation of a measured position in metres, and of a heading in radians.
POSITION_NOISE, HEADING_NOISE, NOISE_PER_TURN = 0.05, 0.01, 0.02
# Blocks have sides of this many steps of one metre; at a corner the robot turns with this chance.
BLOCK, TURN = 5, 0.5
# The side of the city in metres is this times √n, which gives every street several visits.
SIDE = 0.8
# An earlier pose within this distance (metres) and at least so many steps ago is recognised with
# this chance.
NEAR, LEAST_STEPS, RECOGNISED = 1.2, 10, 0.6


def manhattan(n: int, rng: np.random.Generator) -> tuple[PoseGraph, FloatArray]:
    """A pose graph of n poses, one metre apart, and the true poses (n, 3)."""
    poses = _walk(n, rng)
    steps = np.stack([np.arange(n - 1), np.arange(1, n)])
    start, end = np.concatenate([steps, _meetings(poses, rng)], axis=1)
    exact = relative(poses[start], poses[end])
    sigma = np.full(exact.shape, POSITION_NOISE)
    sigma[:, 2] = HEADING_NOISE + NOISE_PER_TURN * np.abs(exact[:, 2])
    measured = exact + sigma * rng.standard_normal(exact.shape)
    information = sigma[:, :, None] ** -2.0 * np.eye(3)
    rotations = MeasurementGraph(
        np.stack([end, start]), measured[:, 2], n, weight=information[:, 2, 2]
    )
    rotations = rotations.replace(trusted=odometry_edges(rotations))
    return PoseGraph(rotations, measured[:, :2], information), poses


def relative(first: FloatArray, second: FloatArray) -> FloatArray:
    """The poses `second` (m, 3) seen from the poses `first` (m, 3)."""
    step = np.exp(-1j * first[:, 2]) * ((second - first)[:, :2] @ np.array([1.0, 1j]))
    return np.stack([step.real, step.imag, wrap(second[:, 2] - first[:, 2])], axis=1)


def _walk(n: int, rng: np.random.Generator) -> FloatArray:
    """Poses (n, 3) of a walk along the streets that turns at corners and at the city's edge."""
    side = max(int(SIDE * np.sqrt(n) / BLOCK), 2) * BLOCK
    place, heading = np.array([0, 0]), 0
    moves = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    poses = np.empty((n, 3))
    for i in range(n):
        corner = not (place % BLOCK).any()
        turns = [0, 1, -1] if corner else [0]
        within = [t for t in turns if _inside(place + moves[(heading + t) % 4], side)]
        straight = 0 in within and not (corner and rng.random() < TURN)
        choice = [t for t in within if t] or [2]
        heading += 0 if straight else int(rng.choice(choice if corner else [2]))
        poses[i] = *place, wrap(heading * np.pi / 2)
        place = place + moves[heading % 4]
    return poses


def _inside(place: IntArray, side: int) -> bool:
    return bool((place >= 0).all() and (place <= side).all())


def _meetings(poses: FloatArray, rng: np.random.Generator) -> IntArray:
    """Pairs (2, c) of an earlier and a later pose at about the same place."""
    pairs = cKDTree(poses[:, :2]).query_pairs(NEAR, output_type="ndarray")
    pairs = np.sort(pairs, axis=1)
    pairs = pairs[np.lexsort(pairs.T)]
    pairs = pairs[pairs[:, 1] - pairs[:, 0] >= LEAST_STEPS]
    # One earlier pose at most for each later one, drawn among all.
    pairs = pairs[rng.permutation(len(pairs))]
    pairs = pairs[np.unique(pairs[:, 1], return_index=True)[1]]
    return pairs[rng.random(len(pairs)) < RECOGNISED].T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("poses", type=int)
    parser.add_argument("file", type=Path, help="a .g2o to write")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    graph, _ = manhattan(options.poses, np.random.default_rng(options.seed))
    write_poses(graph, options.file)
    print(f"{options.file}: {graph}")


if __name__ == "__main__":
    main()
