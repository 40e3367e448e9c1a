"""How probable it is that a node's angle is right."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.special import erf, expit, logit

from gnnsync.angles import TWO_PI
from gnnsync.graph import MeasurementGraph
from gnnsync.limits import bridges
from gnnsync.methods.laplacian import least_squares_shift
from gnnsync.methods.mixture import SIGMA_FLOOR, MixtureFit, law_density
from gnnsync.methods.operator import EdgeOperator
from gnnsync.methods.placement import angle_density
from gnnsync.solution import NODE_TOLERANCE

Array = NDArray[np.float64]

# Weights of local probability, posterior mass and evidence, and the constant, in `calibrated`;
# evidence beyond the most says no more, and no probability is taken for more certain than this.
WEIGHTS = (0.51, 0.20, 0.34, -1.16)
MOST_EVIDENCE = 4.0
LEAST_DOUBT = 1e-3

# Noise from which wrong angles can agree by chance.
_NOISY = 0.05
# Rounds in which the confidence in a node's neighbours becomes part of its own.
_ROUNDS = 3
# Draws of the noise from which the spread of the angles is estimated.
_DRAWS = 24
# Conjugate gradient steps per draw: enough but for long chains, whose spread is then too small.
_SOLVE_STEPS = 500
# An edge list longer than this has the spread of each node estimated from its own edges.
_LARGE = 200_000
_LARGEST_LOG = 600.0


def node_confidence(
    graph: MeasurementGraph,
    fit: MixtureFit,
    rng: np.random.Generator,
    *,
    evidence: float | None = None,
    mass: Array | None = None,
) -> Array:
    r"""Probability (n,) that a node's angles are within `NODE_TOLERANCE` of the truth.

    `fit` holds the angles and, with `move=False`, the noise they imply. For every set:

    * Believed edges, without those that lie on no cycle of such edges, join nodes to rigid bodies;
      the largest fixes the global rotation.
    * In a body a node's angle competes with what its other votes :math:`c_e = θ_j ± a_e` say. With
      :math:`o_e = π q_j/η` the odds of a vote (π the set's share, q the confidence in the voter)
      and p the density of angles, relative to uniform, it has the posterior mass
      :math:`p \prod_e (1 + o_e f(r_e))\,\sqrt{2π/Λ}/2π` (Laplace, Λ the precision of the believed
      votes) against :math:`1 + \sum_e o_e p(c_e)` for single votes and for none.
    * Another body, or a node by itself, is right if one of the votes that agree with it is: mass
      Σ o p of those against 1 + Σ o p of all, from the largest body outwards.
    * A right angle is off by noise, whose spread comes from least squares with drawn noise; a
      wrong one may still be near by luck.

    For k > 1 the angles of all sets have to be right. With noise on the inliers, angles that are
    wrong together can support one another; there the result is one of three terms of a logistic
    regression (`calibrated`).

    Args:
        graph: the measurements.
        fit: angles and noise.
        rng: of the drawn noise.
        evidence: of the fit before open nodes were placed; that of `fit` if not given.
        mass: (n,) posterior probability of being near, where belief propagation tells it.
    """
    local = np.ones(graph.num_nodes)
    for group in range(fit.share.size):
        local *= _one_set(graph, fit, group, rng)
    local = np.clip(local, 0.0, 1.0)
    if fit.sigma < _NOISY:
        return local
    per_angle = (fit.evidence if evidence is None else evidence) / fit.angles.size
    return calibrated(local, local if mass is None else mass, per_angle)


def calibrated(local: Array, mass: Array, evidence: float) -> Array:
    """Probability (n,) from the local one, the posterior mass (n,) and the evidence per angle.

    Logistic regression; `python -m benchmarks.confidence --fit` gives the weights.
    """
    by_local, by_mass, by_evidence, constant = WEIGHTS
    score = by_local * _logit(local) + by_mass * _logit(mass)
    score += by_evidence * min(evidence, MOST_EVIDENCE) + constant
    return np.asarray(expit(score))


def _logit(probability: Array) -> Array:
    return np.asarray(logit(np.clip(probability, LEAST_DOUBT, 1.0 - LEAST_DOUBT)))


def _one_set(
    graph: MeasurementGraph, fit: MixtureFit, group: int, rng: np.random.Generator
) -> Array:
    n, (src, dst) = graph.num_nodes, graph.edge_index
    residual = np.abs(graph.residual(fit.angles)[:, group])
    member = fit.membership[:, group]
    believed = member > 0.5
    body = _bodies(graph, believed)
    main = int(np.bincount(body).argmax())
    weight = graph.edge_weight / graph.edge_weight.mean()
    density = angle_density(fit.angles[:, group], (body == main).astype(np.float64))
    nearby = _at(density, fit.angles[:, group])
    odds = fit.share[group] / max(fit.eta, 1e-3)
    # An edge that another set explains is no vote here.
    free = np.clip(1.0 - (fit.membership.sum(axis=1) - member), 0.0, 1.0) * odds

    node, voter = np.concatenate([src, dst]), np.concatenate([dst, src])
    sign = np.repeat([1.0, -1.0], graph.num_edges)
    edge = np.tile(np.arange(graph.num_edges), 2)
    prior = _at(density, fit.angles[voter, group] + sign * graph.offset[edge])
    peak = law_density(residual * np.sqrt(weight), max(fit.sigma, SIGMA_FLOOR), fit.dof)
    peak = (peak * np.sqrt(weight))[edge]

    same = body[node] == body[voter]
    from_main = body[voter] == main
    precision = (
        np.bincount(node, (member * weight)[edge] * same, n) / max(fit.sigma, SIGMA_FLOOR) ** 2
    )
    width = np.minimum(np.sqrt(TWO_PI / np.maximum(precision, 1e-9)) / TWO_PI, 1.0)
    inside = np.where(body == main, 1.0, 0.9)
    for _ in range(_ROUNDS):
        vote = free[edge] * inside[voter]
        support = np.bincount(node, np.log1p(vote * peak) * same, n) + np.log(width * nearby)
        agreed = np.exp(np.clip(support, -_LARGEST_LOG, _LARGEST_LOG))
        single = np.bincount(node, vote * prior * (same | from_main), n)
        inside = agreed / (1.0 + single + agreed)
    inside[np.bincount(body)[body] == 1] = 1.0
    near = (residual < NODE_TOLERANCE)[edge]
    luck = np.minimum(nearby * NODE_TOLERANCE / np.pi, 1.0)
    held = _attachment(body, main, node, voter, free[edge] * prior, near, inside, luck)
    spread = _spread(graph, fit, member * weight, body, rng)
    right = inside * held
    return right * erf(NODE_TOLERANCE / np.sqrt(2.0) / spread) + (1.0 - inside) * luck


def _bodies(graph: MeasurementGraph, believed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Label (n,) of the part of the graph in which cycles of believed edges hold a node."""
    index = graph.edge_index[:, believed]
    index = index[:, ~bridges(index, graph.num_nodes)]
    ones = np.ones(index.shape[1])
    joined = sp.coo_array((ones, tuple(index)), (graph.num_nodes,) * 2)
    return connected_components(joined)[1].astype(np.int64)


def _attachment(
    body: NDArray[np.int64],
    main: int,
    node: NDArray[np.int64],
    voter: NDArray[np.int64],
    odds: Array,
    near: NDArray[np.bool_],
    inside: Array,
    luck: Array,
) -> Array:
    """Probability (n,) that a node's body is turned as the largest is.

    Bodies are taken in order of their distance from the largest, along votes that agree (`near`):
    a body is right if one of the agreeing votes of nearer bodies is. Last come those that no such
    way leads to, which are right by `luck` alone. O(m log m).
    """
    count = int(body.max()) + 1
    here, there = body[node], body[voter]
    ways = sp.coo_array((np.ones(near.sum()), (here[near], there[near])), (count, count)).tocsr()
    distance = dijkstra(ways, directed=False, indices=main, unweighted=True)
    distance = np.minimum(distance, count)  # no way at all: after all others
    use = np.flatnonzero(distance[there] < distance[here])
    use = use[np.argsort(distance[here[use]], kind="stable")]
    here, there, weight, agrees = here[use], there[use], (odds * inside[voter])[use], near[use]
    ends = np.flatnonzero(np.diff(distance[here], append=-1.0)) + 1
    agreed = np.bincount(body, luck, count) / np.bincount(body, minlength=count)
    total = np.ones(count)
    agreed[main] = 1.0
    start = 0
    # Bodies at one distance need those nearer only, whose shares are final by then.
    for end in ends.tolist():
        part = slice(start, end)
        vote = weight[part] * np.minimum(agreed[there[part]] / total[there[part]], 1.0)
        np.add.at(total, here[part], vote)
        np.add.at(agreed, here[part], vote * agrees[part])
        start = end
    return np.minimum(agreed / total, 1.0)[body]


def _spread(
    graph: MeasurementGraph,
    fit: MixtureFit,
    weight: Array,
    body: NDArray[np.int64],
    rng: np.random.Generator,
) -> Array:
    """Standard deviation (n,) of the angles that noise on the believed edges causes.

    Least squares is linear in the noise: with noise of variance σ²/w drawn on every edge, the
    angles move as they would with other noise of the same size.
    """
    sigma = max(fit.sigma, SIGMA_FLOOR)
    held = weight > 0.01
    if graph.num_edges > _LARGE:
        count = np.bincount(graph.edge_index.ravel(), np.tile(weight, 2), graph.num_nodes)
        return sigma * np.sqrt(2.0 / np.maximum(count, 0.5))
    operator = EdgeOperator(graph)
    trust = np.where(held, weight, 0.0)
    square = np.zeros(graph.num_nodes)
    for _ in range(_DRAWS):
        noise = sigma * rng.standard_normal(graph.num_edges) / np.sqrt(np.maximum(weight, 0.01))
        moved = least_squares_shift(operator, trust, noise, tol=1e-4, max_iterations=_SOLVE_STEPS)
        moved = moved - moved[body == np.bincount(body).argmax()].mean()
        square += moved**2
    return np.sqrt(square / _DRAWS) + SIGMA_FLOOR


def _at(density: Array, angle: Array) -> Array:
    """Density, given on a grid over the circle, at angles."""
    cell = np.rint(np.mod(angle, TWO_PI) / TWO_PI * len(density)).astype(np.int64)
    return density[cell % len(density)]
