"""Nodes whose edges are all noisy, for which the mixture finds too few inliers."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.irls import IRLS
from gnnsync.methods.robust.noise.law import SIGMA_MAX, law_density
from gnnsync.methods.robust.noise.mixture import MixtureFit, relative_weight, sum_at_nodes
from gnnsync.typing import BoolArray, FloatArray

# Standard deviations by which a node's number of inliers must fall short for it to be suspect.
_SUSPECT = 1.5
# Least variance of a single edge's membership, where nearly all edges are inliers.
_LEAST_VARIANCE = 0.01
# Noise of a node in units of σ, and EM steps for its share of inliers.
_FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_SHARE_STEPS = 15
# The share of a node is kept this far from 0 and 1, where EM would stay.
_LEAST_SHARE = 1e-3
# Rounds in which suspects without regular neighbours take over the rotation of other suspects.
_ROUNDS = 2
# Last ε of IRLS, in radians, and its tolerance: far below the tolerated error of a node.
_EPSILON, _ACCURACY = 0.01, 1e-3
# Sums of unit numbers below this have no direction.
_NO_DIRECTION = 1e-9


def place_noisy_nodes(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
) -> FloatArray:
    """Angles (n, k) of the fit, with nodes whose edges are all noisy placed by all their edges.

    Where noise is not normal it may belong to nodes. A node with far fewer inlier edges than the
    average share is suspect, and the least sum of absolute residuals (`IRLS`), which uses all its
    edges, places it better. That solution can be rotated against the fit, on geometric graphs by an
    angle that drifts over the graph; a suspect is therefore aligned with the fit at its regular
    neighbours.

    Few inlier edges may also mean that outliers concentrate at a node, as on maps with dense
    regions. All suspects are moved or none: moved if that raises the likelihood of their edges
    when each node has a noise and a share of inliers of its own. For k > 1 nothing is moved.
    """
    if fit.share.size > 1:
        return fit.angles
    suspect = _suspects(graph, fit)
    if not suspect.any() or suspect.all():
        return fit.angles
    angles = fit.angles[:, 0]
    least = IRLS(epsilon_min=_EPSILON, tol=_ACCURACY).estimate(graph, 1, rng).angles.reshape(-1)
    placed = np.where(suspect, least + _local_rotation(graph, angles - least, suspect), angles)
    gain = _node_likelihood(graph, placed, fit) - _node_likelihood(graph, angles, fit)
    return placed[:, None] if gain[suspect].sum() > 0.0 else fit.angles


def _suspects(graph: MeasurementGraph, fit: MixtureFit) -> BoolArray:
    """Nodes (n,) with significantly fewer inlier edges than the average share."""
    inliers = 1.0 - fit.eta
    found = sum_at_nodes(graph, fit.edge_confidence)
    count = np.bincount(graph.edge_index.ravel(), minlength=graph.num_nodes)
    deviation = np.sqrt(np.maximum(inliers * (1.0 - inliers), _LEAST_VARIANCE) * count)
    return found - inliers * count < -_SUSPECT * deviation


def _local_rotation(
    graph: MeasurementGraph, difference: FloatArray, suspect: BoolArray
) -> FloatArray:
    """Mean direction (n,) of `difference` (n,) over the regular neighbours of each suspect.

    Suspects without regular neighbours take the rotation of suspects that have one, else the mean
    over all regular nodes.
    """
    rotation = np.where(suspect, 0.0, np.exp(1j * difference))
    overall = np.angle(rotation.sum())
    for _ in range(_ROUNDS):
        total = np.zeros(graph.num_nodes, dtype=np.complex128)
        np.add.at(total, graph.src, rotation[graph.dst])
        np.add.at(total, graph.dst, rotation[graph.src])
        size = np.abs(total)
        unit = np.divide(total, size, out=np.zeros_like(total), where=size > _NO_DIRECTION)
        rotation = np.where(suspect, unit, rotation)
    return np.where(rotation == 0.0, overall, np.angle(rotation))


def _node_likelihood(graph: MeasurementGraph, angles: FloatArray, fit: MixtureFit) -> FloatArray:
    r"""Greatest log likelihood (n,) of each node's edges at `angles` (n,), relative to uniform.

    .. math:: \max_{c,π} \sum_{e \ni i} \log\bigl(1 - π + π · 2πN_{cσ/\sqrt{w_e}}(r_e)\bigr)

    over a few factors c ≥ 1 of the fit's σ, the share π by EM from that of the fit.
    """
    n, ends = graph.num_nodes, graph.edge_index
    root = np.sqrt(relative_weight(graph))
    residual = graph.residual(angles) * root
    count = np.maximum(np.bincount(ends.ravel(), minlength=n), 1)
    best = np.full(n, -np.inf)
    for factor in _FACTORS:
        density = law_density(residual, min(factor * fit.sigma, SIGMA_MAX), np.inf) * root
        share = np.full(n, 1.0 - fit.eta)
        for _ in range(_SHARE_STEPS):
            member = share[ends] * density
            member /= member + 1.0 - share[ends]
            share = np.bincount(ends.ravel(), member.ravel(), n) / count
            share = np.clip(share, _LEAST_SHARE, 1.0 - _LEAST_SHARE)
        each = np.log(share[ends] * density + 1.0 - share[ends])
        best = np.maximum(best, np.bincount(ends.ravel(), each.ravel(), n))
    return best
