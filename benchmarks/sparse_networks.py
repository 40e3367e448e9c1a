"""Graphs in which little checks a measurement: trees, chords, chains of cliques, pose graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.pose_world import manhattan
from gnnsync.data.false_closures import add_false_closures
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import IntArray

# Number of graphs of each kind, and the seed of the first.
COUNTS = {"tree": 40, "tree with chords": 40, "chain of cliques": 20, "pose graph": 10}
FIRST_SEED = 41000
NODES, CHORDS, CLIQUES, SIZES, POSES = (30, 150), (2, 20), (4, 10), (4, 12), (100, 400)
NOISE, OUTLIERS = (0.02, 0.05, 0.1), (0.05, 0.1, 0.2, 0.3)
FALSE_CLOSURES = (0.05, 0.4)


def sparse_networks(count: int) -> Iterator[tuple[str, str, MeasurementGraph]]:
    """Kind, details and graph: `count` times the numbers above, without and with outliers."""
    for kind, number in COUNTS.items():
        for outliers in (False, True):
            for i in range(count * number):
                rng = np.random.default_rng([FIRST_SEED, i, outliers])
                name = f"{kind}, {'with' if outliers else 'no'} outliers"
                yield name, f"{name} {i}", _GRAPHS[kind](rng, outliers)


def measured_graph(
    index: IntArray, n: int, eta: float, sigma: float, rng: np.random.Generator
) -> MeasurementGraph:
    """Uniform angles measured on edges (2, m), with normal noise and uniform outliers."""
    angles, m = rng.uniform(0, 2 * np.pi, n), index.shape[1]
    wrong = rng.random(m) < eta
    offset = angles[index[0]] - angles[index[1]] + sigma * rng.standard_normal(m)
    offset[wrong] = rng.uniform(0, 2 * np.pi, wrong.sum())
    group = np.where(wrong, -1, 0)
    return MeasurementGraph(index, offset, n, angles=angles[:, None], group=group)


def _tree(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    """Every node joined to an earlier one: any, or one of the last five, so that paths are long."""
    reach = n if rng.random() < 0.5 else 5
    return [(i, int(rng.integers(max(i - reach, 0), i))) for i in range(1, n)]


def _tree_graph(rng: np.random.Generator, outliers: bool, chords: bool = False) -> MeasurementGraph:
    n = int(rng.integers(*NODES))
    pairs = _tree(rng, n)
    wanted = len(pairs) + (int(rng.integers(CHORDS[0], CHORDS[1] + 1)) if chords else 0)
    seen = {tuple(sorted(pair)) for pair in pairs}
    while len(seen) < wanted:
        seen.add(tuple(sorted(rng.choice(n, 2, replace=False).tolist())))
    return measured_graph(np.array(sorted(seen)).T, n, *_noise(rng, outliers), rng)


def _cliques_graph(rng: np.random.Generator, outliers: bool) -> MeasurementGraph:
    count, size = int(rng.integers(*CLIQUES)), int(rng.integers(*SIZES))
    links = int(rng.integers(1, 3))
    pairs = [
        (c * size + i, c * size + j) for c in range(count) for i in range(size) for j in range(i)
    ]
    for c in range(1, count):
        ends = zip(rng.integers(size, size=links), rng.integers(size, size=links), strict=True)
        pairs += [(c * size + int(a), (c - 1) * size + int(b)) for a, b in ends]
    return measured_graph(np.array(pairs).T, count * size, *_noise(rng, outliers), rng)


def _pose_graph(rng: np.random.Generator, outliers: bool) -> MeasurementGraph:
    """Headings of a robot, odometry trusted, with false closures that have any heading."""
    n = int(rng.integers(*POSES))
    graph, poses = manhattan(n, rng)
    rotations = graph.rotations
    if outliers:
        false = int(rng.uniform(*FALSE_CLOSURES) * n)
        rotations, _ = add_false_closures(rotations, false, "random", rng, heading="uniform")
    return rotations.replace(angles=poses[:, 2:])


def _noise(rng: np.random.Generator, outliers: bool) -> tuple[float, float]:
    return (float(rng.choice(OUTLIERS)) if outliers else 0.0), float(rng.choice(NOISE))


_GRAPHS: dict[str, Callable[[np.random.Generator, bool], MeasurementGraph]] = {
    "tree": _tree_graph,
    "tree with chords": lambda rng, outliers: _tree_graph(rng, outliers, chords=True),
    "chain of cliques": _cliques_graph,
    "pose graph": _pose_graph,
}
