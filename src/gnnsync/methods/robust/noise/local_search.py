"""What a node's neighbours say of its angle, and which sayings agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import SIGMA_FLOOR, MixtureFit, fit_mixture, vote_trust
from gnnsync.typing import FloatArray, IntArray

# Half width of the window in which votes agree, in units of σ.
_WINDOW = 2.5
# EM between jumps need not be exact.
_EACH, _ROUGH = 15, 1e-4


def settle(
    graph: MeasurementGraph, angles: FloatArray, *, dof: float = np.inf, rounds: int = 10
) -> MixtureFit:
    """EM from `angles` (n, k), with nodes jumping to where most of their edges agree.

    EM alone moves by small steps; a node in the wrong place leaves it only by a jump to the
    strongest agreement among the votes θ_j + a_ij of its neighbours. Ends when no node wants to
    jump; the fit of greatest evidence is returned.
    """
    fit = fit_mixture(graph, angles, dof=dof, max_iterations=_EACH, tol=_ROUGH)
    best, iterations = fit, fit.iterations
    for _ in range(rounds):
        moved = jump(graph, fit)
        if moved is None:
            break
        fit = fit_mixture(
            graph, moved, dof=dof, like=widened(fit), max_iterations=_EACH, tol=_ROUGH
        )
        iterations += fit.iterations
        if fit.evidence > best.evidence:
            best = fit
    best = fit_mixture(graph, best.angles, dof=dof, like=best)
    return replace(best, iterations=iterations + best.iterations)


def jump(graph: MeasurementGraph, fit: MixtureFit) -> FloatArray | None:
    """Angles (n, k) after every node took its strongest agreement, or None if all have it."""
    confidence = np.clip(vote_trust(graph, fit), 0.05, 1.0)
    angles = fit.angles.copy()
    half = window_of(fit)
    jumped = False
    for group in range(angles.shape[1]):
        free = 1.0 - (fit.membership.sum(axis=1) - fit.membership[:, group])
        place, support, current = strongest_agreement(
            graph, fit.angles[:, group], free, confidence[:, group], half
        )
        moving = (support > current + 0.5) & (np.abs(place) > half)
        angles[moving, group] += place[moving]
        jumped |= bool(moving.any())
    return angles if jumped else None


def window_of(fit: MixtureFit) -> float:
    """Half width, in radians, of the window in which votes agree."""
    return float(np.clip(_WINDOW * fit.sigma, 10 * SIGMA_FLOOR, 1.0))


def strongest_agreement(
    graph: MeasurementGraph,
    angles: FloatArray,
    edge_trust: FloatArray,
    node_trust: FloatArray,
    half: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The window of ±`half` with most votes at each node.

    A vote weighs edge_trust (m,) times node_trust (n,) of the voter. Returns, per node, the mean
    of the window's votes relative to the node's present angle, its weight, and the weight of the
    window about the present angle. O(m log m): votes are sorted, windows are differences of sums.
    """
    n = graph.num_nodes
    node, vote, weight = _votes(graph, angles, edge_trust, node_trust)
    # Each vote appears a turn up and a turn down as well, so that windows may cross ±π; nodes are
    # kept apart by strides of five turns.
    stride = 5 * TWO_PI
    lifted = np.concatenate([vote - TWO_PI, vote, vote + TWO_PI])
    key = np.concatenate([node, node, node]) * stride + lifted
    order = np.argsort(key, kind="stable")
    key, lifted = key[order], lifted[order]
    mass = np.concatenate([weight, weight, weight])[order]
    sums = np.concatenate([[0.0], np.cumsum(mass)])
    moments = np.concatenate([[0.0], np.cumsum(mass * lifted)])

    def window(centre: FloatArray) -> tuple[FloatArray, FloatArray]:
        low = np.searchsorted(key, centre - half, "left")
        high = np.searchsorted(key, centre + half, "right")
        return sums[high] - sums[low], moments[high] - moments[low]

    support, moment = window(node * stride + vote)
    current = window(np.arange(n, dtype=np.float64) * stride)[0]
    # Last of each node after sorting by support; nearer votes win ties, whatever the numbering.
    order = np.lexsort((vote, -np.abs(vote), np.round(support, 9), node))
    last = order[np.searchsorted(node[order], np.arange(n), "right") - 1]
    place = moment[last] / np.maximum(support[last], np.finfo(float).tiny)
    return place, support[last], current


def _votes(
    graph: MeasurementGraph, angles: FloatArray, edge_trust: FloatArray, node_trust: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """2m votes: the node addressed, the angle voted for relative to its own, the weight."""
    node = np.concatenate([graph.src, graph.dst])
    voter = np.concatenate([graph.dst, graph.src])
    signed = np.concatenate([graph.offset, -graph.offset])
    vote = wrap(angles[voter] + signed - angles[node])
    return node, vote, np.concatenate([edge_trust, edge_trust]) * node_trust[voter]


def widened(fit: MixtureFit) -> MixtureFit:
    """The fit with σ wide enough for nodes that have just jumped to be pulled into place."""
    return replace(fit, sigma=max(fit.sigma, 1e-3))
