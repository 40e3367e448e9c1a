"""Graphs on which the confidence of sparse graphs was developed: none of `sparse_networks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.sparse_networks import measured_graph
from gnnsync.graph import MeasurementGraph

# Number of graphs of each shape, without and with outliers, and the first seed.
COUNT, FIRST_SEED = 20, 77000
OUTLIERS, NOISE = (0.03, 0.35), (0.015, 0.12)

_Pairs = list[tuple[int, int]]


def develop_networks(count: int) -> Iterator[tuple[str, str, MeasurementGraph]]:
    """Kind, details and graph: `count` times `COUNT` of each shape, without and with outliers."""
    for shape, pairs_of in _SHAPES.items():
        for outliers in (False, True):
            for i in range(count * COUNT):
                rng = np.random.default_rng([FIRST_SEED, i, outliers])
                pairs, n = pairs_of(rng)
                eta = float(rng.uniform(*OUTLIERS)) if outliers else 0.0
                sigma = float(np.exp(rng.uniform(*np.log(NOISE))))
                name = f"{shape}, {'with' if outliers else 'no'} outliers"
                graph = measured_graph(np.array(pairs).T, n, eta, sigma, rng)
                yield name, f"{name} {i}", graph


def _caterpillar(rng: np.random.Generator) -> tuple[_Pairs, int]:
    spine, legs = int(rng.integers(10, 50)), int(rng.integers(10, 60))
    pairs = [(i, i + 1) for i in range(spine - 1)]
    pairs += [(spine + leg, int(rng.integers(spine))) for leg in range(legs)]
    return _with_chords(pairs, spine + legs, int(rng.integers(3, 25)), rng), spine + legs


def _grid(rng: np.random.Generator) -> tuple[_Pairs, int]:
    """A spanning tree of a grid, and a few more of its edges."""
    rows, columns = int(rng.integers(5, 10)), int(rng.integers(5, 12))
    node = np.arange(rows * columns).reshape(rows, columns)
    across = zip(node[:, :-1].ravel().tolist(), node[:, 1:].ravel().tolist(), strict=True)
    down = zip(node[:-1].ravel().tolist(), node[1:].ravel().tolist(), strict=True)
    every = [*across, *down]
    label = np.arange(node.size)
    tree, rest = [], []
    for e in rng.permutation(len(every)).tolist():
        one, two = label[list(every[e])]
        (tree if one != two else rest).append(every[e])
        label[label == two] = one
    return tree + rest[: int(rng.integers(2, min(25, len(rest))))], node.size


def _cactus(rng: np.random.Generator) -> tuple[_Pairs, int]:
    """Cycles of 3 to 8 nodes, each of which has one node in common with the others."""
    pairs: _Pairs = []
    n = 1
    for _ in range(int(rng.integers(5, 20))):
        length = int(rng.integers(3, 9))
        nodes = [int(rng.integers(n)), *range(n, n + length - 1)]
        pairs += zip(nodes, [*nodes[1:], nodes[0]], strict=True)
        n += length - 1
    return pairs, n


def _small_world(rng: np.random.Generator) -> tuple[_Pairs, int]:
    n = int(rng.integers(30, 120))
    ring = [(i, (i + 1) % n) for i in range(n)]
    return _with_chords(ring, n, int(rng.integers(3, 30)), rng), n


def _ladder(rng: np.random.Generator) -> tuple[_Pairs, int]:
    n = int(rng.integers(10, 40))
    sides = [(side + i, side + i + 1) for side in (0, n) for i in range(n - 1)]
    return sides + [(i, n + i) for i in range(n)], 2 * n


def _cliques(rng: np.random.Generator, cycle: bool) -> tuple[_Pairs, int]:
    """Cliques joined to a cycle or to a tree, each by one to three edges to another."""
    count, size, links = (int(rng.integers(*ends)) for ends in ((4, 11), (4, 12), (1, 4)))
    pairs = [
        (c * size + i, c * size + j) for c in range(count) for i in range(size) for j in range(i)
    ]
    for c in range(0 if cycle else 1, count):
        other = (c - 1) % count if cycle else int(rng.integers(c))
        chosen: set[tuple[int, int]] = set()
        while len(chosen) < links:
            chosen.add((c * size + int(rng.integers(size)), other * size + int(rng.integers(size))))
        pairs += sorted(chosen)
    return pairs, count * size


def _with_chords(pairs: _Pairs, n: int, count: int, rng: np.random.Generator) -> _Pairs:
    """The pairs and so many other ones of n nodes."""
    seen = {(min(pair), max(pair)) for pair in pairs}
    wanted = len(seen) + count
    while len(seen) < wanted:
        one, two = sorted(rng.choice(n, 2, replace=False).tolist())
        seen.add((one, two))
    return sorted(seen)


_SHAPES: dict[str, Callable[[np.random.Generator], tuple[_Pairs, int]]] = {
    "caterpillar with chords": _caterpillar,
    "part of a grid": _grid,
    "cactus": _cactus,
    "small world": _small_world,
    "ladder": _ladder,
    "cycle of cliques": lambda rng: _cliques(rng, cycle=True),
    "tree of cliques": lambda rng: _cliques(rng, cycle=False),
}
