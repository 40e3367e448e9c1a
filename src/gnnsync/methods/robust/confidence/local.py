"""Probability that a node's angle is right, from the edges at the node and its rigid body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.special import erf

from gnnsync.angles import TWO_PI
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.confidence.error_propagation import independent_noise_error
from gnnsync.methods.robust.noise.law import SIGMA_FLOOR, law_density
from gnnsync.methods.robust.noise.mixture import MixtureFit, relative_weight
from gnnsync.methods.robust.noise.placement import angle_density, cell_of
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.topology import bridges, component_labels
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Rounds in which the confidence in a node's neighbours becomes part of its own, and the confidence
# in nodes outside the largest body at first.
_ROUNDS, _FIRST_CONFIDENCE = 3, 0.9
# Limit of log odds, below the overflow of `exp` at 709, and least precision of a node's angle: one
# without inlier edges is uniform on the circle.
_LARGEST_LOG, _LEAST_PRECISION = 600.0, 1e-9


@dataclass(frozen=True, eq=False)
class _Predictions:
    """The 2m predictions θ_j ± a_e of neighbours j for nodes i, in one group.

    Args:
        node: (2m,) i.
        neighbour: (2m,) j.
        edge: (2m,) e.
        odds: (2m,) π/η times the probability that no other group explains e.
        prior: (2m,) density of angles at the prediction, relative to uniform.
        density: (2m,) of the residual as an inlier, relative to uniform.
        near: (2m,) whether the prediction is within `NODE_TOLERANCE` of the node's angle.
    """

    node: IntArray
    neighbour: IntArray
    edge: IntArray
    odds: FloatArray
    prior: FloatArray
    density: FloatArray
    near: BoolArray


def local_probability(
    graph: MeasurementGraph, fit: MixtureFit, group: int, rng: np.random.Generator
) -> FloatArray:
    r"""Probability (n,) that each node's angle in one group is within `NODE_TOLERANCE`.

    * Inlier edges, without those on no cycle of such edges, join nodes to rigid bodies; the
      largest fixes the global rotation.
    * Within a body a node's angle competes with its other predictions :math:`c_e = θ_j ± a_e`. With
      :math:`o_e = π q_j/η` the odds of a prediction (π the group's share, q the confidence in the
      neighbour) and p the density of angles, relative to uniform, the angle has posterior mass
      :math:`p \prod_e (1 + o_e f(r_e))\,\sqrt{2π/Λ}/2π` (Laplace, Λ the precision of the inlier
      predictions) against :math:`1 + \sum_e o_e p(c_e)` for single predictions and for none.
    * Another body, or a single node, is right if one of the predictions that agree with it is:
      mass Σ o p of those against 1 + Σ o p of all, from the largest body outwards.
    * A right angle has the error of `independent_noise_error`; a wrong one may be near by chance.
    """
    member = fit.membership[:, group]
    body = _rigid_bodies(graph, member > 0.5)
    main = int(np.bincount(body).argmax())
    density = angle_density(fit.angles[:, group], (body == main).astype(np.float64))
    prior = _at(density, fit.angles[:, group])
    weight = member * relative_weight(graph)
    predictions = _predictions(graph, fit, group, density)
    inside = _within_body(graph, fit, body, main, predictions, weight, prior)
    chance = np.minimum(prior * NODE_TOLERANCE / np.pi, 1.0)
    attached = _attachment(body, main, predictions, inside, chance)
    error = independent_noise_error(graph, fit, weight, body == main, rng)
    right = inside * attached
    return right * erf(NODE_TOLERANCE / np.sqrt(2.0) / error) + (1.0 - inside) * chance


def _rigid_bodies(graph: MeasurementGraph, inlier: BoolArray) -> IntArray:
    """Label (n,) of the part of the graph in which cycles of inlier edges hold a node."""
    index = graph.edge_index[:, inlier]
    index = index[:, ~bridges(index, graph.num_nodes)]
    return component_labels(index, graph.num_nodes).astype(np.int64)


def _predictions(
    graph: MeasurementGraph, fit: MixtureFit, group: int, density: FloatArray
) -> _Predictions:
    """All predictions of a group; `density` is that of the angles on a grid."""
    residual = np.abs(graph.residual(fit.angles)[:, group])
    root = np.sqrt(relative_weight(graph))
    inlier = law_density(residual * root, max(fit.sigma, SIGMA_FLOOR), fit.dof) * root
    odds = np.clip(fit.unexplained(group), 0.0, 1.0) * fit.odds(group)
    node = graph.edge_index.ravel()
    neighbour = graph.edge_index[::-1].ravel()
    sign = np.repeat([1.0, -1.0], graph.num_edges)
    edge = np.tile(np.arange(graph.num_edges), 2)
    angle = fit.angles[neighbour, group] + sign * graph.offset[edge]
    return _Predictions(
        node,
        neighbour,
        edge,
        odds[edge],
        _at(density, angle),
        inlier[edge],
        (residual < NODE_TOLERANCE)[edge],
    )


def _within_body(
    graph: MeasurementGraph,
    fit: MixtureFit,
    body: IntArray,
    main: int,
    predictions: _Predictions,
    weight: FloatArray,
    prior: FloatArray,
) -> FloatArray:
    """Probability (n,) that a node's angle is right relative to its body.

    `weight` (m,) is membership times edge weight, `prior` (n,) the density at the node's angle.
    """
    n, node, neighbour = graph.num_nodes, predictions.node, predictions.neighbour
    same = body[node] == body[neighbour]
    considered = same | (body[neighbour] == main)
    inliers = np.bincount(node, weight[predictions.edge] * same, n)
    precision = inliers / max(fit.sigma, SIGMA_FLOOR) ** 2
    width = np.sqrt(TWO_PI / np.maximum(precision, _LEAST_PRECISION)) / TWO_PI
    log_prior = np.log(np.minimum(width, 1.0) * prior)
    inside = np.where(body == main, 1.0, _FIRST_CONFIDENCE)
    for _ in range(_ROUNDS):
        odds = predictions.odds * inside[neighbour]
        support = np.bincount(node, np.log1p(odds * predictions.density) * same, n) + log_prior
        agreed = np.exp(np.clip(support, -_LARGEST_LOG, _LARGEST_LOG))
        single = np.bincount(node, odds * predictions.prior * considered, n)
        inside = agreed / (1.0 + single + agreed)
    inside[np.bincount(body)[body] == 1] = 1.0
    return inside


def _attachment(
    body: IntArray, main: int, predictions: _Predictions, inside: FloatArray, chance: FloatArray
) -> FloatArray:
    """Probability (n,) that a node's body has the right rotation relative to the largest.

    Bodies are processed in order of their distance from the largest along predictions that agree
    (`near`): a body is right if one of the agreeing predictions from nearer bodies is. Bodies
    without such a path come last, and are right by `chance` (n,) alone. O(m log m).
    """
    count = int(body.max()) + 1
    near = predictions.near
    here, there = body[predictions.node], body[predictions.neighbour]
    paths = sp.coo_array((np.ones(near.sum()), (here[near], there[near])), (count, count)).tocsr()
    distance = dijkstra(paths, directed=False, indices=main, unweighted=True)
    distance = np.minimum(distance, count)  # unreachable bodies: after all others
    use = np.flatnonzero(distance[there] < distance[here])
    use = use[np.argsort(distance[here[use]], kind="stable")]
    odds = predictions.odds * predictions.prior * inside[predictions.neighbour]
    here, there, odds, agrees = here[use], there[use], odds[use], near[use]
    ends = np.flatnonzero(np.diff(distance[here], append=-1.0)) + 1
    agreed = np.bincount(body, chance, count) / np.bincount(body, minlength=count)
    total = np.ones(count)
    agreed[main] = 1.0
    start = 0
    # Bodies at one distance depend on nearer ones only, whose probabilities are final by then.
    for end in ends.tolist():
        part = slice(start, end)
        mass = odds[part] * np.minimum(agreed[there[part]] / total[there[part]], 1.0)
        np.add.at(total, here[part], mass)
        np.add.at(agreed, here[part], mass * agrees[part])
        start = end
    return np.minimum(agreed / total, 1.0)[body]


def _at(density: FloatArray, angle: FloatArray) -> FloatArray:
    """Density, given on a grid over the circle, at the nearest grid point of each angle."""
    return density[cell_of(angle, len(density))]
