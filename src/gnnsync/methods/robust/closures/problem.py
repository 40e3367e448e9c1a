"""A graph with trusted edges as a tree of odometry and the closures that are to be judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.topology import component_labels, forest_angles, minimum_spanning_edges
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Closures around each one whose share of outliers is its own prior (see `outlier_share`), and the
# weight, in closures, of the share in the whole graph.
_NEIGHBOURS, _PRIOR_CLOSURES = 24, 4.0
_LEAST_SHARE, _MOST_SHARE = 0.01, 0.98
# Pose graphs have at most this many edges per node, and trusted edges leave at most this many parts
# per node: separate trajectories, and poses whose odometry is missing.
_MOST_EDGES_PER_NODE, _MOST_PARTS = 8.0, 0.02


@dataclass(frozen=True, eq=False)
class ClosureProblem:
    """Trusted edges give the start; the other edges, the closures, are to be judged.

    Args:
        graph: n nodes, m edges, connected.
        offset: (m,) the offsets, trusted ones without the drift that was estimated.
        weight: (m,) precision of each edge relative to the others of its kind.
        trusted: (m,) bool.
        closures: (c,) numbers of the other edges.
        steps: (n,) signed number of tree edges from the root, counted up from a node of lower to
            one of higher number: along a trajectory, the number of the pose.
        tree: numbers of the n - 1 edges of a spanning tree with as many trusted edges as possible.
        neighbours: (c, k) the closures nearest to each in the plane of (steps[s], steps[t]).
    """

    graph: MeasurementGraph
    offset: FloatArray
    weight: FloatArray
    trusted: BoolArray
    closures: IntArray
    steps: FloatArray
    tree: IntArray
    neighbours: IntArray

    @classmethod
    def of(cls, graph: MeasurementGraph, weight: FloatArray) -> ClosureProblem:
        """The problem of a connected graph whose edges have these relative weights (m,)."""
        trusted = graph.edge_trusted
        order = np.argsort(~trusted, kind="stable")
        tree = minimum_spanning_edges(graph.edge_index, graph.num_nodes, order)
        upward = np.where(graph.src > graph.dst, 1.0, -1.0)
        steps = forest_angles(graph.edge_index[:, tree], upward[tree], graph.num_nodes)
        closures = np.flatnonzero(~trusted)
        return cls(
            graph=graph,
            offset=wrap(graph.offset),
            weight=weight,
            trusted=trusted,
            closures=closures,
            steps=steps,
            tree=tree,
            neighbours=_neighbours(steps[graph.edge_index[:, closures]]),
        )

    def without_drift(self, drift: float) -> ClosureProblem:
        """The problem with `drift` radians per step taken from the trusted offsets."""
        step = self.steps[self.graph.src] - self.steps[self.graph.dst]
        return replace(self, offset=wrap(self.offset + np.where(self.trusted, drift * step, 0.0)))

    def start(self) -> FloatArray:
        """Angles (n,) along the tree."""
        edge_index = self.graph.edge_index[:, self.tree]
        return forest_angles(edge_index, self.offset[self.tree], self.graph.num_nodes)

    def residual(self, angles: FloatArray) -> FloatArray:
        """wrap(offset - θ[s] + θ[t]) (m,)."""
        return wrap(self.offset - angles[self.graph.src] + angles[self.graph.dst])

    def factor(self) -> LaplacianFactor:
        """A factorisation for all edges, to be updated with weights."""
        graph = self.graph
        return LaplacianFactor(graph.edge_index, graph.components, self.weight)

    def outlier_share(self, probability: FloatArray) -> FloatArray:
        """Prior outlier share (c,) of each closure: that of its neighbours, given who is an inlier.

        True closures lie in rows, where a trajectory follows an earlier stretch; false ones lie
        anywhere. With one share for the whole graph, a few of many false closures that agree by
        chance outweigh the only two true ones between the same stretches.
        """
        overall = 1.0 - probability.mean()
        near = (1.0 - probability[self.neighbours]).sum(axis=1)
        share = near + _PRIOR_CLOSURES * overall
        share /= self.neighbours.shape[1] + _PRIOR_CLOSURES
        return np.clip(share, _LEAST_SHARE, _MOST_SHARE)


def is_pose_graph(graph: MeasurementGraph) -> bool:
    """Whether trusted edges join nearly all nodes, and the other edges are few enough to factorise.

    Such a graph has a start without outliers, from which closures are predicted.
    """
    if graph.trusted is None or graph.num_edges > _MOST_EDGES_PER_NODE * graph.num_nodes:
        return False
    parts = component_labels(graph.edge_index[:, graph.trusted], graph.num_nodes).max() + 1
    return int(parts) <= 1 + _MOST_PARTS * graph.num_nodes


def _neighbours(ends: FloatArray) -> IntArray:
    """The closures (c, k) nearest to each, itself included, by the steps (2, c) of their ends."""
    places = np.stack([ends.min(axis=0), ends.max(axis=0)], axis=1)
    count = min(_NEIGHBOURS, len(places))
    if not count:
        return np.zeros((0, 1), dtype=np.int64)
    return cKDTree(places).query(places, k=count, p=1)[1].reshape(len(places), count)
