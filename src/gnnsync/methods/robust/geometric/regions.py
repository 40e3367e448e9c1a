"""Regions of a graph that are turned against one another, and turning them back."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from gnnsync.angles import TWO_PI, wrap
from gnnsync.errors import GnnsyncError
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator, normalise
from gnnsync.methods.robust.geometric.branches import branch_votes, likeliest_tree
from gnnsync.methods.robust.noise.local_search import settle
from gnnsync.methods.robust.noise.mixture import MixtureFit, law_density
from gnnsync.typing import ComplexArray, FloatArray, IntArray

log = logging.getLogger(__name__)


# Spectral gap of the random walk below which regions of a graph can turn against one another:
# geometric graphs and maps have up to 0.2, Erdős–Rényi and preferential attachment from 0.4.
_SMALL_GAP = 0.25
# Power iterations by which it shows.
_POWERS = 200
# A region is divided no further below this many nodes, nor below this part of all of them.
_LEAST, _FINEST = 8, 64
# Belief below this holds nothing together.
_UNBELIEVED = 1e-3
# Log likelihood that a turn must gain on the border, and evidence once the angles have settled.
_WORTH, _BETTER = 2.0, 1.0
# Turns that are tried: the most promising of a round, and edges of all attempts together.
_TRIES, _EDGES = 6, 400_000
# Rounds of jumps in which the angles settle after a turn.
_ROUNDS = 4
# Branches that are tried at most in a round.
_BRANCHES = 256
# Turns are told apart by this many radians; noise below that is taken for as much.
_BINS = 2048
_STEP = TWO_PI / _BINS


@dataclass(frozen=True, eq=False)
class Turn:
    """Set l of `nodes` becomes set `into[l]`, turned by `by[l]`; `gain` in log likelihood."""

    nodes: IntArray
    into: IntArray
    by: FloatArray
    gain: float

    def applied(self, angles: FloatArray) -> FloatArray:
        """Angles (n, k) after the turn."""
        turned = angles.copy()
        turned[self.nodes[:, None], self.into] = angles[self.nodes] + self.by
        return wrap(turned)


def is_extended(graph: MeasurementGraph, rng: np.random.Generator) -> bool:
    """Whether the random walk on the graph mixes so slowly that it has regions far apart.

    The Rayleigh quotient of D^{-1/2} A D^{-1/2}, orthogonal to its first eigenvector D^{1/2} 1,
    comes near the second eigenvalue from below by power iteration.
    """
    operator, weight = EdgeOperator(graph), graph.edge_weight
    degree = operator.degree(weight)
    walk = normalise(operator.adjacency(weight), degree)
    first = np.sqrt(degree / degree.sum())
    vector = rng.standard_normal(graph.num_nodes)
    for _ in range(_POWERS):
        vector = vector - first * (first @ vector)
        size = np.linalg.norm(vector)
        if size == 0.0:
            return False
        vector /= size
        image = walk @ vector
        if vector @ image > 1.0 - _SMALL_GAP:
            return True
        # Half of the time the walk stays: eigenvalues near -1 are none of the largest then.
        vector = 0.5 * (vector + image)
    return False


def turn_regions(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator, *, most: int = 40
) -> MixtureFit:
    """The fit after regions were turned as their borders want, as long as evidence rises.

    On a geometric graph a fit may be right within regions and wrong between them: no node gains by
    a jump of its own, nor EM by small steps, but a whole region does. Such regions hang together
    by few believed edges, so that cuts of the graph of believed edges find them. First all regions
    that do not touch are turned at once, then, if that is no gain, one by one. At most `most`
    attempts are made, fewer on large graphs.
    """
    tries = min(max(_EDGES // max(graph.num_edges, 1), _TRIES), most)
    improved = True
    while improved and tries > 0:
        improved = False
        turns = [
            turn
            for nodes in find_regions(graph, fit.edge_confidence, rng)
            if (turn := best_turn(graph, fit, nodes)).gain > _WORTH
        ]
        turns += branch_turns(graph, fit)
        turns.sort(key=lambda turn: -turn.gain)
        together = _apart(graph, turns)
        attempts = [[turn] for turn in turns[:_TRIES]]
        if len(together) > 1:
            attempts.insert(0, together)
        for attempt in attempts[:tries]:
            tries -= 1
            angles = fit.angles
            for turn in attempt:
                angles = turn.applied(angles)
            other = settle(graph, angles, dof=fit.dof, rounds=_ROUNDS)
            if other.evidence > fit.evidence + _BETTER:
                log.debug(
                    "%d regions turned: evidence %.1f from %.1f",
                    len(attempt),
                    other.evidence,
                    fit.evidence,
                )
                fit, improved = other, True
                break
    return fit


def _apart(graph: MeasurementGraph, turns: list[Turn]) -> list[Turn]:
    """Turns of regions no two of which share a node or an edge, earlier ones first."""
    taken = np.zeros(graph.num_nodes, dtype=bool)
    chosen = []
    for turn in turns:
        if not taken[turn.nodes].any():
            chosen.append(turn)
            inside = np.zeros(graph.num_nodes, dtype=bool)
            inside[turn.nodes] = True
            touched = inside[graph.src] | inside[graph.dst]
            taken[graph.src[touched]] = True
            taken[graph.dst[touched]] = True
    return chosen


def find_regions(
    graph: MeasurementGraph, belief: FloatArray, rng: np.random.Generator
) -> list[IntArray]:
    """Both sides of every cut when the graph of weights `belief` (m,) is cut again and again.

    Each part is divided into its components, else where the second eigenvector of its random walk
    has the cut of least conductance (Shi and Malik 2000).
    """
    n = graph.num_nodes
    adjacency = EdgeOperator(graph).adjacency(np.where(belief < _UNBELIEVED, 0.0, belief))
    adjacency.eliminate_zeros()
    least = max(_LEAST, n // _FINEST)
    regions: list[IntArray] = []
    open_parts = [np.arange(n)]
    while open_parts:
        part = open_parts.pop()
        if len(part) < 2 * least:
            continue
        halves = _cut(adjacency[part][:, part], rng)
        if len(halves) > 1:
            found = [part[half] for half in halves]
            regions += [region for region in found if len(region) >= _LEAST // 2]
            open_parts += found
    return regions


def best_turn(graph: MeasurementGraph, fit: MixtureFit, nodes: IntArray) -> Turn:
    r"""The turn of a region that its border gains most by.

    An edge from inner node i to outer node j votes for the turn :math:`φ = θ_{j,q} + a - θ_{i,l}`
    of set l into set q; the turn of greatest :math:`\sum_e \log(1 + π_q/η · 2πf_σ(φ_e - φ))` is
    taken (edge weights left aside). Sets are matched so that the sum over the sets is greatest.
    """
    k = fit.angles.shape[1]
    stay = Turn(nodes, np.arange(k), np.zeros(k), 0.0)
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[nodes] = True
    border = np.flatnonzero(inside[graph.src] != inside[graph.dst])
    if not len(border):
        return stay
    out = inside[graph.src[border]]
    inner = np.where(out, graph.src[border], graph.dst[border])
    outer = np.where(out, graph.dst[border], graph.src[border])
    offset = np.where(out, graph.offset[border], -graph.offset[border])
    sigma = max(fit.sigma, _STEP)
    kernels = [_kernel(share / max(fit.eta, 1e-3), sigma, fit.dof) for share in fit.share]
    value, best = np.empty((k, k)), np.empty((k, k))
    now = 0.0
    for mine in range(k):
        for theirs in range(k):
            vote = wrap(fit.angles[outer, theirs] + offset - fit.angles[inner, mine])
            support = _support(vote, kernels[theirs])
            value[mine, theirs] = support.max()
            best[mine, theirs] = _middle(vote, _STEP * float(support.argmax()), 2.0 * sigma)
            if mine == theirs:
                now += float(support[0])
                if value[mine, theirs] - support[0] < _WORTH:
                    value[mine, theirs], best[mine, theirs] = support[0], 0.0
    into = linear_sum_assignment(-value)[1]
    each = np.arange(k)
    return Turn(nodes, into, best[each, into], float(value[each, into].sum()) - now)


def branch_turns(graph: MeasurementGraph, fit: MixtureFit) -> list[Turn]:
    """Turns of branches of the likeliest spanning tree that are worth it (k = 1).

    Where edges are few, a region may hang by a single believed edge that is wrong. Any spanning
    tree of believed edges holds it.
    """
    if fit.angles.shape[1] > 1:
        return []
    tree = likeliest_tree(graph, fit.membership[:, 0])
    branch, vote = branch_votes(graph, tree, fit.angles[:, 0])
    order = np.argsort(branch, kind="stable")
    branch, vote = branch[order], vote[order]
    sigma = max(fit.sigma, _STEP)
    kernel = _kernel(fit.share[0] / max(fit.eta, 1e-3), sigma, fit.dof)
    first = np.flatnonzero(np.diff(branch, prepend=-1))
    last = np.append(first[1:], len(branch))
    turns = []
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        if end - start < 3:  # the tree's edge and one other: as likely as not
            continue
        votes = vote[start:end]
        support = _support(votes, kernel)
        gain = float(support.max() - support[0])
        if gain > _WORTH:
            turn = _middle(votes, _STEP * float(support.argmax()), 2.0 * sigma)
            turns.append((gain, int(branch[start]), turn))
    turns.sort(reverse=True)
    zero = np.zeros(1, dtype=np.int64)
    return [
        Turn(tree.branch(node), zero, np.array([turn]), gain)
        for gain, node, turn in turns[:_BRANCHES]
    ]


def _kernel(odds: float, sigma: float, dof: float) -> ComplexArray:
    """Fourier coefficients of log(1 + odds·2πf_σ), what a vote adds to turns near it."""
    return np.fft.rfft(np.log1p(odds * law_density(wrap(_STEP * np.arange(_BINS)), sigma, dof)))


def _support(vote: FloatArray, kernel: ComplexArray) -> FloatArray:
    """Log likelihood (bins,) of every turn: the votes' histogram, convolved with the kernel."""
    cell = np.rint(np.mod(vote, TWO_PI) / _STEP).astype(np.int64) % _BINS
    return np.fft.irfft(np.fft.rfft(np.bincount(cell, minlength=_BINS)) * kernel, n=_BINS)


def _middle(vote: FloatArray, turn: float, half: float) -> float:
    """Mean of the votes within `half` of `turn`."""
    apart = wrap(vote - turn)
    near = np.abs(apart) < half
    return turn + float(apart[near].mean()) if near.any() else turn


def _cut(adjacency: sp.csr_array, rng: np.random.Generator) -> list[IntArray]:
    """Positions of the parts into which a graph is divided; one part if it cannot be."""
    count, label = connected_components(adjacency, directed=False)
    if count > 1:
        return [np.flatnonzero(label == part) for part in range(count)]
    n = adjacency.shape[0]
    degree = adjacency.sum(axis=1)
    try:
        found = top_eigenvectors(normalise(adjacency, degree), 2, rng, bound=1.0, tol=1e-4)
    except GnnsyncError:  # eigenvalues too close to one another: any cut is as thin
        return [np.arange(n)]
    vectors = found.vectors
    order = np.argsort(vectors[:, 1].real / np.sqrt(degree), kind="stable")
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    # Weight that crosses each cut of the order: every edge crosses from its first to its last end.
    tail = np.repeat(place, np.diff(adjacency.indptr))
    head = place[adjacency.indices]
    up = tail < head
    opened = np.bincount(tail[up], adjacency.data[up], n) - np.bincount(
        head[up], adjacency.data[up], n
    )
    volume = np.cumsum(degree[order])
    smaller = np.maximum(np.minimum(volume, volume[-1] - volume)[:-1], np.finfo(float).tiny)
    conductance = np.cumsum(opened)[:-1] / smaller
    edge = min(_LEAST // 2, n // 2)
    cut = edge + int(conductance[edge - 1 : n - edge].argmin())
    return [order[:cut], order[cut:]]
