"""Outliers chosen by an adversary, a quarter of the edges at most: which nodes `auto` loses.

    python -m benchmarks.chaos adversary                  1,000 networks
    python -m benchmarks.chaos adversary --networks 60    fewer

Inliers are exact. A node has lost its majority if at least half of its edges are outliers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.angles import circular_distance
from gnnsync.data.measurement import erdos_renyi
from gnnsync.methods import METHODS, Method
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Share of the edges that the adversary may change, and distance in radians up to which an angle is
# recovered.
BUDGET, TOLERANCE = 0.25, 1e-6

Chooser = Callable[[IntArray, int, int, np.random.Generator], IntArray]


def second_solution(pairs: IntArray, n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Edges within a set of nodes, as many nodes as the budget pays for: a dense subgraph."""
    place = np.argsort(rng.permutation(n))
    rank = np.sort(place[pairs].max(axis=0))
    return np.flatnonzero(place[pairs].max(axis=0) <= rank[most - 1])[:most]


def around_nodes(pairs: IntArray, n: int, most: int, rng: np.random.Generator) -> IntArray:
    """All edges of one node after the other, until the budget is spent."""
    place = np.argsort(rng.permutation(n))
    return np.argsort(place[pairs].min(axis=0), kind="stable")[:most]


def along_cut(pairs: IntArray, n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Edges between two sets of nodes, the smaller as large as the budget allows."""
    order, cut = rng.permutation(n), np.zeros(0, dtype=np.int64)
    inside = np.zeros(n, dtype=bool)
    for node in order[: n // 2]:
        inside[node] = True
        edges = np.flatnonzero(inside[pairs[0]] != inside[pairs[1]])
        if len(edges) > most:
            break
        cut = edges
    return cut


ATTACKS: dict[str, Chooser] = {
    "second solution": second_solution,
    "around nodes": around_nodes,
    "along a cut": along_cut,
}


@dataclass(frozen=True)
class Outcome:
    """Nodes of one network: how many, how many without a majority, lost, lost with a majority."""

    nodes: int
    minority: int
    lost: int
    lost_with_majority: int


def attacked(attack: str, seed: int, n: int = 60, p: float = 0.3) -> MeasurementGraph:
    """A network whose outliers all agree with a second set of angles."""
    rng = np.random.default_rng(seed)
    pairs = erdos_renyi(n, p, seed)
    angles, other = rng.uniform(0, 2 * np.pi, (2, n))
    chosen = ATTACKS[attack](pairs, n, int(BUDGET * pairs.shape[1]), rng)
    offset = angles[pairs[0]] - angles[pairs[1]]
    offset[chosen] = (other[pairs[0]] - other[pairs[1]])[chosen]
    group = np.zeros(pairs.shape[1], dtype=np.int64)
    group[chosen] = -1
    return MeasurementGraph(pairs, offset, n, angles=angles[:, None], group=group)


def without_majority(graph: MeasurementGraph) -> BoolArray:
    """Nodes (n,) of which at least half of the edges are outliers."""
    assert graph.group is not None
    ends = graph.edge_index.ravel()
    wrong = np.bincount(ends, weights=np.tile(graph.group < 0, 2), minlength=graph.num_nodes)
    return 2 * wrong >= np.bincount(ends, minlength=graph.num_nodes)


def outcome(graph: MeasurementGraph, method: Method) -> Outcome:
    """What a method recovers: nodes that agree with the truth up to the most common rotation."""
    assert graph.angles is not None
    gap: FloatArray = method(graph).angles[:, 0] - graph.angles[:, 0]
    near = circular_distance(gap[:, None], gap[None, :]) < TOLERANCE
    lost = ~near[near.sum(axis=1).argmax()]
    minority = without_majority(graph)
    return Outcome(
        graph.num_nodes, int(minority.sum()), int(lost.sum()), int((lost & ~minority).sum())
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=1000)
    options = parser.parse_args(arguments)
    print("| attack | networks | nodes without majority | of these lost | others lost | networks |")
    print("|---|---|---|---|---|---|")
    for number, attack in enumerate(ATTACKS):
        seeds = range(number, options.networks, len(ATTACKS))
        found = [outcome(attacked(attack, seed), METHODS["auto"]()) for seed in seeds]
        minority, others = (
            sum(getattr(one, name) for one in found) for name in ("minority", "lost_with_majority")
        )
        lost = sum(one.lost for one in found) - others
        hit = sum(one.lost_with_majority > 0 for one in found)
        print(f"| {attack} | {len(found)} | {minority} | {lost} | {others} | {hit} |", flush=True)


if __name__ == "__main__":
    main([])
