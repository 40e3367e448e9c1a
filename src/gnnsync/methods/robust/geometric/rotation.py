"""Greedily rotate regions by the angle their boundary edges support, while the evidence rises."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.optimize import linear_sum_assignment

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.geometric.branches import most_probable_tree, supported_rotations
from gnnsync.methods.robust.geometric.regions import find_regions
from gnnsync.methods.robust.noise.law import law_density
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.typing import ComplexArray, FloatArray, IntArray
from gnnsync.work import advance, time_is_up

log = logging.getLogger(__name__)

# Log likelihood that a rotation must gain on the boundary to be tried (odds of e² = 7), and
# evidence that it must gain after the local search to be kept.
_LEAST_GAIN, _LEAST_EVIDENCE = 2.0, 1.0
# Rotations tried per round, and edges of all attempts together, which bounds the time to seconds.
_TRIES, _EDGES = 6, 400_000
# Rounds of the local search after a rotation.
_SEARCH_ROUNDS = 4
# Most branches of the spanning tree that are considered in a round, and the fewest edges across
# one: the tree's own edge and one other are as likely wrong as right.
_BRANCHES = 256
_LEAST_CROSSING = 3
# Grid of rotations: finer than any noise that calls for integration; smaller σ is taken for a step.
_BINS = 2048
_STEP = TWO_PI / _BINS
# Branches whose rotations are computed at a time: some megabytes.
_ROWS = 128
# Boundary edges within this many σ of the best rotation are averaged.
_AVERAGED_SIGMAS = 2.0


@dataclass(frozen=True, eq=False)
class RegionRotation:
    """A change of the angles of one region.

    Args:
        nodes: of the region.
        into: (k,) the group that each group of the region becomes.
        by: (k,) the angle that each group is rotated by.
        gain: in log likelihood of the boundary edges.
    """

    nodes: IntArray
    into: IntArray
    by: FloatArray
    gain: float

    def applied(self, angles: FloatArray) -> FloatArray:
        """Angles (n, k) after the rotation."""
        rotated = angles.copy()
        rotated[self.nodes[:, None], self.into] = angles[self.nodes] + self.by
        return wrap(rotated)


def rotate_regions(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator, *, most: int = 40
) -> MixtureFit:
    """Greedily rotate regions by the angle their boundary edges support; accept by evidence.

    On a geometric graph a fit may be right within regions and wrong between them: neither moving a
    single node nor an EM step improves it, but rotating a whole region does. Such regions are held
    together by few inlier edges, so cuts of the graph of inlier edges find them. Each round first
    rotates all regions that do not touch one another at once, then, if that does not raise the
    evidence, single ones. Ends without a gain or after `most` attempts, fewer on large graphs.
    """
    tries = min(max(_EDGES // max(graph.num_edges, 1), _TRIES), most)
    improved = True
    allowed = tries
    while improved and tries > 0 and not time_is_up():
        improved = False
        for attempt in _attempts(graph, fit, rng)[:tries]:
            if time_is_up():
                break
            tries -= 1
            advance(1.0 - tries / allowed)
            angles = fit.angles
            for rotation in attempt:
                angles = rotation.applied(angles)
            other = local_search(graph, angles, dof=fit.dof, rounds=_SEARCH_ROUNDS)
            if other.evidence > fit.evidence + _LEAST_EVIDENCE:
                gain = other.evidence - fit.evidence
                log.debug("%d regions rotated: evidence up by %.1f", len(attempt), gain)
                fit, improved = other, True
                break
    return fit


def best_rotation(graph: MeasurementGraph, fit: MixtureFit, nodes: IntArray) -> RegionRotation:
    r"""The rotation of a region that the likelihood of its boundary edges gains most by.

    An edge from inner node i to outer node j supports the rotation
    :math:`φ_e = θ_{j,q} + a - θ_{i,l}` of group l into group q; the φ of greatest
    :math:`\sum_e \log(1 + π_q/η · 2πf_σ(φ_e - φ))` is taken (edge weights are ignored). Groups are
    matched by optimal assignment.
    """
    k = fit.angles.shape[1]
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[nodes] = True
    boundary = np.flatnonzero(inside[graph.src] != inside[graph.dst])
    if not len(boundary):
        return RegionRotation(nodes, np.arange(k), np.zeros(k), 0.0)
    out = inside[graph.src[boundary]]
    inner = np.where(out, graph.src[boundary], graph.dst[boundary])
    outer = np.where(out, graph.dst[boundary], graph.src[boundary])
    offset = np.where(out, graph.offset[boundary], -graph.offset[boundary])
    sigma = max(fit.sigma, _STEP)
    kernels = [_kernel(fit.odds(group), sigma, fit.dof) for group in range(k)]
    value, best = np.empty((k, k)), np.empty((k, k))
    unchanged = 0.0
    for mine in range(k):
        for theirs in range(k):
            supported = wrap(fit.angles[outer, theirs] + offset - fit.angles[inner, mine])
            likelihood = _log_likelihood(supported, kernels[theirs])
            value[mine, theirs] = likelihood.max()
            best[mine, theirs] = _refined(supported, likelihood, sigma)
            if mine == theirs:
                unchanged += float(likelihood[0])
                if value[mine, theirs] - likelihood[0] < _LEAST_GAIN:
                    value[mine, theirs], best[mine, theirs] = likelihood[0], 0.0
    into = linear_sum_assignment(-value)[1]
    each = np.arange(k)
    gain = float(value[each, into].sum()) - unchanged
    return RegionRotation(nodes, into, best[each, into], gain)


def branch_rotations(graph: MeasurementGraph, fit: MixtureFit) -> list[RegionRotation]:
    """Rotations of branches of the most probable spanning tree that gain likelihood (k = 1).

    Where edges are few, a region may be attached by a single edge that the fit takes for an inlier
    and that is an outlier. Every spanning tree of inlier edges contains it.
    """
    if fit.angles.shape[1] > 1:
        return []
    tree = most_probable_tree(graph, fit.membership[:, 0])
    branch, supported = supported_rotations(graph, tree, fit.angles[:, 0])
    order = np.argsort(branch, kind="stable")
    branch, supported = branch[order], supported[order]
    sigma = max(fit.sigma, _STEP)
    kernel = _kernel(fit.odds(0), sigma, fit.dof)
    top, count = np.unique(branch, return_counts=True)
    crossed = count >= _LEAST_CROSSING
    supported = supported[np.repeat(crossed, count)]
    top, count = top[crossed], count[crossed]
    end = np.cumsum(count)
    found = []
    for start in range(0, len(top), _ROWS):
        rows = slice(start, start + _ROWS)
        likelihood = _log_likelihoods(supported, end[rows], count[rows], kernel)
        gain = likelihood.max(axis=1) - likelihood[:, 0]
        for row in np.flatnonzero(gain > _LEAST_GAIN):
            own = supported[end[rows][row] - count[rows][row] : end[rows][row]]
            by = _refined(own, likelihood[row], sigma)
            found.append((float(gain[row]), int(top[rows][row]), by))
    found.sort(reverse=True)
    zero = np.zeros(1, dtype=np.int64)
    return [
        RegionRotation(tree.branch(node), zero, np.array([by]), gain)
        for gain, node, by in found[:_BRANCHES]
    ]


def _attempts(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
) -> list[list[RegionRotation]]:
    """Sets of rotations to try: all that do not touch one another, then the most promising ones."""
    rotations = [
        rotation
        for nodes in find_regions(graph, fit.edge_confidence, rng)
        if (rotation := best_rotation(graph, fit, nodes)).gain > _LEAST_GAIN
    ]
    rotations += branch_rotations(graph, fit)
    rotations.sort(key=lambda rotation: -rotation.gain)
    attempts = [[rotation] for rotation in rotations[:_TRIES]]
    together = _not_touching(graph, rotations)
    return [together, *attempts] if len(together) > 1 else attempts


def _not_touching(graph: MeasurementGraph, rotations: list[RegionRotation]) -> list[RegionRotation]:
    """Rotations of regions no two of which share a node or an edge, earlier ones first."""
    taken = np.zeros(graph.num_nodes, dtype=bool)
    chosen = []
    for rotation in rotations:
        if not taken[rotation.nodes].any():
            chosen.append(rotation)
            inside = np.zeros(graph.num_nodes, dtype=bool)
            inside[rotation.nodes] = True
            touched = inside[graph.src] | inside[graph.dst]
            taken[graph.src[touched]] = True
            taken[graph.dst[touched]] = True
    return chosen


def _kernel(odds: float, sigma: float, dof: float) -> ComplexArray:
    """Fourier coefficients of log(1 + odds·2πf_σ), an edge's log likelihood of nearby rotations."""
    return np.fft.rfft(np.log1p(odds * law_density(wrap(_STEP * np.arange(_BINS)), sigma, dof)))


def _log_likelihood(supported: FloatArray, kernel: ComplexArray) -> FloatArray:
    """Log likelihood (bins,) of every rotation: histogram of the supported ones ∗ kernel."""
    cell = np.rint(np.mod(supported, TWO_PI) / _STEP).astype(np.int64) % _BINS
    return np.fft.irfft(np.fft.rfft(np.bincount(cell, minlength=_BINS)) * kernel, n=_BINS)


def _log_likelihoods(
    supported: FloatArray, end: IntArray, count: IntArray, kernel: ComplexArray
) -> FloatArray:
    """`_log_likelihood` (rows, bins) of parts of `supported`: `count` entries each, up to `end`."""
    own = supported[end[0] - count[0] : end[-1]]
    cell = np.rint(np.mod(own, TWO_PI) / _STEP).astype(np.int64) % _BINS
    cell += _BINS * np.repeat(np.arange(len(count)), count)
    histogram = np.bincount(cell, minlength=len(count) * _BINS).reshape(-1, _BINS)
    # Single precision is enough for a sum of some thousand terms, and twice as fast.
    spectrum = fft.rfft(histogram.astype(np.float32), axis=1)
    spectrum *= kernel.astype(np.complex64)
    return np.asarray(fft.irfft(spectrum, n=_BINS, axis=1), dtype=np.float64)


def _refined(supported: FloatArray, likelihood: FloatArray, sigma: float) -> float:
    """The grid rotation of greatest likelihood, moved to the mean of the supported ones near it."""
    best = _STEP * float(likelihood.argmax())
    apart = wrap(supported - best)
    near = np.abs(apart) < _AVERAGED_SIGMAS * sigma
    return best + float(apart[near].mean()) if near.any() else best
