"""How far noise on the edges moves the angles."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.robust.noise.mixture import LAPLACE, SIGMA_FLOOR, MixtureFit
from gnnsync.topology import Triangles, draw_triangles
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Part of the drawn spread that was found as error on maps (random discs, rectangles, letters at
# seven noise levels: from 0.21 to 0.38). On a map a point moves the two patches that hold it
# either way, by where it lies in them; here it moves all alike.
SHARE = 0.28
# Draws of the noise from which the spread of the angles is estimated.
_DRAWS, _SHARED_DRAWS = 24, 12
# Conjugate gradient steps per draw: enough but for long chains, whose spread is then too small.
_SOLVE_STEPS = 500
# An edge list longer than this has the spread of each node estimated from its own edges.
_LARGE = 200_000
# Triangles beyond which some are drawn.
_MOST_TRIANGLES = 2_000_000


def independent_spread(
    graph: MeasurementGraph,
    fit: MixtureFit,
    weight: FloatArray,
    main: BoolArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Standard deviation (n,) of the angles, relative to the nodes of `main` (n,).

    Least squares is linear in the noise: with noise of variance σ²/w drawn on every believed edge,
    the angles move as they would with other noise of the same size. For Student's t with ν degrees
    of freedom σ² is (ν + 3)/(ν + 1) times as large, the inverse of its Fisher information.
    """
    heavy = 1.0 if np.isinf(fit.dof) or fit.dof == LAPLACE else (fit.dof + 3.0) / (fit.dof + 1.0)
    sigma = max(fit.sigma, SIGMA_FLOOR) * np.sqrt(heavy)
    if graph.num_edges > _LARGE:
        count = np.bincount(graph.edge_index.ravel(), np.tile(weight, 2), graph.num_nodes)
        return np.asarray(sigma * np.sqrt(2.0 / np.maximum(count, 0.5)))
    operator = EdgeOperator(graph)
    trust = np.where(weight > 0.01, weight, 0.0)
    square = np.zeros(graph.num_nodes)
    for _ in range(_DRAWS):
        noise = sigma * rng.standard_normal(graph.num_edges) / np.sqrt(np.maximum(weight, 0.01))
        moved = least_squares_shift(operator, trust, noise, tol=1e-4, max_iterations=_SOLVE_STEPS)
        square += (moved - moved[main].mean()) ** 2
    return np.sqrt(square / _DRAWS) + SIGMA_FLOOR


def shared_spread(
    graph: MeasurementGraph, weight: FloatArray, residual: FloatArray, rng: np.random.Generator
) -> FloatArray:
    r"""Standard deviation (n,) of the angles if the noise of edges comes from common neighbours.

    Offsets between overlapping patches of a map have the noise of the points they share: with
    :math:`g_{ix}` the noise of point x in patch i,

    .. math:: ε_{ij} = \frac{1}{|N_i ∩ N_j|} \sum_{x ∈ N_i ∩ N_j} (g_{ix} - g_{jx}).

    Unlike independent noise it does not average out over a node's edges, and the part common to
    all of them is no residual but moves the angle. Such noise is drawn, least squares solved with
    it, and the result scaled so that the median residual is the measured one.

    Args:
        graph: the measurements.
        weight: (m,) how far an edge is believed.
        residual: (m,) of the solution.
        rng: of the drawn noise.
    """
    triangles = draw_triangles(graph.edge_index, graph.num_nodes, _MOST_TRIANGLES, rng)
    side, near, far = _arcs(graph, triangles)
    count = np.maximum(np.bincount(side, minlength=graph.num_edges), 1)
    operator = EdgeOperator(graph)
    square, size = np.zeros(graph.num_nodes), 0.0
    for _ in range(_SHARED_DRAWS):
        drawn = rng.standard_normal(2 * graph.num_edges)
        noise = np.bincount(side, drawn[near] - drawn[far], graph.num_edges) / count
        moved = least_squares_shift(operator, weight, noise, tol=1e-4, max_iterations=_SOLVE_STEPS)
        moved -= moved.mean()
        square += moved**2
        size += weighted_median(np.abs(noise - moved[graph.src] + moved[graph.dst]), weight)
    measured = weighted_median(np.abs(residual), weight)
    return SHARE * measured * np.sqrt(square * _SHARED_DRAWS) / max(size, np.finfo(float).tiny)


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The value (m,) below which half of the weight (m,) lies."""
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(below, below[-1] / 2)]])


def _arcs(graph: MeasurementGraph, triangles: Triangles) -> tuple[IntArray, IntArray, IntArray]:
    """For the 3T sides (s, t) of triangles: the edge, and the arcs from s and t to the third node.

    An arc is numbered as its edge e if it starts at the source, else m + e.
    """
    src, dst, m = graph.src, graph.dst, graph.num_edges
    parts = []
    for k in range(3):
        side, one, two = (triangles.edges[:, (k + step) % 3] for step in range(3))
        at_source = (src[one] == src[side]) | (dst[one] == src[side])
        near, far = np.where(at_source, one, two), np.where(at_source, two, one)
        near = np.where(src[near] == src[side], near, near + m)
        far = np.where(src[far] == dst[side], far, far + m)
        parts.append((side, near, far))
    side, near, far = (np.concatenate(column) for column in zip(*parts, strict=True))
    return side, near, far
