"""Confidence in nodes of graphs whose parts few edges join, or one that nothing checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.confidence.clusters import find_blocks, find_clusters
from gnnsync.methods.robust.confidence.node_confidence import Support, node_confidence
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.methods.robust.sparse.posterior import (
    AngleSamples,
    confidence_of,
    sample_angles,
    small_kernel,
)
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Samples of the angles that are compared, fewer where all together would exceed _NODES nodes.
_FEWEST_SAMPLES, _NODES = 24, 4_000_000


def confidence_of_parts(
    graph: MeasurementGraph,
    fit: MixtureFit,
    rng: np.random.Generator,
    support: Support | None = None,
) -> FloatArray:
    """Probability (n,) as of `node_confidence`, with the rotations between parts of the graph.

    Within clusters (or, if these are too many, blocks without bridges) `node_confidence` is asked.
    What the few edges between them leave open is sampled (`sample_angles`), with as many outliers
    as the edges in the clusters have. Nodes are right if their cluster is and if they are in it,
    all nodes aligned. NaN where the outlier share decides, of which little is known
    (`confidence_of`). For the arguments see `node_confidence`.
    """
    label = _parts(graph, fit) if fit.share.size == 1 else np.zeros(graph.num_nodes, np.int64)
    if not label.any():
        return node_confidence(graph, fit, rng, support)
    inside = _within(graph, fit, label, rng, support or Support())
    sampled = _sampled_rotations(graph, fit, label, rng)
    few = slice(max(_NODES // graph.num_nodes, _FEWEST_SAMPLES))
    return inside * confidence_of(_near(sampled.angles[few][:, label]), sampled.eta[few])


def _parts(graph: MeasurementGraph, fit: MixtureFit) -> IntArray:
    """Label (n,) of the clusters, or of the blocks if what joins clusters is too much to sample."""
    label = find_clusters(graph, fit)
    if label.any() and small_kernel(_between(graph, fit, label)) is None:
        label = find_blocks(graph)
    return label


def _between(graph: MeasurementGraph, fit: MixtureFit, label: IntArray) -> MeasurementGraph:
    """The edges between parts, as measurements of the rotations that the parts still need."""
    ends = label[graph.edge_index]
    kept = np.flatnonzero(ends[0] != ends[1])
    trusted = None if graph.trusted is None else graph.trusted[kept]
    weight = graph.edge_weight[kept] / graph.edge_weight.mean()
    offset = -graph.residual(fit.angles)[kept, 0]
    count = int(label.max()) + 1
    return MeasurementGraph(ends[:, kept], offset, count, weight=weight, trusted=trusted)


def _sampled_rotations(
    graph: MeasurementGraph, fit: MixtureFit, label: IntArray, rng: np.random.Generator
) -> AngleSamples:
    """Samples of the rotations (s, p) that the parts need, given what the edges in them tell."""
    between = _between(graph, fit, label)
    kernel = small_kernel(between)
    assert kernel is not None
    inner = (label[graph.src] == label[graph.dst]) & ~graph.edge_trusted
    inliers = float(fit.edge_confidence[inner].sum())
    seen = float(inner.sum()) - inliers, inliers
    sigma = fit.sigma / float(np.sqrt(between.edge_weight.mean()))
    return sample_angles(between, kernel, rng, seen=seen, sigma=sigma)


def _near(error: FloatArray) -> BoolArray:
    """Which nodes (s, n) are within the tolerance after each sample is aligned."""
    mean = np.angle(np.exp(1j * error).mean(axis=1))[:, None]
    return np.asarray(np.abs(wrap(error - mean)) < NODE_TOLERANCE)


def _within(
    graph: MeasurementGraph,
    fit: MixtureFit,
    label: IntArray,
    rng: np.random.Generator,
    support: Support,
) -> FloatArray:
    """Probability (n,) that a node is right relative to its part."""
    right = np.ones(graph.num_nodes)
    order = np.argsort(label, kind="stable")
    for nodes in np.split(order, np.cumsum(np.bincount(label))[:-1]):
        if len(nodes) == 1:
            continue
        part, edges = graph.subgraph(nodes)
        own = replace(fit, angles=fit.angles[nodes], membership=fit.membership[edges])
        right[nodes] = node_confidence(part, own, rng, support.of_part(nodes, fit))
    return right
