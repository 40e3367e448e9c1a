"""Error propagation: variances of angles from the precisions of the measurements between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.linalg.laplacian import laplacian_solve, least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.topology import component_labels
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# Graphs of at most this many nodes are inverted as dense matrices: a fifth of a second.
_DENSE_NODES = 800
# Sparse graphs are factorised: at most so many edges per node, and so many nodes.
_SPARSE_DEGREE, _SPARSE_NODES = 3, 100_000
# Others are sampled: number of samples (relative error of a deviation 1/√(2·samples)), and steps
# and accuracy of conjugate gradients for each.
_SAMPLES, _SOLVE_STEPS, _SOLVE_ACCURACY = 24, 300, 1e-3
# Fewest samples, where the time limit ends them.
_FEWEST_SAMPLES = 6
# Beyond this many edges the edges at a node alone are counted.
_MOST_EDGES = 200_000
# Precisions below this part of the largest hold nothing.
_NEGLIGIBLE = 1e-6
# Accuracy of the difference of two nodes.
_EXACT = 1e-8


def angle_variance(
    graph: MeasurementGraph,
    precision: FloatArray,
    rng: np.random.Generator,
    held: BoolArray | None = None,
) -> FloatArray:
    """Variance (n,) of least-squares angles about the mean of their component.

    The diagonal of the pseudo-inverse of the Laplacian weighted by `precision` (m,), in 1/rad². NaN
    for nodes that no precision joins to the largest part of the graph. Exact but for large dense
    graphs: there from samples of the noise and, beyond 200,000 edges, from the edges at each node
    alone, which is right where the graph mixes fast.

    Args:
        graph: the measurements, connected.
        precision: (m,) inverse variance of each; 0 for outliers.
        rng: for sampled noise.
        held: (n,) nodes whose angles are known: the variance is that relative to them.
    """
    usable = _usable(precision)
    part = component_labels(graph.edge_index[:, usable], graph.num_nodes)
    inside = _reached(part, held)
    if not usable.any() or inside.sum() < 2:
        return np.where(inside, 0.0, np.nan)
    nodes = np.flatnonzero(inside)
    position = np.full(graph.num_nodes, -1)
    position[nodes] = np.arange(len(nodes))
    kept = np.flatnonzero(usable & inside[graph.src])
    within = MeasurementGraph(position[graph.edge_index[:, kept]], graph.offset[kept], len(nodes))
    known = None if held is None or not held.any() else held[nodes]
    found = np.full(graph.num_nodes, np.nan)
    found[nodes] = np.maximum(_variance(within, precision[kept], known, rng), 0.0)
    return found


def difference_variance(
    graph: MeasurementGraph, precision: FloatArray, one: int, two: int
) -> float:
    """Variance of the difference of the angles of two nodes: their effective resistance.

    NaN if no precision (m,) joins them.
    """
    if one == two:
        return 0.0
    usable = _usable(precision)
    part = component_labels(graph.edge_index[:, usable], graph.num_nodes)
    if part[one] != part[two]:
        return float("nan")
    right = np.zeros(graph.num_nodes)
    right[one], right[two] = 1.0, -1.0
    weight = np.where(usable, precision, 0.0)
    x = laplacian_solve(EdgeOperator(graph), weight, right, tol=_EXACT)
    return float(x[one] - x[two])


def _usable(precision: FloatArray) -> BoolArray:
    most = precision.max(initial=0.0)
    return np.asarray((precision > _NEGLIGIBLE * most) & (precision > 0.0))


def _reached(part: NDArray[np.int32], held: BoolArray | None) -> BoolArray:
    """Nodes (n,) in the largest part, or in a part with a held node."""
    if held is not None and held.any():
        return np.isin(part, part[held])
    return np.asarray(part == np.bincount(part).argmax())


def _variance(
    graph: MeasurementGraph,
    precision: FloatArray,
    held: BoolArray | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Variance (n,) in a graph whose edges all have a precision (m,)."""
    n, m = graph.num_nodes, graph.num_edges
    if n <= _DENSE_NODES:
        return _dense(graph, precision, held)
    first = held is not None and bool(held[0]) and held.sum() == 1
    if (held is None or first) and m <= _SPARSE_DEGREE * n and n <= _SPARSE_NODES:
        factor = LaplacianFactor(graph.edge_index, graph.components, precision)
        return factor.variance() if held is None else factor.grounded_variance()
    if m <= _MOST_EDGES and (held is None or held.sum() == 1):
        return _sampled(graph, precision, held, rng)
    own = 1.0 / np.bincount(graph.edge_index.ravel(), np.tile(precision, 2), n)
    return own if held is None else np.where(held, 0.0, own)


def _dense(graph: MeasurementGraph, precision: FloatArray, held: BoolArray | None) -> FloatArray:
    n = graph.num_nodes
    matrix = np.zeros((n, n))
    for a, b in ((graph.src, graph.dst), (graph.dst, graph.src)):
        np.add.at(matrix, (a, b), -precision)
    matrix[np.arange(n), np.arange(n)] = -matrix.sum(axis=1)
    if held is not None:
        free, found = np.flatnonzero(~held), np.zeros(n)
        found[free] = np.linalg.inv(matrix[np.ix_(free, free)]).diagonal()
        return found
    # With a constant added, the Laplacian is invertible and its inverse differs by a constant.
    typical = float(matrix.diagonal().mean())
    return np.asarray(np.linalg.inv(matrix + typical / n).diagonal() - 1.0 / (typical * n))


def _sampled(
    graph: MeasurementGraph,
    precision: FloatArray,
    held: BoolArray | None,
    rng: np.random.Generator,
) -> FloatArray:
    """From samples of the noise: fewer, or NaN if very few, where the time limit is reached."""
    operator, square, drawn = EdgeOperator(graph), np.zeros(graph.num_nodes), 0
    while drawn < _SAMPLES and not time_is_up():
        drawn += 1
        noise = rng.standard_normal(graph.num_edges) / np.sqrt(precision)
        moved = least_squares_shift(
            operator, precision, noise, tol=_SOLVE_ACCURACY, max_iterations=_SOLVE_STEPS
        )
        square += (moved - (moved if held is None else moved[held]).mean()) ** 2
    return square / drawn if drawn >= _FEWEST_SAMPLES else np.full(graph.num_nodes, np.nan)
