"""How good angles are: against the truth, and against the measurements alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gnnsync.angles import align_columns, circular_distance, match_columns, resultant, wrap
from gnnsync.errors import GraphError, check_array, check_choice
from gnnsync.graph import MeasurementGraph

Angles = NDArray[np.float64]


def angular_mse(estimate: Angles, truth: Angles) -> float:
    """4 - 2·Σ singular values of Q, Q = (1/n) Σ rot(R_i)ᵀ rot(r_i), averaged over the k sets.

    The quantity of the paper's tables (appendix, "MSE calculation"). Both singular values of Q
    equal |mean exp(i(r - R))|, hence 4 - 4·|mean exp(i(r - R))|: the least mean squared Frobenius
    distance between the rotation matrices over global rotations. Range [0, 4]. The k columns are
    matched by optimal assignment.
    """
    estimate, truth = _columns(estimate, truth)
    order = match_columns(estimate, truth)
    agreement = [abs(resultant(estimate[:, j], truth[:, group])) for group, j in enumerate(order)]
    # |mean of unit numbers| can exceed 1 by rounding only.
    return float(np.mean([max(4.0 - 4.0 * a, 0.0) for a in agreement]))


def geodesic_mse(estimate: Angles, truth: Angles) -> float:
    """Mean squared geodesic distance (the paper's eq. 2 divided by n), averaged over the k sets.

    The best shift minimises a piecewise quadratic: it is the mean of the differences after
    unwrapping them at one of n cut points, all n of which are tried in O(n log n).
    """
    estimate, truth = _columns(estimate, truth)
    cost = np.array([[_geodesic_variance(r - t) for r in estimate.T] for t in truth.T])
    return float(cost[linear_sum_assignment(cost)].mean())


def upset(graph: MeasurementGraph, angles: Angles, norm: str = "mean") -> float:
    """Residual of the measurements, M_e = min over sets of the geodesic distance.

    `mean` is the weighted mean of M; `frobenius` is ‖M‖_F / t as in the paper's upset loss.
    """
    check_choice("norm", norm, ("mean", "frobenius"))
    columns = _as_columns("angles", angles)
    if len(columns) != graph.num_nodes:
        raise GraphError(f"angles have {len(columns)} rows: the graph has {graph.num_nodes} nodes")
    if not graph.num_edges:
        return 0.0
    residual = np.abs(graph.residual(columns)).min(axis=1)
    weight = graph.edge_weight / graph.edge_weight.mean()
    if norm == "mean":
        return float((weight * residual).mean())
    return float(np.sqrt((weight * residual**2).sum()) / graph.num_edges)


def cycle_inconsistency(graph: MeasurementGraph, group: NDArray[np.int64] | None = None) -> float:
    """Mean over triangles of min(S mod 2π, -S mod 2π), S the signed sum of the offsets.

    With `group` (m,) only triangles whose three edges share one group (not -1) count. NaN if
    there is no such triangle.
    """
    triangles = graph.triangles
    if group is not None:
        side = group[triangles.edges]
        kept = (side[:, 0] >= 0) & (side[:, 0] == side[:, 1]) & (side[:, 1] == side[:, 2])
        sums = triangles.sums(graph.offset)[kept]
    else:
        sums = triangles.sums(graph.offset)
    return float(np.abs(wrap(sums)).mean()) if len(sums) else float("nan")


def average_normalized_error(points: Angles, truth: Angles) -> float:
    """ANE = ‖P - P̂‖_F / ‖P - mean(P)‖_F for point clouds (n, 2)."""
    if points.shape != truth.shape:
        raise GraphError(f"points have shape {points.shape} and the truth {truth.shape}")
    spread = np.linalg.norm(truth - truth.mean(axis=0))
    if spread == 0:
        raise GraphError("all true points coincide: the ANE has no scale to be measured against")
    return float(np.linalg.norm(points - truth) / spread)


def aligned_error(estimate: Angles, truth: Angles) -> Angles:
    """Geodesic distance (n, k) of each angle from the truth, columns matched and aligned."""
    estimate, truth = _columns(estimate, truth)
    return circular_distance(align_columns(estimate, truth), truth)


def _geodesic_variance(difference: Angles) -> float:
    """min over c of mean wrap(difference - c)², exactly."""
    d = np.sort(wrap(difference))
    n = len(d)
    # Cutting the circle after the j smallest adds 2π to them: mean and mean square follow.
    lifted = np.arange(n)
    total = d.sum() + 2 * np.pi * lifted
    prefix = np.concatenate([[0.0], np.cumsum(d)[:-1]])
    square = (d**2).sum() + 4 * np.pi * prefix + 4 * np.pi**2 * lifted
    return float(max((square / n - (total / n) ** 2).min(), 0.0))


def _as_columns(name: str, angles: Angles) -> Angles:
    angles = check_array(name, angles)
    return angles[:, None] if angles.ndim == 1 else angles


def _columns(estimate: Angles, truth: Angles) -> tuple[Angles, Angles]:
    estimate, truth = _as_columns("estimate", estimate), _as_columns("truth", truth)
    if estimate.shape != truth.shape:
        raise GraphError(f"estimate has shape {estimate.shape}, the truth {truth.shape}: differ")
    return estimate, truth
