"""Anchors that contradict the measurements: by how much, and beyond which noise.

The angles are fitted once more without any anchor, by reweighted least squares from the held ones:
what the measurements say of the difference of two anchors is then free of the anchors. In each
component the anchors are compared with the one that agrees with most of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import gauss_newton_step
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.linalg.propagation import difference_variance
from gnnsync.metrics import estimate_outliers
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray, IntArray

# Scale of the residuals (radians) that count as inliers: first, factor per fit, last.
_SCALE, _DECAY, _LAST_SCALE = 1.0, 0.6, 1e-4
# The last scale is this many times the noise.
_LAST_NOISE = 3.0
# Accuracy of the fits, which need not be exact.
_STEPS, _ACCURACY = 100, 1e-8
# Standard deviations beyond which an anchor contradicts the measurements.
MOST_SIGMAS = 4.0
# Radians below which a contradiction is rounding.
_ROUNDING = 1e-6
# Anchors that are compared with all others, and those whose deviation is computed, at most.
_MOST_COMPARED, _MOST_JUDGED = 500, 20
# Contradictions beyond this count alike when the best anchor is chosen.
_CAP = 0.5


@dataclass(frozen=True)
class Contradiction:
    """A known angle that the measurements contradict.

    Args:
        node: number of the node.
        reference: number of the anchor that it is compared with.
        excess: known less measured angle, relative to the reference, in [-π, π).
        deviation: standard deviation of the measured one; NaN if nothing shows the noise.
    """

    node: int
    reference: int
    excess: float
    deviation: float


def find_contradictions(
    graph: MeasurementGraph, known: FloatArray, angles: FloatArray
) -> list[Contradiction]:
    """Anchors whose known angle is more than `MOST_SIGMAS` from the measured one, worst first.

    Args:
        graph: the measurements of one group.
        known: (n,) known angles, NaN elsewhere.
        angles: (n,) estimated angles.
    """
    anchors = np.flatnonzero(np.isfinite(known))
    label = graph.components[anchors]
    several = anchors[np.bincount(label)[label] > 1]
    if not len(several):
        return []
    operator = EdgeOperator(graph)
    free, weight, sigma = _free_fit(graph, operator, angles)
    excess = wrap(known - free)
    found = []
    for component in np.unique(graph.components[several]):
        own = several[graph.components[several] == component]
        reference = _centre(own, excess)
        apart = wrap(excess[own] - excess[reference])
        worst = own[np.argsort(-np.abs(apart))][:_MOST_JUDGED]
        for node in worst.tolist():
            by = float(wrap(excess[node] - excess[reference]))
            if abs(by) <= _ROUNDING:
                break
            spread = sigma * np.sqrt(difference_variance(graph, weight, node, reference))
            limit = NODE_TOLERANCE if np.isnan(spread) else MOST_SIGMAS * spread
            if abs(by) > max(limit, _ROUNDING):
                found.append(Contradiction(node, int(reference), by, float(spread)))
    return sorted(found, key=lambda one: -abs(one.excess))


def _free_fit(
    graph: MeasurementGraph, operator: EdgeOperator, angles: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Angles (n,) fitted without anchors, weights (m,), and σ of a measurement of weight 1.

    σ is NaN if there are no more measurements than angles.
    """
    scale, kept = _SCALE, graph.edge_weight
    while True:
        residual = graph.residual(angles)
        inlier = (scale**2 / (scale**2 + residual**2)) ** 2
        kept = graph.edge_weight * inlier
        step = gauss_newton_step(
            operator, kept[:, None], residual[:, None], max_iterations=_STEPS, tol=_ACCURACY
        )
        angles = angles + step[:, 0]
        scale *= _DECAY
        noise = estimate_outliers(np.abs(graph.residual(angles)))[1]
        if scale < max(_LAST_SCALE, _LAST_NOISE * noise):
            break
    residual = graph.residual(angles)
    freedom = float(inlier.sum()) - (graph.num_nodes - graph.num_components)
    if freedom < 1.0:
        return angles, kept, np.nan
    return angles, kept, float(np.sqrt((kept * residual**2).sum() / freedom))


def _centre(anchors: IntArray, excess: FloatArray) -> int:
    """The anchor that agrees best with the others; of two, the first."""
    some = anchors[:_MOST_COMPARED]
    apart = np.abs(wrap(excess[some][:, None] - excess[some][None, :]))
    return int(some[np.minimum(apart, _CAP).sum(axis=1).argmin()])
