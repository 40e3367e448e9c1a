"""GTSAM beside gnnsync: Levenberg–Marquardt, and graduated non-convexity (GNC).

GTSAM is a development dependency; it is imported where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnnsync.pose_graph import PoseGraph
from gnnsync.typing import FloatArray

# Standard deviation that holds the first pose where it is.
_FIXED = 1e-6


@dataclass(frozen=True, eq=False)
class Optimised:
    """Poses (n, 3), their cost ½ Σ rᵀ Ω r, and weights (m,) of the measurements."""

    poses: FloatArray
    cost: float
    weight: FloatArray


def optimum(graph: PoseGraph, initial: FloatArray) -> Optimised:
    """Levenberg–Marquardt on all measurements, from poses (n, 3)."""
    import gtsam  # a development dependency

    factors = _factors(graph, initial)
    optimizer = gtsam.LevenbergMarquardtOptimizer(factors, _values(initial))
    result = optimizer.optimize()
    return Optimised(_poses(result, len(initial)), factors.error(result), np.ones(graph.num_edges))


def gnc(graph: PoseGraph, initial: FloatArray) -> Optimised:
    """GNC with truncated least squares, its defaults, and the trusted edges as known inliers."""
    import gtsam  # a development dependency

    factors = _factors(graph, initial)
    parameters = gtsam.GncLMParams()
    parameters.setLossType(gtsam.GncLossType.TLS)
    # The prior that holds the first pose comes first.
    trusted = 1 + np.flatnonzero(graph.rotations.edge_trusted)
    parameters.setKnownInliers([0, *trusted.tolist()])
    optimizer = gtsam.GncLMOptimizer(factors, _values(initial), parameters)
    result = optimizer.optimize()
    weight = np.asarray(optimizer.getWeights())[1:]
    return Optimised(_poses(result, len(initial)), factors.error(result), weight)


def _factors(graph: PoseGraph, initial: FloatArray) -> Any:
    import gtsam  # a development dependency

    factors = gtsam.NonlinearFactorGraph()
    hold = gtsam.noiseModel.Isotropic.Sigma(3, _FIXED)
    factors.add(gtsam.PriorFactorPose2(0, gtsam.Pose2(*initial[0]), hold))
    start, end = graph.rotations.dst.tolist(), graph.rotations.src.tolist()
    measured = np.column_stack([graph.translation, graph.measured_heading])
    for i, j, pose, information in zip(start, end, measured, graph.information, strict=True):
        noise = gtsam.noiseModel.Gaussian.Information(information)
        factors.add(gtsam.BetweenFactorPose2(i, j, gtsam.Pose2(*pose), noise))
    return factors


def _values(poses: FloatArray) -> Any:
    import gtsam  # a development dependency

    values = gtsam.Values()
    for i, pose in enumerate(poses):
        values.insert(i, gtsam.Pose2(*pose))
    return values


def _poses(values: Any, n: int) -> FloatArray:
    found = (values.atPose2(i) for i in range(n))
    return np.array([[pose.x(), pose.y(), pose.theta()] for pose in found])
