"""k groups on a geometric graph: solve a small core, then extend it node by node.

The nodes with most edges into the solved region join next.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.robust.belief.propagation import propagate
from gnnsync.methods.robust.comparison import best_two_agree
from gnnsync.methods.robust.initialisation import initial_angles
from gnnsync.methods.robust.noise.local_search import (
    agreement_window,
    improve,
    local_search,
    relocate_nodes,
    strongest_agreement,
    with_wider_noise,
)
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import advance, time_is_up

# Most cores that are grown; two that agree end the search.
_CORES = 4
# Nodes of a core: at least _LEAST_CORE per group, and for few groups at most _LARGEST_CORE.
_LEAST_CORE, _LARGEST_CORE = 20, 60
# Belief propagation and local search in a core, which is small and dense: a coarse solution is
# enough.
_CORE_BINS, _CORE_SWEEPS, _CORE_ROUNDS = 32, 10, 3
# Rounds of local search for each solution grown from a core; the best has more afterwards.
_GROWN_ROUNDS = 3
# Nodes that join at a time: those with at least this part of the most edges into the region, and
# no more than this part of its size.
_FRONT, _MOST_GROWTH = 0.5, 0.3
# EM iterations whenever nodes have joined, and their tolerance; they need not be exact.
_ROUGH_ITERATIONS, _ROUGH_TOLERANCE = 4, 1e-4


def grow_from_cores(
    graph: MeasurementGraph, k: int, rng: np.random.Generator
) -> tuple[MixtureFit, bool]:
    """The fit of greatest evidence among those grown from small cores, and whether two agree.

    On a geometric graph the leading eigenvectors of k groups mix with the slow modes of the graph,
    and `unmix` cannot separate them. A node with its neighbours is too small for slow modes: there
    the groups separate. The nodes next to a solved region take, group by group, the angle on which
    most predictions from the region agree. Cores far from one another that grow into the same
    solution are unlikely to be wrong.
    """
    adjacency = EdgeOperator(graph).adjacency(np.ones(graph.num_edges))
    degree = adjacency.sum(axis=1)
    size = int(np.clip(degree.mean() + 1.0, _LEAST_CORE * k, max(_LARGEST_CORE, _LEAST_CORE * k)))
    count = min(_CORES, graph.num_nodes)
    fits: list[MixtureFit] = []
    for seed in rng.choice(graph.num_nodes, count, replace=False, p=degree / degree.sum()):
        core = core_around(adjacency, int(seed), size)
        fit = _solve_core(graph.subgraph(core)[0], k, rng)
        grown = grow_core(graph, adjacency, core, fit)
        fits.append(local_search(graph, grown, rounds=_GROWN_ROUNDS))
        advance(len(fits) / count)
        if best_two_agree(fits) or time_is_up():
            break
    best = max(fits, key=lambda fit: fit.evidence)
    return improve(graph, best), best_two_agree(fits)


def core_around(adjacency: sp.csr_array, seed: int, size: int) -> IntArray:
    """At most `size` nodes around `seed`, each added for its many edges to those before it.

    The next node maximises (edges to the core)/√(degree).
    """
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


def grow_core(
    graph: MeasurementGraph, adjacency: sp.csr_array, core: IntArray, fit: MixtureFit
) -> FloatArray:
    """Angles (n, k) that extend those of `fit` on the nodes `core` to the whole graph."""
    angles = np.zeros((graph.num_nodes, fit.angles.shape[1]))
    angles[core] = fit.angles
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[core] = True
    while not inside.all():
        links = np.where(inside, 0.0, adjacency @ inside.astype(np.float64))
        most = max(int(_MOST_GROWTH * inside.sum()), 1)
        front = np.argsort(-links, kind="stable")[:most]
        front = front[links[front] >= max(_FRONT * links.max(), 1.0)]
        if not len(front):
            break
        _place_front(graph, angles, inside, front, fit)
        inside[front] = True
        nodes = np.flatnonzero(inside)
        part = graph.subgraph(nodes)[0]
        fit = _rough_fit(part, angles[nodes], fit)
        moved = relocate_nodes(part, fit)
        if moved is not None:
            fit = _rough_fit(part, moved, fit)
        angles[nodes] = fit.angles
    return angles


def _rough_fit(part: MeasurementGraph, angles: FloatArray, like: MixtureFit) -> MixtureFit:
    return fit_mixture(
        part,
        angles,
        like=with_wider_noise(like),
        max_iterations=_ROUGH_ITERATIONS,
        tol=_ROUGH_TOLERANCE,
    )


def _place_front(
    graph: MeasurementGraph,
    angles: FloatArray,
    inside: BoolArray,
    front: IntArray,
    fit: MixtureFit,
) -> None:
    """Set the angles of the nodes `front` to the strongest agreement of predictions from inside."""
    new = np.zeros(graph.num_nodes, dtype=bool)
    new[front] = True
    between = (new[graph.src] & inside[graph.dst]) | (inside[graph.src] & new[graph.dst])
    border = MeasurementGraph(graph.edge_index[:, between], graph.offset[between], graph.num_nodes)
    trust = np.ones(border.num_edges), np.ones(graph.num_nodes)
    for group in range(angles.shape[1]):
        change = strongest_agreement(border, angles[:, group], *trust, agreement_window(fit))[0]
        angles[front, group] = wrap(angles[front, group] + change[front])


def _solve_core(part: MeasurementGraph, k: int, rng: np.random.Generator) -> MixtureFit:
    """Belief propagation from the spectral initialisation, then local search."""
    start = initial_angles(part, k, rng)
    found = propagate(part, start, bins=_CORE_BINS, sweeps=_CORE_SWEEPS)
    return local_search(part, found.modes(), rounds=_CORE_ROUNDS)
