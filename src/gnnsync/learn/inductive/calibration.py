"""Confidences of the inductive network, calibrated: how often they are right in simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from gnnsync.methods.base import Estimate
from gnnsync.typing import FloatArray

# Weights of the columns of `regressors`, fitted by `python -m benchmarks.inductive_confidence
# --fit`. What is not here is stated as it is. Weights for the nodes of extended graphs, and for
# those after the polish, fitted in the same way, raised the calibration error on the benchmark's
# own networks: from .10 to .15 and from .00 to .14 on geometric ones.
WEIGHTS: dict[str, tuple[float, float, float]] = {
    "node": (1.15, -0.06, 0.86),
    "edge": (1.14, 0.06, -0.13),
}
# Probabilities are kept this far from 0 and 1 in the regression.
LEAST_DOUBT = 1e-3


def calibrated_estimate(estimate: Estimate, k: int, *, polished: bool, extended: bool) -> Estimate:
    """The estimate with calibrated confidences of nodes and edges.

    On extended graphs (geometric ones, maps) whole regions can be rotated against the others while
    every node in them is as sure as before. So these are a kind of their own in `WEIGHTS`.
    """
    polish, extent = "polished " if polished else "", ", extended" if extended else ""
    return replace(
        estimate,
        node_confidence=_mapped(estimate.node_confidence, f"{polish}node{extent}", k),
        edge_confidence=_mapped(estimate.edge_confidence, f"{polish}edge", k),
    )


def regressors(probability: FloatArray, k: int) -> FloatArray:
    """Columns (n, 3) of the logistic regression: logit of the probability, k - 1, and 1."""
    score = logit(np.clip(probability, LEAST_DOUBT, 1.0 - LEAST_DOUBT))
    one = np.ones(len(probability))
    return np.stack([score, (k - 1) * one, one], axis=1)


def _mapped(probability: FloatArray | None, kind: str, k: int) -> FloatArray | None:
    if probability is None or kind not in WEIGHTS:
        return probability
    return np.asarray(expit(regressors(probability, k) @ np.array(WEIGHTS[kind])))
