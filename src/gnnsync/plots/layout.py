"""Positions of nodes in the plane: given coordinates, or a layout computed from the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from gnnsync.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from gnnsync.graph import MeasurementGraph

# Most nodes of a component that is laid out by springs, whose forces act between all pairs.
_SPRING_NODES = 600
_SPRING_ROUNDS = 120
# Power iterations of the layout by slow modes of the random walk: they bound its time to about
# three seconds at a million edges.
_POWERS = 120
# Components that are drawn apart; smaller ones share a strip below.
_PACKED = 12
# Gap between components, in units of the side of their square.
_GAP = 0.15


def node_positions(graph: MeasurementGraph) -> FloatArray:
    """Positions (n, 2) of all nodes, the components side by side, in squares by their size.

    Small components are laid out by springs (Fruchterman and Reingold 1991), large ones by the two
    slowest modes of the random walk, approached by power iteration in O(m) each. The result depends
    on the graph alone.
    """
    label = graph.components
    size = np.bincount(label)
    order = np.argsort(-size, kind="stable")
    position = np.zeros((graph.num_nodes, 2))
    node_order = np.argsort(label, kind="stable")
    first = np.concatenate([[0], np.cumsum(size)])
    parts = [node_order[first[c] : first[c + 1]] for c in order[:_PACKED].tolist()]
    corner, row, height = np.zeros(2), 0.0, 0.0
    width = 1.0 if len(size) == 1 else 1.8
    for nodes in parts:
        side = max(np.sqrt(len(nodes) / size.max()), 0.12)
        if corner[0] + side > width + 1e-9 and corner[0] > 0.0:
            row -= height + _GAP
            corner, height = np.array([0.0, row]), 0.0
        inside = _in_unit_square(_component_layout(graph, nodes))
        position[nodes] = corner + np.array([0.0, -side]) + side * inside
        corner = corner + np.array([side + _GAP, 0.0])
        height = max(height, side)
    rest = np.flatnonzero(~np.isin(label, order[:_PACKED]))
    if len(rest):
        # A strip of the nodes of all further components, in their order.
        across = int(np.ceil(np.sqrt(8.0 * len(rest))))
        place = np.arange(len(rest))
        step = width / across
        position[rest, 0] = place % across * step
        position[rest, 1] = row - height - _GAP - place // across * step
    return position


def _component_layout(graph: MeasurementGraph, nodes: IntArray) -> FloatArray:
    """Positions (c, 2) of the nodes of one component, at any scale."""
    n = len(nodes)
    if n == 1:
        return np.zeros((1, 2))
    adjacency = _adjacency(graph)[nodes][:, nodes]
    start = slow_modes(adjacency)
    return springs(adjacency, start) if n <= _SPRING_NODES else start


def _adjacency(graph: MeasurementGraph) -> sp.csr_array:
    n, (src, dst) = graph.num_nodes, graph.edge_index
    ends = np.concatenate([src, dst]), np.concatenate([dst, src])
    table = sp.csr_array((np.ones(2 * graph.num_edges), ends), shape=(n, n))
    table.sum_duplicates()
    table.data[:] = 1.0
    return table


def slow_modes(adjacency: sp.csr_array) -> FloatArray:
    """Positions (n, 2) by two slow modes of the lazy random walk on a connected graph."""
    n = adjacency.shape[0]
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    # Any start does; this one is the same for every run.
    x = np.random.default_rng(0).standard_normal((n, 2))
    weight = degree / degree.sum()
    for _ in range(_POWERS):
        x = 0.5 * (x + (adjacency @ x) / degree[:, None])
        x -= weight @ x
        x[:, 1] -= x[:, 0] * ((weight * x[:, 0]) @ x[:, 1]) / max(weight @ x[:, 0] ** 2, 1e-300)
        x /= np.maximum(np.sqrt(weight @ x**2), 1e-300)
    # Far nodes would leave no room for the others: distances are compressed beyond the typical.
    return np.arcsinh(x)


def springs(adjacency: sp.csr_array, start: FloatArray) -> FloatArray:
    """Positions (n, 2) where springs along the edges balance a repulsion between all nodes."""
    n = len(start)
    joined = adjacency.toarray() > 0
    # Nodes of equal neighbours start at one point: they are moved apart a little.
    x = start + 1e-3 * np.random.default_rng(1).standard_normal((n, 2))
    x = (x - x.mean(axis=0)) / max(float(np.ptp(x)), 1e-9)
    natural = 1.0 / np.sqrt(n)
    for step in np.linspace(0.1, 0.002, _SPRING_ROUNDS):
        apart = x[:, None, :] - x[None, :, :]
        distance = np.maximum(np.sqrt(np.square(apart).sum(axis=2)), 1e-4)
        force = natural**2 / distance**2 - joined * distance / natural
        move = (apart * force[:, :, None]).sum(axis=1)
        length = np.maximum(np.sqrt(np.square(move).sum(axis=1)), 1e-9)
        x = x + move * (np.minimum(length, step) / length)[:, None]
    return x


def _in_unit_square(x: FloatArray) -> FloatArray:
    """The positions moved and scaled into [0, 1]², with their proportions."""
    low, high = x.min(axis=0), x.max(axis=0)
    extent = float((high - low).max())
    if extent == 0.0:
        return np.full_like(x, 0.5)
    return 0.5 + (x - 0.5 * (low + high)) / extent
