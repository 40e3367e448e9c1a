"""Robust local search: move each node to the angle that most predictions θ_j + a_ij support."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.law import SIGMA_FLOOR
from gnnsync.methods.robust.noise.mixture import (
    AGREEMENT_WIDTH,
    MixtureFit,
    fit_mixture,
    node_trust,
)
from gnnsync.typing import FloatArray, IntArray
from gnnsync.work import advance, loop, plan, time_is_up

# EM between relocations of nodes need not be exact.
_ROUGH_ITERATIONS, _ROUGH_TOLERANCE = 15, 1e-4
# Tolerance of the last EM of a search: the evidence, quadratic in the angles, is exact by then.
_FINE_TOLERANCE = 1e-6
# Half width of the agreement window in radians: above rounding, below a third of the circle.
_LEAST_WINDOW, _LARGEST_WINDOW = 10 * SIGMA_FLOOR, 1.0
# A node's predictions for its neighbours always count for something, or it could never regain
# influence.
_LEAST_TRUST = 0.05
# Weight of predictions by which another angle must win for a node to move: half an edge.
_MARGIN = 0.5
# σ after nodes have moved, at least: wide enough for EM to pull them into place.
_RELOCATION_SIGMA = 1e-3
# Nodes are kept apart on one line by strides of five turns: predictions and windows span fewer.
_STRIDE = 5 * TWO_PI
# Decimals to which supports are compared, so that rounding does not break ties.
_SUPPORT_DECIMALS = 9


def local_search(
    graph: MeasurementGraph, angles: FloatArray, *, dof: float = np.inf, rounds: int = 10
) -> MixtureFit:
    """`improve`d fit from `angles` (n, k) under the noise law `dof`."""
    return improve(graph, rough_fit(graph, angles, dof=dof), rounds=rounds)


def improve(
    graph: MeasurementGraph,
    fit: MixtureFit,
    *,
    rounds: int = 10,
    known: Callable[[MixtureFit], bool] | None = None,
) -> MixtureFit:
    """EM in turn with moves of single nodes to better supported angles.

    EM alone moves by small steps; a node at a wrong angle leaves it only by a move to the
    strongest agreement among the predictions θ_j + a_ij of its neighbours. Ends when no node
    moves; the fit of greatest evidence is returned. A fit that is `known` already ends the search
    at once.
    """
    best, iterations = fit, fit.iterations
    with loop("local search"):
        for number in range(rounds):
            advance(_expected(number))
            moved = None if time_is_up() else relocate_nodes(graph, fit)
            if moved is None:
                break
            fit = rough_fit(graph, moved, dof=fit.dof, like=with_wider_noise(fit))
            iterations += fit.iterations
            if known is not None and known(fit):
                return replace(fit, iterations=iterations)
            if fit.evidence > best.evidence:
                best = fit
    if time_is_up():
        return replace(best, iterations=iterations)
    with loop("last fit"):
        plan({"EM": 1.0})
        best = fit_mixture(graph, best.angles, dof=best.dof, like=best, tol=_FINE_TOLERANCE)
    return replace(best, iterations=iterations + best.iterations)


def _expected(rounds: int) -> float:
    """Fraction of a search that these rounds are, if most end after about five."""
    return 1.0 - 0.8**rounds


def rough_fit(
    graph: MeasurementGraph,
    angles: FloatArray,
    *,
    dof: float = np.inf,
    like: MixtureFit | None = None,
) -> MixtureFit:
    """A few EM iterations from `angles` (n, k): enough to tell fits apart."""
    return fit_mixture(
        graph,
        angles,
        dof=dof,
        like=like,
        max_iterations=_ROUGH_ITERATIONS,
        tol=_ROUGH_TOLERANCE,
    )


def relocate_nodes(graph: MeasurementGraph, fit: MixtureFit) -> FloatArray | None:
    """Angles (n, k) with every node at its strongest agreement; None if all are there already."""
    trust = np.clip(node_trust(graph, fit), _LEAST_TRUST, 1.0)
    angles = fit.angles.copy()
    half = agreement_window(fit)
    relocated = False
    for group in range(angles.shape[1]):
        change, support, current = strongest_agreement(
            graph, fit.angles[:, group], fit.unexplained(group), trust[:, group], half
        )
        moving = (support > current + _MARGIN) & (np.abs(change) > half)
        angles[moving, group] += change[moving]
        relocated |= bool(moving.any())
    return angles if relocated else None


def agreement_window(fit: MixtureFit) -> float:
    """Half width, in radians, of the window in which predictions agree."""
    return float(np.clip(AGREEMENT_WIDTH * fit.sigma, _LEAST_WINDOW, _LARGEST_WINDOW))


def strongest_agreement(
    graph: MeasurementGraph,
    angles: FloatArray,
    edge_trust: FloatArray,
    node_trust: FloatArray,
    half: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The window of ±`half` with the greatest weight of predictions at each node.

    A prediction weighs edge_trust (m,) times node_trust (n,) of the neighbour. Returns, per node,
    the mean of the window's predictions relative to the node's present angle, its weight, and the
    weight of the window around the present angle. O(m log m): predictions are sorted, and windows
    are differences of cumulative sums.
    """
    n = graph.num_nodes
    node, prediction, weight = _predictions(graph, angles, edge_trust, node_trust)
    key = node * _STRIDE + prediction
    order = np.argsort(key, kind="stable")
    key, node, prediction, weight = key[order], node[order], prediction[order], weight[order]
    sums = np.concatenate([[0.0], np.cumsum(weight)])
    moments = np.concatenate([[0.0], np.cumsum(weight * prediction)])
    first = np.searchsorted(node, np.arange(n + 1))

    def between(low: IntArray, high: IntArray, turn: float) -> tuple[FloatArray, FloatArray]:
        """Weight and moment of the predictions low..high, seen a turn further."""
        mass = sums[high] - sums[low]
        return mass, moments[high] - moments[low] + turn * mass

    low = np.searchsorted(key, key - half, "left")
    support, moment = between(low, np.searchsorted(key, key + half, "right"), 0.0)
    # Windows that cross ±π go on at the other end of the circle.
    up = np.flatnonzero(prediction + half >= np.pi)
    end = np.searchsorted(key, key[up] + half - TWO_PI, "right")
    down = np.flatnonzero(prediction - half < -np.pi)
    start = np.searchsorted(key, key[down] - half + TWO_PI, "left")
    for where, part in (
        (up, between(first[node[up]], end, TWO_PI)),
        (down, between(start, first[node[down] + 1], -TWO_PI)),
    ):
        support[where] += part[0]
        moment[where] += part[1]
    centre = np.arange(n) * _STRIDE
    low = np.searchsorted(key, centre - half, "left")
    current = between(low, np.searchsorted(key, centre + half, "right"), 0.0)[0]
    best = _best_of_each(support, prediction, node, first)
    mean = moment[best] / np.maximum(support[best], np.finfo(float).tiny)
    return mean, support[best], current


def _best_of_each(
    support: FloatArray, prediction: FloatArray, node: IntArray, first: IntArray
) -> IntArray:
    """The prediction of greatest support of each node (n,), any one for nodes without.

    Predictions are sorted by node, those of node i from first[i]. Nearer predictions, then those
    of positive sign, win ties, so that the numbering of nodes does not matter.
    """
    present = np.flatnonzero(first[1:] > first[:-1])
    begin, place = first[present], np.searchsorted(present, node)
    rounded = np.round(support, _SUPPORT_DECIMALS)
    leading = rounded == np.maximum.reduceat(rounded, begin)[place]
    distance = np.where(leading, np.abs(prediction), np.inf)
    leading = distance == np.minimum.reduceat(distance, begin)[place]
    best = np.zeros(len(first) - 1, dtype=np.int64)
    best[present] = np.maximum.reduceat(np.where(leading, np.arange(len(node)), -1), begin)
    return best


def with_wider_noise(fit: MixtureFit) -> MixtureFit:
    """The fit with σ wide enough for nodes that have just moved to be pulled into place."""
    return replace(fit, sigma=max(fit.sigma, _RELOCATION_SIGMA))


def _predictions(
    graph: MeasurementGraph, angles: FloatArray, edge_trust: FloatArray, node_trust: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """2m predictions: the node concerned, the angle relative to its own, the weight."""
    node = np.concatenate([graph.src, graph.dst])
    neighbour = np.concatenate([graph.dst, graph.src])
    signed = np.concatenate([graph.offset, -graph.offset])
    prediction = wrap(angles[neighbour] + signed - angles[node])
    return node, prediction, np.concatenate([edge_trust, edge_trust]) * node_trust[neighbour]
