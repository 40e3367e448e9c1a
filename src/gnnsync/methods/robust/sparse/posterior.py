"""Samples of the true angles of a graph with few cycles, and what they say of an estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import relative_weight
from gnnsync.methods.robust.sparse.enumeration import MOST_ENUMERATED, enumerate_inliers
from gnnsync.methods.robust.sparse.gibbs import (
    PRIOR,
    InlierSamples,
    sample_inliers,
    truncated_geometric,
)
from gnnsync.methods.robust.sparse.kernel import Kernel, series_kernel
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.topology import component_labels, parent_edges, spanning_forest
from gnnsync.typing import BoolArray, FloatArray, IntArray

# A second prior of the outlier share, with more outliers than `PRIOR`: a probability that it would
# change by more than DEPENDENCE is not known. Chosen on the graphs of `python -m
# benchmarks.confidence --set sparse-develop`.
OTHER_PRIOR, DEPENDENCE = (1.0, 4.0), 0.05
# Largest kernel that is sampled: junctions and chains, about a second; and chains per junction,
# unless there are few, for with more of them the sampler stays too long where it began.
MOST_JUNCTIONS, MOST_CHAINS, _MOST_PER_JUNCTION, _FEW_CHAINS = 80, 150, 2.0, 60
# Edges of a graph whose kernel is looked for at all.
_MOST_EDGES = 20_000
# Samples of the angles, fewer where all together would exceed _EDGES edges.
_MOST_SAMPLES, _FEWEST_SAMPLES, _EDGES = 256, 32, 200_000
# Inlier sets of which the least-squares angles are candidates.
_CANDIDATES = 24
# Samples in which a node has to be right for its deviation to be stated.
_LEAST_RIGHT = 8


def sparse_kernel(graph: MeasurementGraph) -> Kernel | None:
    """The kernel of a graph with cycles, if it is small enough to be sampled; else None."""
    return None if graph.bridges.all() else small_kernel(graph)


def small_kernel(graph: MeasurementGraph) -> Kernel | None:
    """The kernel, of no chains on a tree, if it is small enough to be sampled; else None."""
    if graph.bridges.all():
        return series_kernel(graph)
    if graph.num_edges > _MOST_EDGES:
        return None
    on_cycles = graph.edge_index[:, ~graph.bridges]
    degree = np.bincount(on_cycles.ravel(), minlength=graph.num_nodes)
    if (degree >= 3).sum() > MOST_JUNCTIONS or degree[degree >= 3].sum() > 2 * MOST_CHAINS:
        return None
    kernel = series_kernel(graph)
    small = kernel.num_nodes <= MOST_JUNCTIONS and kernel.num_chains <= MOST_CHAINS
    sparse = kernel.num_chains <= max(_MOST_PER_JUNCTION * kernel.num_nodes, _FEW_CHAINS)
    return kernel if small and sparse else None


@dataclass(frozen=True, eq=False)
class AngleSamples:
    """Samples of the posterior of angles, inliers and noise.

    Args:
        angles: (s, n) what the true angles may be.
        candidates: (c, n) least-squares angles of some of the sampled inlier sets.
        edge_confidence: (m,) probability that an edge is an inlier.
        eta: (s,) outlier share.
        sigma: (s,) scale of the noise.
    """

    angles: FloatArray
    candidates: FloatArray
    edge_confidence: FloatArray
    eta: FloatArray
    sigma: FloatArray

    def right(self, angles: FloatArray) -> FloatArray:
        """Probability (n,) that angles (n,) are within `NODE_TOLERANCE`, aligned as a whole."""
        return (np.abs(self._error(angles)) < NODE_TOLERANCE).mean(axis=0)

    def confidence(self, angles: FloatArray) -> FloatArray:
        """The probability `right`, NaN where the prior of the outlier share decides."""
        return confidence_of(np.abs(self._error(angles)) < NODE_TOLERANCE, self.eta)

    def deviation(self, angles: FloatArray) -> FloatArray:
        """Standard deviation (n,) of angles (n,), where they are right; NaN if hardly ever."""
        error = self._error(angles)
        right = np.abs(error) < NODE_TOLERANCE
        count = right.sum(axis=0)
        mean = (right * error**2).sum(axis=0) / np.maximum(count, 1)
        return np.where(count >= _LEAST_RIGHT, np.sqrt(mean), np.nan)

    def best(self, angles: FloatArray, margin: float) -> FloatArray:
        """The angles (n,), or the candidate with more right nodes, by a share of `margin`."""
        shares = [self.right(candidate).mean() for candidate in self.candidates]
        first = int(np.argmax(shares))
        better = shares[first] > self.right(angles).mean() + margin
        return self.candidates[first] if better else angles

    def _error(self, angles: FloatArray) -> FloatArray:
        """Errors (s, n) of angles (n,), each sample aligned by the circular mean."""
        gap = angles - self.angles
        return wrap(gap - np.angle(np.exp(1j * gap).mean(axis=1))[:, None])


def confidence_of(right: BoolArray, eta: FloatArray) -> FloatArray:
    """Probability (n,) of each node from the samples (s, n) in which it is right.

    NaN where it depends on the prior of the outlier share more than on the measurements, as at the
    end of a path of edges that nothing checks. `eta` (s,) is the outlier share of the samples; with
    the weights (η^a' (1 - η)^b') / (η^a (1 - η)^b) these are samples for another prior.
    """
    stated = right.mean(axis=0)
    more, fewer = OTHER_PRIOR[0] - PRIOR[0], OTHER_PRIOR[1] - PRIOR[1]
    log_weight = more * np.log(eta) + fewer * np.log1p(-eta)
    weight = np.exp(log_weight - log_weight.max())
    other = weight @ right / weight.sum()
    return np.where(np.abs(other - stated) <= DEPENDENCE, stated, np.nan)


def sample_angles(
    graph: MeasurementGraph,
    kernel: Kernel,
    rng: np.random.Generator,
    *,
    seen: tuple[float, float] = (0.0, 0.0),
    sigma: float | None = None,
    start: BoolArray | None = None,
) -> AngleSamples:
    """Samples of the posterior of a connected graph, k = 1.

    They are exact for a few chains (`enumerate_inliers`), else from `sample_inliers`.

    Given the inliers and the noise, angles are normal. Parts of the graph that no inlier joins have
    independent rotations.

    Args:
        graph: the measurements.
        kernel: its chains.
        rng: source of randomness.
        seen: numbers of outliers and of inliers among further edges.
        sigma: scale of the noise of an edge of mean weight, if it is known; else it is sampled.
        start: (m,) edges that are inliers at first in most replicas, as of a fit.
    """
    if kernel.num_chains <= MOST_ENUMERATED:
        found = enumerate_inliers(kernel, rng, seen=seen, sigma=sigma)
    else:
        if start is not None:
            on_cycle = kernel.chain >= 0
            wrong = np.bincount(kernel.chain[on_cycle & ~start], minlength=kernel.num_chains)
            start = wrong == 0
        found = sample_inliers(kernel, rng, seen=seen, sigma=sigma, start=start)
    most = int(np.clip(_EDGES // graph.num_edges, _FEWEST_SAMPLES, _MOST_SAMPLES))
    chosen = rng.choice(len(found.eta), min(most, len(found.eta)), replace=False)
    inlier = _edge_samples(graph, kernel, found, chosen, rng)
    noise = rng.standard_normal(inlier.shape) / np.sqrt(relative_weight(graph))
    noise *= found.sigma[chosen][:, None]
    few = slice(_CANDIDATES)
    return AngleSamples(
        _spread(graph, kernel, found.angles[chosen], inlier, noise, rng),
        _spread(graph, kernel, found.fitted[chosen[few]], inlier[few], 0.0 * noise[few], rng),
        _edge_confidence(graph, kernel, found),
        found.eta[chosen],
        found.sigma[chosen],
    )


def _edge_samples(
    graph: MeasurementGraph,
    kernel: Kernel,
    found: InlierSamples,
    chosen: IntArray,
    rng: np.random.Generator,
) -> BoolArray:
    """Inlier edges (s, m) of sampled chains; edges on no cycle by the outlier share alone."""
    eta, m = found.eta[chosen][:, None], graph.num_edges
    free = rng.random((len(chosen), m)) > eta
    first = truncated_geometric(eta, kernel.doubted, rng.random((len(chosen), kernel.num_chains)))
    if not kernel.num_chains:
        return free | graph.edge_trusted
    on_cycle = kernel.chain >= 0
    chain = np.maximum(kernel.chain, 0)
    first_of = first[:, chain]
    broken = np.where(kernel.place == first_of, False, (kernel.place < first_of) | free)
    inside = found.inlier[chosen][:, chain] | broken
    return np.where(on_cycle, inside, free) | graph.edge_trusted


def _edge_confidence(graph: MeasurementGraph, kernel: Kernel, found: InlierSamples) -> FloatArray:
    """Probability (m,) of each edge, the mean of that given the other chains; NaN of a bridge."""
    if not kernel.num_chains:
        return np.where(graph.edge_trusted, 1.0, np.nan)
    eta = found.eta[:, None]
    whole = (1.0 - eta) ** kernel.doubted
    # One edge of a chain that has an outlier: the prior without the case that all are inliers.
    one = (1.0 - eta - whole) / np.maximum(1.0 - whole, np.finfo(float).tiny)
    of_chain = found.probability + (1.0 - found.probability) * np.clip(one, 0.0, 1.0)
    mean = of_chain.mean(axis=0)
    confidence = np.where(kernel.chain >= 0, mean[np.maximum(kernel.chain, 0)], np.nan)
    return np.where(graph.edge_trusted, 1.0, confidence)


def _spread(
    graph: MeasurementGraph,
    kernel: Kernel,
    junctions: FloatArray,
    inlier: BoolArray,
    noise: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Angles (s, n) of all nodes from those (s, K) of the junctions.

    Along a chain of inliers the angles are a Brownian bridge; an outlier leaves its nodes with one
    end or, between two outliers, with none.

    Args:
        graph: the measurements.
        kernel: its chains.
        junctions: (s, K) angles of the junctions.
        inlier: (s, m) edges.
        noise: (s, m) added to the offsets.
        rng: for what nothing determines.
    """
    angles = rng.uniform(0.0, TWO_PI, (len(junctions), graph.num_nodes))
    angles[:, kernel.junctions] = junctions
    variance = 1.0 / relative_weight(graph)
    offset = graph.offset + noise
    for (start, end), (edges, signs, inner) in zip(kernel.ends.T, kernel.paths, strict=True):
        if not len(inner):
            continue
        steps, right = signs * offset[:, edges], inlier[:, edges]
        # An outlier's step is as good as any, so that angles behind it are uniform.
        steps = np.where(right, steps, rng.uniform(0.0, TWO_PI, steps.shape))
        walked = junctions[:, start, None] - np.cumsum(steps, axis=1)
        gap = wrap(junctions[:, end] - walked[:, -1])[:, None]
        share = np.cumsum(variance[edges]) / variance[edges].sum()
        # Behind the last outlier the other end decides.
        behind = np.asarray(np.logical_and.accumulate(right[:, ::-1], axis=1), dtype=bool)[:, ::-1]
        whole = np.all(right, axis=1, keepdims=True)
        moved = np.where(whole, gap * share[:-1], np.where(behind[:, 1:], gap, 0.0))
        angles[:, inner] = walked[:, :-1] + moved
    return join_blocks(graph, angles, inlier, offset)


def join_blocks(
    graph: MeasurementGraph, angles: FloatArray, inlier: BoolArray, offset: FloatArray
) -> FloatArray:
    """Angles (s, n) with the parts that bridges join rotated to agree with those that are inliers.

    Parts whose bridge is an outlier keep their rotation, which is uniform.

    Args:
        graph: the measurements.
        angles: (s, n), changed in place.
        inlier: (s, m) edges, of which the bridges count.
        offset: (s, m) offsets of the edges.
    """
    edges = np.flatnonzero(graph.bridges)
    part = component_labels(graph.edge_index[:, ~graph.bridges], graph.num_nodes)
    order = np.argsort(part, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(part))[:-1])
    index = part[graph.edge_index[:, edges]].astype(np.int64)
    visit, parent = spanning_forest(index, len(members))
    above = parent_edges(index, parent)
    for own in visit.tolist():
        if above[own] < 0:
            continue
        e = int(edges[above[own]])
        src, dst = int(graph.src[e]), int(graph.dst[e])
        gap = offset[:, e] - angles[:, src] + angles[:, dst]
        gap = np.where(inlier[:, e], gap if part[src] == own else -gap, 0.0)
        angles[:, members[own]] += gap[:, None]
    return angles
