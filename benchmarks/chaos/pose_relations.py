"""Changes of a pose graph that mean nothing, and what they do to the poses.

python -m benchmarks.chaos relations --poses
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gnnsync import MeasurementGraph, PoseGraph, solve_poses
from gnnsync.angles import wrap
from gnnsync.pose_graph import rotate
from gnnsync.typing import FloatArray, IntArray

# Metres in the other unit of length.
UNIT = 1000.0


@dataclass(frozen=True, eq=False)
class ChangedPoses:
    """A pose graph that means the same as another one.

    Args:
        graph: the changed graph.
        node: (n,) the number of each old pose in it.
        unit: by which lengths are greater in it.
    """

    graph: PoseGraph
    node: IntArray
    unit: float = 1.0


PoseRelation = Callable[[PoseGraph, np.random.Generator], ChangedPoses]


def relabelled(graph: PoseGraph, rng: np.random.Generator) -> ChangedPoses:
    """Other numbers of the poses."""
    number = rng.permutation(graph.num_poses)
    index = number[graph.rotations.edge_index]
    rotations = graph.rotations.replace(edge_index=index, node_names=None)
    return ChangedPoses(replace(graph, rotations=rotations), number)


def reordered(graph: PoseGraph, rng: np.random.Generator) -> ChangedPoses:
    """Another order of the measurements."""
    return _same_poses(graph.keep_edges(rng.permutation(graph.num_edges)))


def scaled(graph: PoseGraph, rng: np.random.Generator) -> ChangedPoses:
    """All information times one number."""
    return _same_poses(_with_information(graph, 7.5 * graph.information))


def measured_in_other_units(graph: PoseGraph, rng: np.random.Generator) -> ChangedPoses:
    """Millimetres for metres, the information likewise."""
    by = np.array([1 / UNIT, 1 / UNIT, 1.0])
    changed = replace(
        graph,
        translation=UNIT * graph.translation,
        information=graph.information * np.outer(by, by),
    )
    return ChangedPoses(changed, np.arange(graph.num_poses), UNIT)


def moved(graph: PoseGraph, rng: np.random.Generator) -> ChangedPoses:
    """The first pose elsewhere."""
    initial = np.full((graph.num_poses, 3), np.nan)
    initial[0] = 300.0, -20.0, 2.0
    return _same_poses(replace(graph, initial=initial))


def doubled(graph: PoseGraph, rng: np.random.Generator) -> ChangedPoses:
    """Every measurement as two of half the information."""
    twice = np.repeat(np.arange(graph.num_edges), 2)
    halved = _with_information(graph, graph.information / 2)
    return _same_poses(halved.keep_edges(twice))


POSE_RELATIONS: dict[str, PoseRelation] = {
    "relabelled": relabelled,
    "reordered": reordered,
    "scaled": scaled,
    "other unit": measured_in_other_units,
    "moved": moved,
    "doubled": doubled,
}


def laps(seed: int, false: float, *, trusted: bool = True) -> PoseGraph:
    """Four laps of a closed way of 30 poses, closures between laps, a share of them false."""
    rng = np.random.default_rng(seed)
    length, count = 30, 4
    turn = rng.normal(0.0, 0.6, length)
    turn += (2.0 * np.pi - turn.sum()) / length
    heading = np.cumsum(turn)
    place = np.cumsum(np.column_stack([np.cos(heading), np.sin(heading)]), axis=0)
    poses = np.tile(np.column_stack([place, heading]), (count, 1))
    chain = np.stack([np.arange(1, len(poses)), np.arange(len(poses) - 1)])
    first = rng.integers(0, length * (count - 1), 60)
    later = first + length * rng.integers(1, count, 60)
    j, i = np.concatenate([chain, np.stack([later, first])[:, later < len(poses)]], axis=1)
    translation = rotate(-poses[i, 2], poses[j, :2] - poses[i, :2])
    translation += 0.05 * rng.standard_normal(translation.shape)
    angle = poses[j, 2] - poses[i, 2] + 0.02 * rng.standard_normal(len(i))
    wrong = (np.arange(len(i)) >= chain.shape[1]) & (rng.random(len(i)) < false)
    translation[wrong] = rng.uniform(-5.0, 5.0, (wrong.sum(), 2))
    angle[wrong] = rng.uniform(-np.pi, np.pi, wrong.sum())
    information = np.tile(np.diag([400.0, 400.0, 2500.0]), (len(i), 1, 1))
    rotations = MeasurementGraph(
        np.stack([j, i]),
        angle,
        len(poses),
        weight=information[:, 2, 2],
        trusted=np.arange(len(i)) < chain.shape[1] if trusted else None,
    )
    return PoseGraph(rotations, translation, information)


WORLDS: dict[str, Callable[[int], PoseGraph]] = {
    "odometry trusted, right closures": lambda s: laps(s, 0.0),
    "odometry trusted, a third false": lambda s: laps(s, 0.33),
    "nothing trusted, a tenth false": lambda s: laps(s, 0.1, trusted=False),
}


def pose_deviation(
    graph: PoseGraph, relation: PoseRelation, seed: int, before: FloatArray | None = None
) -> tuple[float, float]:
    """By how much a relation changes headings (radians) and places (parts of the extent).

    Args:
        graph: the graph that is changed.
        relation: the change.
        seed: of the change.
        before: (n, 3) the poses of the graph, if they are there already.
    """
    changed = relation(graph, np.random.default_rng(seed))
    poses = solve_poses(graph).poses if before is None else before
    one, other = _from_first(poses), _from_first(solve_poses(changed.graph).poses[changed.node])
    gap = np.linalg.norm(one[:, :2] - other[:, :2] / changed.unit, axis=1)
    extent = np.ptp(one[:, :2], axis=0).max()
    return float(np.abs(wrap(one[:, 2] - other[:, 2])).max()), float(gap.max() / extent)


def main(seeds: range) -> None:
    """Print the table."""
    print("| world | measure | " + " | ".join(POSE_RELATIONS) + " |")
    print("|---" * (2 + len(POSE_RELATIONS)) + "|")
    for name, draw in WORLDS.items():
        worst = np.zeros((2, len(POSE_RELATIONS)))
        for seed in seeds:
            graph = draw(seed)
            before = solve_poses(graph).poses
            gaps = [pose_deviation(graph, r, seed, before) for r in POSE_RELATIONS.values()]
            worst = np.maximum(worst, np.array(gaps).T)
        for measure, row in zip(("headings", "places"), worst, strict=True):
            print(f"| {name} | {measure} | " + " | ".join(f"{v:.0e}" for v in row) + " |")


def _same_poses(graph: PoseGraph) -> ChangedPoses:
    return ChangedPoses(graph, np.arange(graph.num_poses))


def _with_information(graph: PoseGraph, information: FloatArray) -> PoseGraph:
    rotations = graph.rotations.replace(weight=information[:, 2, 2])
    return replace(graph, rotations=rotations, information=information)


def _from_first(poses: FloatArray) -> FloatArray:
    """Poses (n, 3) seen from the first."""
    x, y, angle = poses[0]
    place = rotate(np.full(len(poses), -angle), poses[:, :2] - (x, y))
    return np.column_stack([place, poses[:, 2] - angle])
