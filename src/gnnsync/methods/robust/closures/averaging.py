"""Confidence over several fits: with few closures the noise, and so every verdict, is in doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from gnnsync.angles import wrap
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.methods.robust.closures.fit import ClosureFit, believed_weight
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray

# Steps in which the variances of trusted edges and closures are scaled to the residuals, the most
# by which each scales them, the redundancy that this needs, and nodes beyond which it takes long.
_COMPONENT_STEPS, _MOST_RATIO, _LEAST_REDUNDANCY, _MOST_NODES = 6, 10.0, 5.0, 5_000


@dataclass(frozen=True, eq=False)
class AveragedFit:
    """What several fits say together; names and shapes as in `Solution`, for one group."""

    edge_confidence: FloatArray
    node_confidence: FloatArray
    node_deviation: FloatArray
    edge_precision: FloatArray


def averaged_fit(
    problem: ClosureProblem, fits: list[ClosureFit], angles: FloatArray
) -> AveragedFit:
    """Probability that each edge is an inlier and that each angle is right, and its deviation.

    Fits count by their evidence (Bayesian model averaging). In each the errors are normal, with the
    covariance of the least-squares problem in which an edge believed with probability p has p times
    its weight; an angle is right if it is within the tolerance, up to a common rotation.

    Args:
        problem: the closures.
        fits: at least one, the best first; the precisions are those of it.
        angles: (n,) the final angles.
    """
    evidence = np.array([fit.evidence for fit in fits])
    share = np.exp(evidence - evidence.max())
    share /= share.sum()
    edges, nodes = np.zeros(problem.graph.num_edges), np.zeros(problem.graph.num_nodes)
    square, precisions = np.zeros(problem.graph.num_nodes), []
    factor = problem.factor()
    for fit, part in zip(fits, share, strict=True):
        variance = fit.scales.variance(problem) if fit.variance is None else fit.variance
        precisions.append(believed_weight(problem, fit.probability) / variance)
        factor.update(precisions[-1])
        deviation = np.sqrt(np.maximum(factor.variance(), np.finfo(float).tiny))
        gap = fit.angles - angles
        gap = wrap(gap - np.angle(np.exp(1j * gap).mean()))
        right = ndtr((NODE_TOLERANCE - gap) / deviation)
        right -= ndtr((-NODE_TOLERANCE - gap) / deviation)
        edges += part * fit.probability
        nodes += part * right
        square += part * gap**2
    precision = _rescaled(problem, factor, fits[0], precisions[0])
    factor.update(precision)
    square += np.maximum(factor.variance(), 0.0)
    return AveragedFit(
        np.clip(edges, 0.0, 1.0),
        np.clip(nodes, 0.0, 1.0),
        np.sqrt(square)[:, None],
        precision[:, None],
    )


def _rescaled(
    problem: ClosureProblem, factor: LaplacianFactor, fit: ClosureFit, precision: FloatArray
) -> FloatArray:
    r"""Precisions (m,) of trusted edges and of closures, each scaled to agree with its residuals.

    Estimation of variance components (Helmert): with h the leverages, the weighted squares of the
    residuals of the edges of a kind that are believed should add up to :math:`\sum (1 - h)`. The
    fit itself matches medians, which say little of trusted edges that few closures check.
    """
    believed, angles = fit.probability > 0.5, fit.angles
    for _ in range(_COMPONENT_STEPS if problem.graph.num_nodes <= _MOST_NODES else 0):
        factor.update(precision)
        angles = angles + factor.least_squares(problem.residual(angles))
        squares = precision * problem.residual(angles) ** 2
        rest = np.maximum(1.0 - precision * factor.resistance(), 0.0)
        precision = precision.copy()
        for kind in (problem.trusted, ~problem.trusted):
            redundancy = float(rest[kind & believed].sum())
            if redundancy > _LEAST_REDUNDANCY:
                ratio = float(squares[kind & believed].sum()) / redundancy
                precision[kind] /= np.clip(ratio, 1.0 / _MOST_RATIO, _MOST_RATIO)
    return precision
