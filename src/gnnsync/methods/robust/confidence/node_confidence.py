"""Probability that a node's angle is within `NODE_TOLERANCE` of the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf, expit, logit

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust import LARGE_GRAPH_EDGES
from gnnsync.methods.robust.confidence.bootstrap import bootstrap
from gnnsync.methods.robust.confidence.error_propagation import shared_noise_error
from gnnsync.methods.robust.confidence.local import local_probability
from gnnsync.methods.robust.geometric.regions import is_extended
from gnnsync.methods.robust.noise.law import SIGMA_FLOOR
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray, IntArray

# Weights of the columns of `regressors`, fitted by `python -m benchmarks.confidence --set develop
# --fit`.
WEIGHTS = {
    "posterior": (0.06, 0.90, 0.19, -0.22),
    "local": (0.69, 0.68, -1.16),
    "extended": (0.12, 0.10, 0.28, 0.47, -0.23),
}
# Evidence per angle above this adds nothing.
MOST_EVIDENCE = 4.0
# Probabilities are kept this far from 0 and 1 in the regression.
LEAST_DOUBT = 1e-3

# Noise from which wrong angles can agree by chance: the local probability needs calibration.
_NOISY = 0.05


@dataclass(frozen=True, eq=False)
class Support:
    """What is known of angles besides the fit with which they are assessed.

    Args:
        evidence: of the fit before open nodes were placed; that of the fit itself if not given.
        mass: (n,) posterior probability of being near the truth, if belief propagation was run.
        resample: whether the bootstrap is used on extended graphs.
    """

    evidence: float | None = None
    mass: FloatArray | None = None
    resample: bool = True

    def of_part(self, nodes: IntArray, fit: MixtureFit) -> Support:
        """That of some nodes, with their part of the evidence; `fit` is that of all nodes."""
        evidence = fit.evidence if self.evidence is None else self.evidence
        mass = None if self.mass is None else self.mass[nodes]
        return Support(evidence * len(nodes) / len(fit.angles), mass, self.resample)


def node_confidence(
    graph: MeasurementGraph,
    fit: MixtureFit,
    rng: np.random.Generator,
    support: Support | None = None,
) -> FloatArray:
    """Probability (n,) that a node's angles are within `NODE_TOLERANCE` of the truth.

    The product over the groups of `local_probability`. With noise on the inliers, wrong angles of
    several nodes can support one another; there the local probability is one of the terms of a
    logistic regression (`calibrated`). On extended graphs with k = 1 another term is how often the
    bootstrap recovers the node, and noise that edges share (`shared_noise_error`), if the closure
    of triangles reveals it, lowers the result.

    Args:
        graph: the measurements.
        fit: angles and, fitted with `move=False`, the noise that they imply.
        rng: for sampled noise.
        support: what else is known of the angles.

    Raises:
        TimeUp: the time limit (`gnnsync.work`) is reached.
    """
    known = support or Support()
    local = np.ones(graph.num_nodes)
    for group in range(fit.share.size):
        local *= local_probability(graph, fit, group, rng)
    local = np.clip(local, 0.0, 1.0)
    if fit.sigma < _NOISY:
        return local
    evidence = fit.evidence if known.evidence is None else known.evidence
    per_angle = evidence / fit.angles.size
    resample = known.resample and fit.share.size == 1 and graph.num_edges <= LARGE_GRAPH_EDGES
    if not resample or not is_extended(graph, rng):
        return calibrated(local, known.mass, per_angle)
    resampled = bootstrap(graph, fit, rng)
    result = calibrated(local, known.mass, per_angle, resampled.recovered)
    if resampled.excess > 0.0:
        weight = fit.membership[:, 0] * graph.edge_weight / graph.edge_weight.mean()
        error = shared_noise_error(graph, weight, graph.residual(fit.angles)[:, 0], rng)
        result *= erf(NODE_TOLERANCE / np.sqrt(2.0) / np.maximum(error, SIGMA_FLOOR))
    return result


def calibrated(
    local: FloatArray,
    mass: FloatArray | None,
    evidence: float,
    recovered: FloatArray | None = None,
) -> FloatArray:
    """Probability (n,) by logistic regression on the columns of `regressors`."""
    kind, columns = regressors(local, mass, evidence, recovered)
    return np.asarray(expit(columns @ np.array(WEIGHTS[kind])))


def regressors(
    local: FloatArray,
    mass: FloatArray | None,
    evidence: float,
    recovered: FloatArray | None = None,
) -> tuple[str, FloatArray]:
    """Name of the regression and its columns (n, c).

    Without `recovered`: the logits of the local probability and, if given, of the posterior mass,
    then the evidence per angle and 1. With it, on extended graphs: the logits of the local
    probability, the posterior mass, the share of bootstrap samples that recover the node and its
    mean over the nodes, then 1; there the evidence adds nothing.
    """
    one = np.ones(len(local))
    if recovered is not None:
        mean = np.full(len(local), recovered.mean())
        parts = (local, local if mass is None else mass, recovered, mean)
        return "extended", np.stack([*map(_logit, parts), one], axis=1)
    logits = [_logit(local)] if mass is None else [_logit(local), _logit(mass)]
    kind = "local" if mass is None else "posterior"
    limited = np.full(len(local), min(evidence, MOST_EVIDENCE))
    return kind, np.stack([*logits, limited, one], axis=1)


def _logit(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, LEAST_DOUBT, 1.0 - LEAST_DOUBT)))
