"""Confidence over several fits: with few closures the noise, and so every verdict, is in doubt."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from gnnsync.angles import wrap
from gnnsync.methods.robust.closures.fit import ClosureFit, believed_weight
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray


def averaged_confidence(
    problem: ClosureProblem, fits: list[ClosureFit], angles: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Probability (m,) that each edge is an inlier, and (n,) that each angle is right.

    Fits count by their evidence (Bayesian model averaging). In each the errors are normal, with the
    covariance of the least-squares problem in which an edge believed with probability p has p times
    its weight; an angle is right if it is within the tolerance, up to a common rotation.

    Args:
        problem: the closures.
        fits: at least one.
        angles: (n,) the final angles.
    """
    evidence = np.array([fit.evidence for fit in fits])
    share = np.exp(evidence - evidence.max())
    share /= share.sum()
    edges, nodes = np.zeros(problem.graph.num_edges), np.zeros(problem.graph.num_nodes)
    factor = problem.factor()
    for fit, part in zip(fits, share, strict=True):
        factor.update(believed_weight(problem, fit.probability) / fit.scales.variance(problem))
        deviation = np.sqrt(np.maximum(factor.variance(), np.finfo(float).tiny))
        gap = fit.angles - angles
        gap = wrap(gap - np.angle(np.exp(1j * gap).mean()))
        right = ndtr((NODE_TOLERANCE - gap) / deviation)
        right -= ndtr((-NODE_TOLERANCE - gap) / deviation)
        edges += part * fit.probability
        nodes += part * right
    return np.clip(edges, 0.0, 1.0), np.clip(nodes, 0.0, 1.0)
