"""The trained network's forward pass in NumPy: `auto` starts from it without loading torch.

The computation is that of `gnnsync.learn.inductive.network`, where the formulas are, for a single
graph and without gradients. A test compares the two.
"""

from __future__ import annotations

import numpy as np

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.belief.propagation import Posterior
from gnnsync.methods.robust.costs import NETWORK_COSTS
from gnnsync.methods.robust.unrolled.start import (
    PreparedGraph,
    prepare,
    seed_problem,
    with_solved_seed,
)
from gnnsync.methods.robust.unrolled.sweeps import Noise, Propagation
from gnnsync.methods.robust.unrolled.weights import Perceptron, Weights, shipped_weights
from gnnsync.typing import FloatArray
from gnnsync.work import advance, loop, plan, time_is_up

# Bound of the logit of the inlier share.
_MOST_LOGIT = 6.0
# Beyond these sizes, up to which training went, a graph counts as one of this size.
_MOST_NODES, _MOST_DEGREE = 500.0, 150.0
# Limits of the share in the logit that the perceptrons read.
_LEAST_SHARE = 1e-3
# Share of inliers assumed without a sweep.
_FIRST_SHARE = 0.5


def solve_unrolled(
    graph: MeasurementGraph,
    k: int,
    rng: np.random.Generator,
    *,
    known: FloatArray | None = None,
    weights: Weights | None = None,
) -> Posterior:
    """Marginals of the angles of a graph; a seed of k > 1 groups is solved before the rest.

    Args:
        graph: a connected graph.
        k: number of groups.
        rng: for the start vectors of the eigensolver.
        known: (n, k) anchors, NaN where an angle is unknown.
        weights: by default those that come with the package.
    """
    weights = weights or shipped_weights()
    plan(NETWORK_COSTS)
    prepared = prepare(graph, k, rng=rng, known=known)
    seed = seed_problem(prepared, rng)
    if seed is not None:
        found = unrolled_posterior(seed, weights)
        means = point_estimates(found.marginals, found.origin)[1]
        prepared = with_solved_seed(prepared, means)
    return unrolled_posterior(prepared, weights)


def unrolled_posterior(
    prepared: PreparedGraph, weights: Weights, sweeps: int | None = None
) -> Posterior:
    """The marginals of `unrolled_beliefs`."""
    return unrolled_beliefs(prepared, weights, sweeps)[0]


def unrolled_beliefs(
    prepared: PreparedGraph, weights: Weights, sweeps: int | None = None
) -> tuple[Posterior, FloatArray]:
    """Marginals of the angles, and inlier probabilities (m,), by T sweeps of learned propagation.

    Args:
        prepared: n nodes, m edges, k groups.
        weights: of the trained network.
        sweeps: by default `num_sweeps`.
    """
    if time_is_up():
        return _at_start(prepared, weights.bins)
    count = sweeps or num_sweeps(prepared, weights)
    state = Propagation(prepared, weights.bins, weights.first)
    fixed = _fixed_features(prepared)
    done = 0
    with loop("sweeps"):
        while done < count and not time_is_up():
            layer = done * len(weights.of_graph) // count
            about = _graph_features(state, fixed, done / max(count - 1, 1))
            state.sweep(_noise(weights.of_graph[layer], about, state), weights.of_arc[layer], about)
            done += 1
            advance(done / count)
    marginals = state.marginals(float(np.exp(np.tanh(weights.last))))
    sigma = float(np.exp(state.log_sigma))
    inlier = np.clip(state.membership.sum(axis=0), 0.0, 1.0).astype(np.float64)
    return Posterior(marginals, prepared.start, state.share, sigma, done), inlier


def _at_start(prepared: PreparedGraph, bins: int) -> tuple[Posterior, FloatArray]:
    """Beliefs that are certain of the initial angles: what there is at the time limit."""
    marginals = np.zeros((*prepared.start.shape, bins))
    marginals[..., 0] = 1.0
    share = np.full(prepared.k, _FIRST_SHARE / prepared.k)
    inlier = np.full(prepared.graph.num_edges, _FIRST_SHARE)
    return Posterior(marginals, prepared.start, share, 1.0, 0, converged=False), inlier


def num_sweeps(prepared: PreparedGraph, weights: Weights) -> int:
    """T, more for k > 2; or T and those in which beliefs spread from a seed, solved before."""
    if prepared.sweeps:
        return weights.num_layers + prepared.sweeps
    return weights.num_layers * max(1, prepared.k - 1)


def _noise(perceptron: Perceptron, about: FloatArray, state: Propagation) -> Noise:
    """η, σ, temperature and damping from the invariants (F,) of the graph."""
    logit, log_sigma, temperature, damping = (
        perceptron(about.astype(np.float32)[:, None]).ravel().tolist()
    )
    inliers = _sigmoid(np.clip(logit, -_MOST_LOGIT, _MOST_LOGIT))
    return Noise(
        inliers * state.share / state.share.sum(),
        state.bounded(log_sigma),
        float(np.exp(np.tanh(temperature))),
        _sigmoid(damping),
    )


def _fixed_features(prepared: PreparedGraph) -> FloatArray:
    """Invariants (F,) of the graph that do not change from sweep to sweep."""
    graph = prepared.graph
    first, second = np.log(np.maximum(prepared.degree, 1.0))[graph.edge_index]
    degree = 2.0 * graph.num_edges / graph.num_nodes
    return np.array(
        [
            0.5 * np.log(min(degree, _MOST_DEGREE)) - 1.5,
            0.2 * np.log(min(graph.num_nodes, _MOST_NODES)) - 1.0,
            np.log(prepared.k),
            prepared.cycles[:, 1].mean(),
            (prepared.cycles[:, 0] - 0.5 * (first + second)).mean(),
            graph.edge_trusted.mean(),
            np.abs(first - second).mean(),
            *prepared.about,
        ]
    )


def _graph_features(state: Propagation, fixed: FloatArray, progress: float) -> FloatArray:
    """Invariants (F,) of the graph and of the state, in the order of the perceptrons."""
    share = np.clip(state.share.sum(), _LEAST_SHARE, 1.0 - _LEAST_SHARE)
    logit = np.log(share / (1.0 - share))
    certain = np.square(state.membership).sum(axis=0).mean()
    return np.array([logit, state.log_sigma, progress, *fixed[:3], certain, *fixed[3:]])


def _sigmoid(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(-x)))
