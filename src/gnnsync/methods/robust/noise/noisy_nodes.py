"""Nodes whose edges are all noisy: where the mixture finds too few inliers to place them."""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.irls import IRLS
from gnnsync.methods.robust.noise.mixture import SIGMA_MAX, MixtureFit, law_density
from gnnsync.typing import BoolArray, FloatArray

# Standard deviations of its number of inliers by which a node's must fall short to be suspect.
_SUSPECT = 1.5
# Noise of a node in units of σ, and EM steps for its share of inliers.
_FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_SHARE_STEPS = 15
# Rounds in which nodes without settled neighbours learn how their neighbourhood is turned.
_ROUNDS = 2


def place_noisy_nodes(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
) -> FloatArray:
    """Angles (n, k) of the fit, but for k = 1 those of nodes whose edges are all noisy.

    Where noise is not normal it may belong to nodes. One with far fewer believed edges than its
    share is suspect, and the least sum of absolute residuals, which uses all its edges, would place
    it. That solution can be turned against the fit, and on geometric graphs by an angle that drifts
    over the graph; a suspect's is therefore compared with the fit at its settled neighbours.

    Few believed edges may also mean that outliers gather about a node, as on maps with dense
    regions. All suspects are moved or none: moved if that raises the likelihood of their edges
    when each node has a noise and a share of inliers of its own.
    """
    if fit.share.size > 1:
        return fit.angles
    suspect = _suspects(graph, fit)
    if not suspect.any() or suspect.all():
        return fit.angles
    angles = fit.angles[:, 0]
    least = IRLS().estimate(graph, 1, rng).angles.reshape(-1)
    placed = np.where(suspect, least + _local_turn(graph, angles - least, suspect), angles)
    gain = _own_likelihood(graph, placed, fit) - _own_likelihood(graph, angles, fit)
    return placed[:, None] if gain[suspect].sum() > 0.0 else fit.angles


def _suspects(graph: MeasurementGraph, fit: MixtureFit) -> BoolArray:
    """Nodes (n,) with fewer believed edges than chance explains."""
    n, inliers = graph.num_nodes, 1.0 - fit.eta
    believed = np.bincount(graph.src, fit.edge_confidence, n)
    believed += np.bincount(graph.dst, fit.edge_confidence, n)
    count = np.bincount(graph.edge_index.ravel(), minlength=n)
    spread = np.sqrt(np.maximum(inliers * (1.0 - inliers), 0.01) * count)
    return believed - inliers * count < -_SUSPECT * spread


def _local_turn(graph: MeasurementGraph, difference: FloatArray, suspect: BoolArray) -> FloatArray:
    """Mean direction (n,) of `difference` (n,) over the settled neighbours of each suspect.

    Suspects without settled neighbours take the turn of those that have one, else the mean of all.
    """
    turn = np.where(suspect, 0.0, np.exp(1j * difference))
    overall = np.angle(turn.sum())
    for _ in range(_ROUNDS):
        total = np.zeros(graph.num_nodes, dtype=np.complex128)
        np.add.at(total, graph.src, turn[graph.dst])
        np.add.at(total, graph.dst, turn[graph.src])
        size = np.abs(total)
        unit = np.divide(total, size, out=np.zeros_like(total), where=size > 1e-9)
        turn = np.where(suspect, unit, turn)
    return np.where(turn == 0.0, overall, np.angle(turn))


def _own_likelihood(graph: MeasurementGraph, angles: FloatArray, fit: MixtureFit) -> FloatArray:
    r"""Greatest log likelihood (n,) of each node's edges at `angles` (n,), relative to uniform.

    .. math:: \max_{c,π} \sum_{e \ni i} \log\bigl(1 - π + π · 2πN_{cσ/\sqrt{w_e}}(r_e)\bigr)

    over a few factors c ≥ 1 of the fit's σ, the share π by EM from that of the fit.
    """
    n, ends = graph.num_nodes, graph.edge_index
    root = np.sqrt(graph.edge_weight / graph.edge_weight.mean())
    residual = graph.residual(angles) * root
    count = np.maximum(np.bincount(ends.ravel(), minlength=n), 1)
    best = np.full(n, -np.inf)
    for factor in _FACTORS:
        density = law_density(residual, min(factor * fit.sigma, SIGMA_MAX), np.inf) * root
        share = np.full(n, 1.0 - fit.eta)
        for _ in range(_SHARE_STEPS):
            believed = share[ends] * density
            believed /= believed + 1.0 - share[ends]
            share = np.bincount(ends.ravel(), believed.ravel(), n) / count
            share = np.clip(share, 1e-3, 1.0 - 1e-3)
        each = np.log(share[ends] * density + 1.0 - share[ends])
        best = np.maximum(best, np.bincount(ends.ravel(), each.ravel(), n))
    return best
