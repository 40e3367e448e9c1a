"""How probable it is that a node's angle is right."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.special import erf, expit, logit

from gnnsync.angles import TWO_PI
from gnnsync.graph import MeasurementGraph
from gnnsync.limits import bridges
from gnnsync.methods.robust.confidence.bootstrap import redraw
from gnnsync.methods.robust.confidence.error_propagation import independent_spread, shared_spread
from gnnsync.methods.robust.geometric.regions import is_extended
from gnnsync.methods.robust.noise.mixture import SIGMA_FLOOR, MixtureFit, law_density
from gnnsync.methods.robust.noise.placement import angle_density
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Weights of the columns of `regressors`; evidence beyond the most says no more, and no probability
# is taken for more certain than this.
WEIGHTS = {
    "posterior": (0.06, 0.90, 0.19, -0.22),
    "local": (0.69, 0.68, -1.16),
    "extended": (0.12, 0.10, 0.28, 0.47, -0.23),
}
MOST_EVIDENCE = 4.0
LEAST_DOUBT = 1e-3

# Noise from which wrong angles can agree by chance.
_NOISY = 0.05
# Rounds in which the confidence in a node's neighbours becomes part of its own.
_ROUNDS = 3
# An edge list longer than this is not drawn anew: that would take minutes.
_LARGE = 200_000
_LARGEST_LOG = 600.0


def node_confidence(
    graph: MeasurementGraph,
    fit: MixtureFit,
    rng: np.random.Generator,
    *,
    evidence: float | None = None,
    mass: FloatArray | None = None,
) -> FloatArray:
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
    wrong together can support one another; there the result is one of the terms of a logistic
    regression (`calibrated`). On extended graphs another term is how a node fares when the network
    is drawn anew (`redraw`), and noise that edges share (`shared_spread`), if the closure of
    triangles betrays it, lowers the result.

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
    if fit.share.size > 1 or graph.num_edges > _LARGE or not is_extended(graph, rng):
        return calibrated(local, mass, per_angle)
    redrawn = redraw(graph, fit, rng)
    result = calibrated(local, mass, per_angle, redrawn.steady)
    if redrawn.excess > 0.0:
        weight = fit.membership[:, 0] * graph.edge_weight / graph.edge_weight.mean()
        spread = shared_spread(graph, weight, graph.residual(fit.angles)[:, 0], rng)
        result *= erf(NODE_TOLERANCE / np.sqrt(2.0) / np.maximum(spread, SIGMA_FLOOR))
    return result


def calibrated(
    local: FloatArray, mass: FloatArray | None, evidence: float, steady: FloatArray | None = None
) -> FloatArray:
    """Probability (n,) by logistic regression from `regressors`.

    `python -m benchmarks.confidence --set develop --fit` gives the weights.
    """
    kind, columns = regressors(local, mass, evidence, steady)
    return np.asarray(expit(columns @ np.array(WEIGHTS[kind])))


def regressors(
    local: FloatArray, mass: FloatArray | None, evidence: float, steady: FloatArray | None = None
) -> tuple[str, FloatArray]:
    """Which regression, and its columns (n, c).

    Without `steady`: the logits of the local probability and of the posterior mass, if there is
    one, the evidence per angle, and 1. With it, on extended graphs, the logits of local
    probability, posterior mass and steadiness, that of the mean steadiness, and 1; there the
    evidence adds nothing.
    """
    one = np.ones(len(local))
    if steady is not None:
        mean = np.full(len(local), steady.mean())
        parts = (local, local if mass is None else mass, steady, mean)
        return "extended", np.stack([*map(_logit, parts), one], axis=1)
    told = [_logit(local)] if mass is None else [_logit(local), _logit(mass)]
    kind = "local" if mass is None else "posterior"
    return kind, np.stack([*told, np.full(len(local), min(evidence, MOST_EVIDENCE)), one], axis=1)


def _logit(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, LEAST_DOUBT, 1.0 - LEAST_DOUBT)))


def _one_set(
    graph: MeasurementGraph, fit: MixtureFit, group: int, rng: np.random.Generator
) -> FloatArray:
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
    spread = independent_spread(graph, fit, member * weight, body == main, rng)
    right = inside * held
    return right * erf(NODE_TOLERANCE / np.sqrt(2.0) / spread) + (1.0 - inside) * luck


def _bodies(graph: MeasurementGraph, believed: BoolArray) -> IntArray:
    """Label (n,) of the part of the graph in which cycles of believed edges hold a node."""
    index = graph.edge_index[:, believed]
    index = index[:, ~bridges(index, graph.num_nodes)]
    ones = np.ones(index.shape[1])
    joined = sp.coo_array((ones, tuple(index)), (graph.num_nodes,) * 2)
    return connected_components(joined)[1].astype(np.int64)


def _attachment(
    body: IntArray,
    main: int,
    node: IntArray,
    voter: IntArray,
    odds: FloatArray,
    near: BoolArray,
    inside: FloatArray,
    luck: FloatArray,
) -> FloatArray:
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


def _at(density: FloatArray, angle: FloatArray) -> FloatArray:
    """Density, given on a grid over the circle, at angles."""
    cell = np.rint(np.mod(angle, TWO_PI) / TWO_PI * len(density)).astype(np.int64)
    return density[cell % len(density)]
