"""Error propagation: how far noise on the edges moves the angles."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.robust import LARGE_GRAPH_EDGES
from gnnsync.methods.robust.noise.law import LAPLACE, SIGMA_FLOOR
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.topology import Triangles
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import check_time

# Error found on maps, as a part of that sampled by `shared_noise_error` (random discs, rectangles
# and letters at seven noise levels: from 0.21 to 0.38; `python -m benchmarks.confidence --fit`). On
# a map a point moves the two patches that hold it in different directions, depending on its place
# in them; in the model it moves all alike.
SHARED_NOISE_SCALE = 0.28

# Samples of independent and of shared noise: relative error of the deviation about 1/√(2·samples).
_SAMPLES, _SHARED_SAMPLES = 24, 12
# Conjugate gradient steps and accuracy per sample: enough except for long chains, whose error is
# then underestimated.
_SOLVE_STEPS, _SOLVE_ACCURACY = 500, 1e-4
# Edges of less weight do not hold a node.
_LEAST_WEIGHT = 0.01
# Inlier edges that a node has at least in the estimate for large graphs.
_LEAST_INLIERS = 0.5
# Triangles beyond which a sample of them is used: some hundred megabytes.
_MOST_TRIANGLES = 2_000_000


def independent_noise_error(
    graph: MeasurementGraph,
    fit: MixtureFit,
    weight: FloatArray,
    main: BoolArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Standard deviation (n,) of the angles relative to the mean of the nodes `main` (n,).

    Least squares is linear in the noise: noise of variance σ²/w sampled on every edge of weight w
    (m,) moves the angles as much as other noise of the same size; see `location_variance`.
    """
    sigma = np.sqrt(location_variance(fit))
    if graph.num_edges > LARGE_GRAPH_EDGES:
        count = np.bincount(graph.edge_index.ravel(), np.tile(weight, 2), graph.num_nodes)
        return np.asarray(sigma * np.sqrt(2.0 / np.maximum(count, _LEAST_INLIERS)))
    operator = EdgeOperator(graph)
    trust = np.where(weight > _LEAST_WEIGHT, weight, 0.0)
    root = np.sqrt(np.maximum(weight, _LEAST_WEIGHT))
    square = np.zeros(graph.num_nodes)
    for _ in range(_SAMPLES):
        check_time()
        noise = sigma * rng.standard_normal(graph.num_edges) / root
        moved = _solve(operator, trust, noise)
        square += (moved - moved[main].mean()) ** 2
    return np.sqrt(square / _SAMPLES) + SIGMA_FLOOR


def location_variance(fit: MixtureFit) -> float:
    """Variance that an edge of mean weight contributes to an angle: inverse Fisher information.

    σ² for normal noise and for Laplace's law of scale σ, σ²(ν + 3)/(ν + 1) for Student's t.
    """
    heavy = 1.0 if np.isinf(fit.dof) or fit.dof == LAPLACE else (fit.dof + 3.0) / (fit.dof + 1.0)
    return heavy * max(fit.sigma, SIGMA_FLOOR) ** 2


def shared_noise_error(
    graph: MeasurementGraph, weight: FloatArray, residual: FloatArray, rng: np.random.Generator
) -> FloatArray:
    r"""Standard deviation (n,) of the angles if the noise of edges comes from common neighbours.

    Offsets between overlapping patches of a map have the noise of the points they share: with
    :math:`g_{ix}` the noise of point x in patch i,

    .. math:: ε_{ij} = \frac{1}{|N_i ∩ N_j|} \sum_{x ∈ N_i ∩ N_j} (g_{ix} - g_{jx}).

    Unlike independent noise it does not average out over a node's edges, and the part common to
    all of them leaves no residual but moves the angle. Such noise is sampled, least squares solved
    with it, and the result scaled so that the median residual is the measured one.

    Args:
        graph: the measurements.
        weight: (m,) probability that an edge is an inlier, times its weight.
        residual: (m,) of the solution.
        rng: for the sampled noise.
    """
    triangles = graph.triangles.sample(_MOST_TRIANGLES, rng)
    side, near, far = triangle_arcs(graph, triangles)
    count = np.maximum(np.bincount(side, minlength=graph.num_edges), 1)
    operator = EdgeOperator(graph)
    square, size = np.zeros(graph.num_nodes), 0.0
    for _ in range(_SHARED_SAMPLES):
        check_time()
        sampled = rng.standard_normal(2 * graph.num_edges)
        noise = np.bincount(side, sampled[near] - sampled[far], graph.num_edges) / count
        moved = _solve(operator, weight, noise)
        moved -= moved.mean()
        square += moved**2
        size += weighted_median(np.abs(noise - moved[graph.src] + moved[graph.dst]), weight)
    scale = SHARED_NOISE_SCALE * weighted_median(np.abs(residual), weight)
    return scale * np.sqrt(square * _SHARED_SAMPLES) / max(size, np.finfo(float).tiny)


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The value (m,) below which half of the weight (m,) lies."""
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(below, below[-1] / 2)]])


def triangle_arcs(
    graph: MeasurementGraph, triangles: Triangles
) -> tuple[IntArray, IntArray, IntArray]:
    """For the 3T sides (s, t) of triangles: the edge, and the arcs from s and t to the third node.

    An arc is numbered as its edge e if it starts at the source, else m + e.
    """
    src, dst, m = graph.src, graph.dst, graph.num_edges
    parts = []
    for corner in range(3):
        side, one, two = (triangles.edges[:, (corner + step) % 3] for step in range(3))
        at_source = (src[one] == src[side]) | (dst[one] == src[side])
        near, far = np.where(at_source, one, two), np.where(at_source, two, one)
        near = np.where(src[near] == src[side], near, near + m)
        far = np.where(src[far] == dst[side], far, far + m)
        parts.append((side, near, far))
    side, near, far = (np.concatenate(column) for column in zip(*parts, strict=True))
    return side, near, far


def _solve(operator: EdgeOperator, weight: FloatArray, noise: FloatArray) -> FloatArray:
    return least_squares_shift(
        operator, weight, noise, tol=_SOLVE_ACCURACY, max_iterations=_SOLVE_STEPS
    )
