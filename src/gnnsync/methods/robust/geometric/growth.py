"""k sets on an extended graph: solved in a small part, carried on from there."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.belief import propagate
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.initialisation import start_angles
from gnnsync.methods.robust.noise.local_search import (
    jump,
    settle,
    strongest_agreement,
    widened,
    window_of,
)
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Most parts that grow.
_CORES = 4
# Nodes of a core.
_LEAST_CORE, _LARGEST_CORE = 20, 60
_CORE_BINS, _CORE_SWEEPS = 32, 20
# Nodes that join at a time: those with at least this part of the most edges into the region, and
# no more than this part of its size.
_FRONT, _SPEED = 0.5, 0.3
# Rounds of jumps in which a region settles.
_ROUNDS = 3
# EM iterations whenever nodes have joined; it need not be exact.
_EACH, _ROUGH = 4, 1e-4
# Share of the nodes in the same places from which two fits are the same.
_SAME = 0.95


def grown(graph: MeasurementGraph, k: int, rng: np.random.Generator) -> tuple[MixtureFit, bool]:
    """The fit of greatest evidence that grows out of small parts, and whether two parts agree.

    On a geometric graph the leading eigenvectors of k sets mix with waves over the graph, and
    cannot be unmixed. A node with its neighbours has no room for waves: there the sets come apart.
    The nodes next to a solved region take, set by set, the angle on which most of its votes agree.
    Parts far from one another that grow into the same solution are hardly wrong.
    """
    adjacency = EdgeOperator(graph).adjacency(np.ones(graph.num_edges))
    degree = adjacency.sum(axis=1)
    size = int(np.clip(degree.mean() + 1.0, _LEAST_CORE * k, max(_LARGEST_CORE, _LEAST_CORE * k)))
    count = min(_CORES, graph.num_nodes)
    fits: list[MixtureFit] = []
    for seed in rng.choice(graph.num_nodes, count, replace=False, p=degree / degree.sum()):
        core = core_about(adjacency, int(seed), size)
        fit = _solved(graph.subgraph(core)[0], k, rng)
        fits.append(settle(graph, grow(graph, adjacency, core, fit)))
        if two_agree(fits):
            break
    return max(fits, key=lambda fit: fit.evidence), two_agree(fits)


def two_agree(fits: list[MixtureFit]) -> bool:
    """Whether the best two have nearly all nodes in the same places, whence ever they started."""
    if len(fits) < 2:
        return False
    one, two = sorted(fits, key=lambda fit: -fit.evidence)[:2]
    apart = aligned_error(one.angles, two.angles).max(axis=1)
    return bool((apart < NODE_TOLERANCE).mean() > _SAME)


def core_about(adjacency: sp.csr_array, seed: int, size: int) -> IntArray:
    """At most `size` nodes about `seed`, each next with most edges to them for its degree."""
    scale = 1.0 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1.0))
    chosen = [seed]
    inside = np.zeros(adjacency.shape[0], dtype=bool)
    links = np.zeros(adjacency.shape[0])
    while True:
        inside[chosen[-1]] = True
        row = slice(*adjacency.indptr[chosen[-1] : chosen[-1] + 2])
        np.add.at(links, adjacency.indices[row], adjacency.data[row])
        score = np.where(inside, 0.0, links * scale)
        if len(chosen) == size or score.max() <= 0.0:
            return np.array(chosen)
        chosen.append(int(score.argmax()))


def grow(
    graph: MeasurementGraph, adjacency: sp.csr_array, core: IntArray, fit: MixtureFit
) -> FloatArray:
    """Angles (n, k) that continue those of `fit` on the nodes `core`."""
    angles = np.zeros((graph.num_nodes, fit.angles.shape[1]))
    angles[core] = fit.angles
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[core] = True
    while not inside.all():
        links = np.where(inside, 0.0, adjacency @ inside.astype(np.float64))
        most = max(int(_SPEED * inside.sum()), 1)
        front = np.argsort(-links, kind="stable")[:most]
        front = front[links[front] >= max(_FRONT * links.max(), 1.0)]
        if not len(front):
            break
        _join(graph, angles, inside, front, fit)
        inside[front] = True
        nodes = np.flatnonzero(inside)
        part = graph.subgraph(nodes)[0]
        fit = fit_mixture(part, angles[nodes], like=widened(fit), max_iterations=_EACH, tol=_ROUGH)
        moved = jump(part, fit)
        if moved is not None:
            fit = fit_mixture(part, moved, like=widened(fit), max_iterations=_EACH, tol=_ROUGH)
        angles[nodes] = fit.angles
    return angles


def _join(
    graph: MeasurementGraph,
    angles: FloatArray,
    inside: BoolArray,
    front: IntArray,
    fit: MixtureFit,
) -> None:
    """Give the nodes `front` the angles on which most votes of the nodes inside agree."""
    new = np.zeros(graph.num_nodes, dtype=bool)
    new[front] = True
    between = (new[graph.src] & inside[graph.dst]) | (inside[graph.src] & new[graph.dst])
    border = MeasurementGraph(graph.edge_index[:, between], graph.offset[between], graph.num_nodes)
    weight = np.ones(border.num_edges), np.ones(graph.num_nodes)
    for group in range(angles.shape[1]):
        place = strongest_agreement(border, angles[:, group], *weight, window_of(fit))[0]
        angles[front, group] = wrap(angles[front, group] + place[front])


def _solved(part: MeasurementGraph, k: int, rng: np.random.Generator) -> MixtureFit:
    start = start_angles(part, k, rng)
    found = propagate(part, start, bins=_CORE_BINS, sweeps=_CORE_SWEEPS)
    return settle(part, point_estimates(found.marginals, found.origin)[0], rounds=_ROUNDS)
