"""False loop closures added to a pose graph, as robust pose-graph optimisers are tested with.

The kinds are those of Sünderhauf and Protzel, "Switchable constraints for robust pose graph SLAM",
IROS 2012: a place recogniser takes two poses for the same place that are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, overload

import numpy as np

from gnnsync.errors import GraphError, check_choice, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.pose_graph import PoseGraph, odometry_edges
from gnnsync.typing import BoolArray, FloatArray, IntArray

KINDS = ("random", "local", "grouped", "random_grouped", "local_grouped")
HEADINGS = ("normal", "uniform")
# Measured relative pose of two poses taken for the same place: standard deviations in metres and
# radians.
POSITION_NOISE, HEADING_NOISE = 0.3, np.radians(10.0)
# Closures between neighbours of the trajectory join poses at most this many steps apart.
LOCAL_STEPS = 20
# Closures in a row of the grouped kinds.
GROUP_SIZE = 10
# Least steps between the two poses: fewer would be odometry.
_LEAST_STEPS = 2
# Draws for each closure, after which a trajectory is taken to be too short for so many.
_MOST_DRAWS = 200


@overload
def add_false_closures(
    graph: MeasurementGraph,
    count: int,
    kind: str,
    rng: np.random.Generator,
    *,
    heading: str = "normal",
    group_size: int = GROUP_SIZE,
) -> tuple[MeasurementGraph, BoolArray]: ...


@overload
def add_false_closures(
    graph: PoseGraph,
    count: int,
    kind: str,
    rng: np.random.Generator,
    *,
    heading: str = "normal",
    group_size: int = GROUP_SIZE,
) -> tuple[PoseGraph, BoolArray]: ...


def add_false_closures(
    graph: MeasurementGraph | PoseGraph,
    count: int,
    kind: str,
    rng: np.random.Generator,
    *,
    heading: str = "normal",
    group_size: int = GROUP_SIZE,
) -> tuple[MeasurementGraph | PoseGraph, BoolArray]:
    """Add `count` false closures, and say which edges (m + count,) of the result they are.

    Poses are taken in the order of their names, if these are whole numbers, else of their numbers.
    No pair of poses is joined that was joined before. The same `rng` gives the same closures for a
    pose graph and for its rotations.

    Kinds, which say what pairs of poses are joined:
      * ``random``: any two poses;
      * ``local``: two poses at most `LOCAL_STEPS` steps apart;
      * ``grouped``: one run of closures (i, j), (i+1, j+1), ... between two stretches of the
        trajectory; further stretches where the trajectory ends;
      * ``random_grouped``: runs of `group_size` closures, each between two stretches anywhere;
      * ``local_grouped``: runs whose two stretches begin at most `LOCAL_STEPS` steps apart.

    Args:
        graph: the true measurements.
        count: number of false closures.
        kind: one of `KINDS`.
        rng: source of randomness.
        heading: law of the measured heading: ``normal`` around 0, as if the poses were the same
            up to `HEADING_NOISE`, or ``uniform`` on the circle. The position is always normal
            around 0, with standard deviation `POSITION_NOISE`.
        group_size: closures in each run of the grouped kinds.
    """
    check_integer("count", count, 0)
    check_choice("kind", kind, KINDS)
    check_choice("heading", heading, HEADINGS)
    check_integer("group_size", group_size, 1)
    rotations = graph.rotations if isinstance(graph, PoseGraph) else graph
    order = _trajectory(rotations)
    pairs = order[_pairs(rotations, order, count, kind, group_size, rng)]
    measured = rng.standard_normal((count, 3)) * (POSITION_NOISE, POSITION_NOISE, HEADING_NOISE)
    if heading == "uniform":
        measured[:, 2] = rng.uniform(-np.pi, np.pi, count)
    mask = np.arange(rotations.num_edges + count) >= rotations.num_edges
    typical = _typical_closure(rotations)
    if isinstance(graph, PoseGraph):
        information = np.repeat(graph.information[typical][None], count, axis=0)
        return graph.add_edges(pairs[:, 0], pairs[:, 1], measured, information), mask
    return _add_rotations(graph, pairs, measured[:, 2], typical), mask


def _add_rotations(
    graph: MeasurementGraph, pairs: IntArray, heading: FloatArray, typical: int
) -> MeasurementGraph:
    """The graph with θ_j - θ_i ≈ heading for each pair (i, j) of poses."""
    changes: dict[str, Any] = {
        "edge_index": np.concatenate([graph.edge_index, pairs.T[::-1]], axis=1),
        "offset": np.concatenate([graph.offset, heading]),
    }
    added = {"weight": graph.edge_weight[typical], "trusted": False, "group": -1}
    for name, value in added.items():
        old = getattr(graph, name)
        if old is not None:
            changes[name] = np.concatenate([old, np.full(len(pairs), value)])
    return graph.replace(**changes)


def _trajectory(graph: MeasurementGraph) -> IntArray:
    """Numbers (n,) of the nodes in the order of their whole-number names, else 0..n-1."""
    names = [name for name in graph.names if isinstance(name, int)]
    if len(names) < graph.num_nodes:
        return np.arange(graph.num_nodes)
    return np.array([i for _, i in sorted(zip(names, range(len(names)), strict=True))])


def _typical_closure(graph: MeasurementGraph) -> int:
    """The closure of median weight; of all edges, if none is a closure."""
    if not graph.num_edges:
        raise GraphError("the graph has no edges: false closures copy the weight of a true one")
    trusted = graph.edge_trusted if graph.edge_trusted.any() else odometry_edges(graph)
    edges = np.flatnonzero(~trusted) if not trusted.all() else np.arange(graph.num_edges)
    return int(edges[np.argsort(graph.edge_weight[edges], kind="stable")[len(edges) // 2]])


def _pairs(
    graph: MeasurementGraph,
    order: IntArray,
    count: int,
    kind: str,
    group_size: int,
    rng: np.random.Generator,
) -> IntArray:
    """Places (count, 2) on the trajectory, the earlier first, that are joined."""
    place = np.empty(graph.num_nodes, dtype=np.int64)
    place[order] = np.arange(graph.num_nodes)
    joined = set(map(tuple, np.sort(place[graph.edge_index], axis=0).T.tolist()))
    found: list[tuple[int, int]] = []
    draws = _runs(graph.num_nodes, kind, count if kind == "grouped" else group_size, rng)
    for _ in range(_MOST_DRAWS * max(count, 1)):
        if len(found) == count:
            break
        for pair in next(draws, []):
            if pair not in joined and len(found) < count:
                joined.add(pair)
                found.append(pair)
    if len(found) < count:
        raise GraphError(
            f"{graph.num_nodes} poses have no room for {count} further {kind} closures: add fewer"
        )
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _runs(
    n: int, kind: str, group_size: int, rng: np.random.Generator
) -> Iterator[list[tuple[int, int]]]:
    """Runs of pairs (i, j), (i+1, j+1), ..., i < j < n, without end; of one pair if not grouped."""
    length = group_size if kind.endswith("grouped") else 1
    while n > _LEAST_STEPS:
        if kind.startswith("local"):
            steps = int(rng.integers(_LEAST_STEPS, min(LOCAL_STEPS, n - 1) + 1))
            start = int(rng.integers(n - steps))
        else:
            start, end = sorted(rng.choice(n, 2, replace=False).tolist())
            steps = end - start
        stop = min(start + length, n - steps) if steps >= _LEAST_STEPS else start
        yield [(i, i + steps) for i in range(start, stop)]
