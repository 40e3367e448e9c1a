"""Clusters of nodes that many cycles hold together, and the few edges between them."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.topology import component_labels
from gnnsync.typing import BoolArray, IntArray

# Triangles of inliers that hold an edge, and inlier edges that hold two clusters together: by
# chance as many do not agree.
_TRIANGLES, _LINKS = 2, 3
# Graphs of more edges are divided at bridges only: triangles are many there.
_MOST_EDGES = 50_000
# Rounds in which clusters are joined.
_ROUNDS = 50


def find_blocks(graph: MeasurementGraph) -> IntArray:
    """Label (n,) of the parts that remain without bridges."""
    inner = graph.edge_index[:, ~graph.bridges]
    return component_labels(inner, graph.num_nodes).astype(np.int64)


def find_clusters(graph: MeasurementGraph, fit: MixtureFit) -> IntArray:
    """Label (n,) of clusters, each within a block: nodes that three or more inliers tie to it.

    Inlier edges in two triangles of inliers join nodes; then clusters with three inlier edges
    between them are joined, until none are left.
    """
    if graph.num_edges > _MOST_EDGES:
        return find_blocks(graph)
    inlier = fit.edge_confidence > 0.5
    triangles = graph.triangles.edges
    whole = triangles[inlier[triangles].all(axis=1)]
    support = np.bincount(whole.ravel(), minlength=graph.num_edges)
    label = _joined(graph, inlier & (support >= _TRIANGLES))
    for _ in range(_ROUNDS):
        low, high = np.sort(label[graph.edge_index], axis=0)
        between = inlier & (low != high)
        key = low * graph.num_nodes + high
        pair, count = np.unique(key[between], return_counts=True)
        strong = pair[count >= _LINKS]
        if not len(strong):
            break
        ends = np.stack(np.divmod(strong, graph.num_nodes))
        label = component_labels(ends, graph.num_nodes).astype(np.int64)[label]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _joined(graph: MeasurementGraph, edges: BoolArray) -> IntArray:
    return component_labels(graph.edge_index[:, edges], graph.num_nodes).astype(np.int64)
