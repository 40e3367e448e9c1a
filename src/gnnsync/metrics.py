"""Metrics of estimated angles: error against the truth, and residuals of the measurements."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from gnnsync.angles import align_columns, circular_distance, match_columns, resultant, wrap
from gnnsync.errors import GraphError, check_array, check_choice
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import FloatArray, IntArray

# Least standard deviation of inliers: residuals of exact data would make the density infinite.
_LEAST_NOISE = 1e-6
# Median of |x| of a standard normal x.
_NORMAL_MEDIAN = 0.6745
# EM stops when neither fraction nor standard deviation changes by more than this.
_TOLERANCE = 1e-7
# Added to denominators that can underflow.
_TINY = 1e-300


def angular_mse(estimate: FloatArray, truth: FloatArray, *, either_sign: bool = False) -> float:
    """4 - 2·Σ singular values of Q, Q = (1/n) Σ rot(R_i)ᵀ rot(r_i), averaged over the k groups.

    The quantity of the paper's tables (appendix, "MSE calculation"). Both singular values of Q
    equal |mean exp(i(r - R))|, hence 4 - 4·|mean exp(i(r - R))|: the least mean squared Frobenius
    distance between the rotation matrices over global rotations. Range [0, 4]. The k columns are
    matched by optimal assignment.

    With `either_sign` each column counts as it is or negated, whichever is nearer to the truth, as
    the released code scores. The offsets determine the sign, so that this only lowers the error.
    """
    estimate, truth = _columns(estimate, truth)
    if either_sign:
        directions = np.exp(1j * truth).conj().T
        phases = np.exp(1j * estimate)
        fits = [np.abs(directions @ z) / len(truth) for z in (phases, phases.conj())]
        nearer = np.maximum(*fits)
        return float(max(4.0 - 4.0 * nearer[linear_sum_assignment(-nearer)].mean(), 0.0))
    order = match_columns(estimate, truth)
    agreement = [abs(resultant(estimate[:, j], truth[:, group])) for group, j in enumerate(order)]
    # |mean of unit numbers| can exceed 1 by rounding only.
    return float(np.mean([max(4.0 - 4.0 * a, 0.0) for a in agreement]))


def geodesic_mse(estimate: FloatArray, truth: FloatArray) -> float:
    """Mean squared geodesic distance (the paper's eq. 2 divided by n), averaged over the k groups.

    The best shift minimises a piecewise quadratic: it is the mean of the differences after
    unwrapping them at one of n cut points, all n of which are tried in O(n log n).
    """
    estimate, truth = _columns(estimate, truth)
    cost = np.array([[_geodesic_variance(r - t) for r in estimate.T] for t in truth.T])
    return float(cost[linear_sum_assignment(cost)].mean())


def set_agreement(angles: FloatArray) -> float:
    """Largest |mean exp(i(r_a - r_b))| over pairs of the k sets of angles (n, k).

    1 if two of the sets are the same up to a rotation. Independent sets of n angles have
    |mean exp(ir)|² up to 1/√n. NaN for k = 1.
    """
    phases = np.exp(1j * _as_columns("angles", angles))
    k = phases.shape[1]
    mutual = np.abs(phases.conj().T @ phases) / len(phases)
    return float(mutual[np.triu_indices(k, 1)].max()) if k > 1 else float("nan")


def upset(graph: MeasurementGraph, angles: FloatArray, norm: str = "mean") -> float:
    """Residual of the measurements, M_e = min over groups of |wrap(r_src - r_dst - offset_e)|.

    `norm="mean"` is the weighted mean of M; `norm="frobenius"` is ‖M‖_F / m, as in the paper's
    upset loss.
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


def cycle_inconsistency(graph: MeasurementGraph, group: IntArray | None = None) -> float:
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


def average_normalized_error(points: FloatArray, truth: FloatArray) -> float:
    """ANE = ‖P - P̂‖_F / ‖P - mean(P)‖_F for point clouds (n, 2)."""
    if points.shape != truth.shape:
        raise GraphError(f"points have shape {points.shape} and the truth {truth.shape}")
    scale = np.linalg.norm(truth - truth.mean(axis=0))
    if scale == 0:
        raise GraphError("all true points coincide: the ANE is undefined, as its divisor is 0")
    return float(np.linalg.norm(points - truth) / scale)


def aligned_error(estimate: FloatArray, truth: FloatArray) -> FloatArray:
    """Geodesic distance (n, k) of each angle from the truth, columns matched and aligned."""
    estimate, truth = _columns(estimate, truth)
    return circular_distance(align_columns(estimate, truth), truth)


def estimate_outliers(residual: FloatArray, max_iterations: int = 200) -> tuple[float, float]:
    """Fraction η of outliers and standard deviation σ of inliers from residuals (m,).

    Maximum likelihood for a mixture, by expectation maximisation: a residual is uniform on the
    circle with probability η and normal with standard deviation σ otherwise. The angles were
    fitted to all measurements, outliers included, so that η is underestimated on sparse graphs.
    """
    size = np.abs(np.asarray(residual, dtype=np.float64))
    if not len(size):
        return 0.0, 0.0
    uniform = 1.0 / (2.0 * np.pi)
    outliers = 0.5
    noise = max(float(np.median(size)) / _NORMAL_MEDIAN, _LEAST_NOISE)
    for _ in range(max_iterations):
        normal = np.exp(-0.5 * (size / noise) ** 2) / (np.sqrt(2.0 * np.pi) * noise)
        inlier = (1 - outliers) * normal / ((1 - outliers) * normal + outliers * uniform + _TINY)
        total = inlier.sum()
        new_outliers = 1.0 - float(total) / len(size)
        new_noise = max(float(np.sqrt((inlier * size**2).sum() / max(total, _TINY))), _LEAST_NOISE)
        change = max(abs(new_outliers - outliers), abs(new_noise - noise))
        outliers, noise = new_outliers, new_noise
        if change < _TOLERANCE:
            break
    return min(max(outliers, 0.0), 1.0), noise


def _geodesic_variance(difference: FloatArray) -> float:
    """min over c of mean wrap(difference - c)², exactly."""
    d = np.sort(wrap(difference))
    n = len(d)
    # Cutting the circle after the j smallest adds 2π to each of them; mean and mean square of
    # all j follow from prefix sums.
    lifted = np.arange(n)
    total = d.sum() + 2 * np.pi * lifted
    prefix = np.concatenate([[0.0], np.cumsum(d)[:-1]])
    square = (d**2).sum() + 4 * np.pi * prefix + 4 * np.pi**2 * lifted
    return float(max((square / n - (total / n) ** 2).min(), 0.0))


def _as_columns(name: str, angles: FloatArray) -> FloatArray:
    angles = check_array(name, angles)
    return angles[:, None] if angles.ndim == 1 else angles


def _columns(estimate: FloatArray, truth: FloatArray) -> tuple[FloatArray, FloatArray]:
    estimate, truth = _as_columns("estimate", estimate), _as_columns("truth", truth)
    if estimate.shape != truth.shape:
        raise GraphError(f"estimate has shape {estimate.shape}, the truth {truth.shape}: differ")
    return estimate, truth
