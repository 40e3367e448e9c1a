r"""Anchors as hard constraints for k = 1: all anchored nodes become one reference node.

With θ_i = θ_R + α_i at an anchor and α_i = 0 elsewhere, a measurement θ_s - θ_t = a is
φ_s - φ_t = a - α_s + α_t, where φ is the angle of the reference R at all anchors. Measurements
between two anchors say nothing more and are left out. A method that solves the contracted graph
solves the whole one with the anchors held exactly, and uses each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import FloatArray, IntArray

# Number of the reference node.
REFERENCE = 0


@dataclass(frozen=True, eq=False)
class Contraction:
    """A graph whose anchors are one node.

    Args:
        graph: the contracted graph; node 0 is the reference.
        node: (n,) its node for each node of the whole graph.
        edges: its edges, by their numbers in the whole graph.
        known: (n,) known angles, NaN elsewhere.
    """

    graph: MeasurementGraph
    node: IntArray
    edges: IntArray
    known: FloatArray

    def expand(self, angles: FloatArray) -> FloatArray:
        """Angles (n,) of the whole graph from those of the contracted one.

        The component of the reference is rotated so that the anchors have their known angles.
        """
        rotation = np.where(self.graph.components == self.graph.components[REFERENCE], 1.0, 0.0)
        rotated = angles - angles[REFERENCE] * rotation
        held = np.isfinite(self.known)
        return reduce_angle(np.where(held, self.known, rotated[self.node]))

    def reduce(self, angles: FloatArray) -> FloatArray:
        """Angles of the contracted graph from angles (n,) of the whole one."""
        reduced = np.zeros(self.graph.num_nodes)
        free = ~np.isfinite(self.known)
        reduced[self.node[free]] = angles[free]
        return reduced


def contract(graph: MeasurementGraph, known: FloatArray) -> Contraction:
    """The graph with all nodes of known angle (n,; NaN elsewhere) in one."""
    held = np.isfinite(known)
    node = np.where(held, REFERENCE, np.cumsum(~held))
    index = node[graph.edge_index]
    edges = np.flatnonzero(index[0] != index[1])
    shift = np.where(held, known, 0.0)
    part = MeasurementGraph(
        index[:, edges],
        (graph.offset - shift[graph.src] + shift[graph.dst])[edges],
        int((~held).sum()) + 1,
        weight=None if graph.weight is None else graph.weight[edges],
        trusted=None if graph.trusted is None else graph.trusted[edges],
    )
    return Contraction(part, node, edges, known)
