"""Metamorphic relations: what a change of the input that means nothing does to the angles.

python -m benchmarks.chaos relations             every classical method, all networks
python -m benchmarks.chaos relations --learned   the learned methods
python -m benchmarks.chaos relations --poses     poses, see `pose_relations`
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.chaos import pose_relations
from benchmarks.chaos.networks import NETWORKS, NETWORKS_K2
from gnnsync import MeasurementGraph, Solution
from gnnsync.anchors import GivenAnchors
from gnnsync.angles import align_columns, circular_distance
from gnnsync.methods import METHODS, DisconnectedGraphWarning, Method
from gnnsync.methods.anchoring.held import Anchored, AnchorWarning
from gnnsync.solve import LEARNED, find_method
from gnnsync.typing import FloatArray, IntArray

# Most that a classical method may differ, in radians.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Changed:
    """A graph that means the same as another one.

    Args:
        graph: the changed graph.
        node: (n,) the number of each old node in it.
        rotation: (n,) by which the angle of each old node is greater in it.
    """

    graph: MeasurementGraph
    node: IntArray
    rotation: FloatArray

    def back(self, solution: Solution) -> FloatArray:
        """Angles (n, k) of the old nodes from a solution of the changed graph."""
        return solution.angles[self.node] - self.rotation[:, None]


Relation = Callable[[MeasurementGraph, np.random.Generator], Changed]


def relabelled(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Other numbers of the nodes."""
    number = rng.permutation(graph.num_nodes)
    changed = graph.replace(edge_index=number[graph.edge_index], angles=None, node_names=None)
    return Changed(changed, number, np.zeros(graph.num_nodes))


def reordered(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Another order of the edges."""
    return _same_nodes(graph, graph.keep_edges(rng.permutation(graph.num_edges)))


def reversed_edges(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Half of the edges from their other end, with the negative offset."""
    back = rng.random(graph.num_edges) < 0.5
    index = np.where(back, graph.edge_index[::-1], graph.edge_index)
    offset = np.where(back, -graph.offset, graph.offset)
    return _same_nodes(graph, graph.replace(edge_index=index, offset=offset))


def rotated(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Every node rotated by an angle of its own."""
    by = rng.uniform(0, 2 * np.pi, graph.num_nodes)
    offset = graph.offset + by[graph.src] - by[graph.dst]
    changed = graph.replace(offset=offset, angles=None)
    return Changed(changed, np.arange(graph.num_nodes), by)


def scaled(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """All weights times one number."""
    factor = 10.0 ** rng.uniform(-6, 6)
    return _same_nodes(graph, graph.replace(weight=factor * graph.edge_weight))


def doubled(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Every edge twice, of half the weight: a weight is a number of measurements."""
    index = np.concatenate([graph.edge_index, graph.edge_index], axis=1)
    fields = {
        "weight": np.tile(graph.edge_weight / 2, 2),
        "trusted": None if graph.trusted is None else np.tile(graph.trusted, 2),
        "group": None,
    }
    twice = graph.replace(edge_index=index, offset=np.tile(graph.offset, 2), **fields)
    return _same_nodes(graph, twice)


def repeated(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Some edges of weight w as two of weight w / 2."""
    twice = np.flatnonzero(rng.random(graph.num_edges) < 0.3)
    weight = graph.edge_weight.copy()
    weight[twice] /= 2
    halved = graph.replace(weight=weight, group=None)
    edges = np.concatenate([np.arange(graph.num_edges), twice])
    return _same_nodes(graph, halved.keep_edges(edges))


def joined(graph: MeasurementGraph, rng: np.random.Generator) -> Changed:
    """Beside another component, whose nodes and edges come between."""
    n, other = graph.num_nodes, 17
    src, dst = np.triu_indices(other, 1)
    number = rng.permutation(n + other)
    own = np.sort(number[:n])
    rest = np.setdiff1d(number, own)
    m = graph.num_edges
    trusted = np.concatenate([graph.edge_trusted, np.zeros(len(src), bool)])
    union = MeasurementGraph(
        np.concatenate([own[graph.edge_index], [rest[src], rest[dst]]], axis=1),
        np.concatenate([graph.offset, rng.uniform(0, 2 * np.pi, len(src))]),
        n + other,
        weight=np.concatenate([graph.edge_weight, np.full(len(src), graph.edge_weight.mean())]),
        trusted=None if graph.trusted is None else trusted,
    )
    # The edges of the graph keep their order, with those of the other between.
    place = rng.permutation(m + len(src))
    place[:m], place[m:] = np.sort(place[:m]), np.sort(place[m:])
    return Changed(union.keep_edges(np.argsort(place)), own, np.zeros(n))


def _same_nodes(graph: MeasurementGraph, changed: MeasurementGraph) -> Changed:
    return Changed(changed, np.arange(graph.num_nodes), np.zeros(graph.num_nodes))


RELATIONS: dict[str, Relation] = {
    "relabelled": relabelled,
    "reordered": reordered,
    "reversed": reversed_edges,
    "rotated": rotated,
    "scaled": scaled,
    "doubled": doubled,
    "repeated": repeated,
    "joined": joined,
}


def difference(one: FloatArray, other: FloatArray, component: IntArray) -> float:
    """Greatest distance between two solutions (n, k), up to rotation and order of the groups."""
    worst = 0.0
    for label in np.unique(component):
        own = component == label
        gap = circular_distance(align_columns(other[own], one[own]), one[own])
        worst = max(worst, float(gap.max()))
    return worst


def deviation(
    method: Method,
    graph: MeasurementGraph,
    relation: Relation,
    k: int = 1,
    *,
    seed: int = 7,
    share: float = 0.0,
    before: Solution | None = None,
) -> float:
    """By how much a relation changes the solution of a method, in radians.

    Args:
        method: the method.
        graph: the graph that is changed.
        relation: the change.
        k: number of groups.
        seed: of the change.
        share: of the nodes whose angles (k = 1) are known beforehand; those are not rotated back.
        before: the solution of the graph without known angles, if it is there already.
    """
    rng = np.random.default_rng(seed)
    changed = relation(graph, rng)
    held = rng.random(graph.num_nodes) < share
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        if not held.any():
            one, other = before or method(graph, k), method(changed.graph, k)
            return difference(one.angles, changed.back(other), graph.components)
        warnings.simplefilter("ignore", AnchorWarning)
        known = np.where(held, rng.uniform(0, 0.3, graph.num_nodes), np.nan)
        moved = np.full(changed.graph.num_nodes, np.nan)
        moved[changed.node] = known + changed.rotation
        one = Anchored(method, GivenAnchors(known[:, None]))(graph)
        other = Anchored(method, GivenAnchors(moved[:, None]))(changed.graph)
    back = changed.back(other)
    fixed = np.isin(graph.components, graph.components[held])
    held_gap = float(circular_distance(one.angles, back)[fixed].max())
    free = difference(one.angles[~fixed], back[~fixed], graph.components[~fixed])
    return max(held_gap, free)


# Methods of the table: what is solved, for how many groups, with which share of known angles.
CASES: dict[str, tuple[str, int, float]] = {
    **{name: (name, 1, 0.0) for name in METHODS if name != "trivial"},
    **{f"{n}, k = 2": (n, 2, 0.0) for n in METHODS if METHODS[n].any_k and n != "trivial"},
    "auto, anchors": ("auto", 1, 0.15),
    "spectral, anchors": ("spectral", 1, 0.15),
}
LEARNED_CASES = {name: (name, 1, 0.0) for name in LEARNED}


def table(cases: dict[str, tuple[str, int, float]], seeds: range) -> dict[tuple[str, str], list]:
    """Deviations of every case and relation over all networks."""
    found: dict[tuple[str, str], list] = {}
    for case, (name, k, share) in cases.items():
        method = find_method(name)
        for seed in seeds:
            for network, draw in (NETWORKS if k == 1 else NETWORKS_K2).items():
                graph = draw(seed)
                before = None if share else method(graph, k)
                for title, relation in RELATIONS.items():
                    gap = deviation(
                        method, graph, relation, k, seed=seed, share=share, before=before
                    )
                    found.setdefault((case, title), []).append(gap)
                    if gap > TOLERANCE:
                        print(f"{case}, {network} {seed}, {title}: {gap:.1e}", file=sys.stderr)
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learned", action="store_true", help="the learned methods")
    parser.add_argument("--poses", action="store_true", help="solve_poses")
    known = [*CASES, *LEARNED_CASES]
    parser.add_argument("--only", nargs="*", choices=known, metavar="CASE", help="these only")
    parser.add_argument("--seeds", type=int, default=1, help="networks of each kind")
    options = parser.parse_args(arguments)
    if options.poses:
        pose_relations.main(range(1, options.seeds + 1))
        return
    cases = LEARNED_CASES if options.learned else CASES
    cases = {name: case for name, case in cases.items() if not options.only or name in options.only}
    found = table(cases, range(1, options.seeds + 1))
    print("| method | " + " | ".join(RELATIONS) + " |")
    print("|---" * (1 + len(RELATIONS)) + "|")
    for case in cases:
        cells = [f"{max(found[case, title]):.0e}" for title in RELATIONS]
        print(f"| {case} | " + " | ".join(cells) + " |")
    everything = np.concatenate(list(found.values()))
    print(f"{(everything <= TOLERANCE).sum()} of {len(everything)} hold to {TOLERANCE:g}")
