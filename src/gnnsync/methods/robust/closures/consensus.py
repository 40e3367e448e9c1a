"""Closures that only agree or disagree together: the largest consistent set, greedily."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.methods.robust.closures.density import posterior, relative_density
from gnnsync.methods.robust.closures.fit import ClosureFit
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Most closures that are compared with one another. Their covariance is dense: it is a matrix over
# closures still open, not over nodes, and at this number it has 18 MB.
_MOST = 1500
# Standard deviation (radians) below which a closure is judged alone, and the probability above
# which it is then believed.
_TIGHT, _SURE = 0.1, 0.9
# Least probability of a closure that may be proposed.
_PROPOSED = 0.2
_LEAST_VARIANCE = 1e-12


@dataclass
class _Open:
    """The open closures: prediction errors (c,) with covariance (c, c), and own noise (c,)."""

    error: FloatArray
    covariance: FloatArray
    noise: FloatArray
    believed: BoolArray

    @property
    def variance(self) -> FloatArray:
        return np.maximum(self.covariance.diagonal(), 0.0) + self.noise

    def believe(self, chosen: IntArray) -> None:
        """Condition the others on closures that are inliers (the update of a Kalman filter)."""
        column = self.covariance[:, chosen]
        system = column[chosen] + np.diag(self.noise[chosen])
        gain = np.linalg.solve(system, column.T).T
        self.error = wrap(self.error - gain @ self.error[chosen])
        self.covariance = self.covariance - gain @ column.T
        self.believed[chosen] = True


def reach_consensus(problem: ClosureProblem, core: ClosureFit) -> FloatArray:
    """Probabilities (m,) after deciding on the closures that `admit_tight` left open.

    Closures with a tight prediction are believed if they fit it. When none is left, every plausible
    closure is proposed in turn: its score is its own log odds and what believing it changes in the
    log probability of all other open closures. The proposal of greatest score is believed, if the
    score is positive, and makes other predictions tight. Two true closures between drifting
    stretches support each other this way, where neither could be believed alone.
    """
    probability = core.probability.copy()
    assert core.admitted is not None
    left = np.flatnonzero(~core.admitted)
    if not len(left):
        return probability
    factor = _factor(problem, core)
    left = left[np.argsort(factor.resistance()[problem.closures[left]], kind="stable")[:_MOST]]
    chance = probability[problem.closures]
    chance[~core.admitted] = 0.5
    state = _open(problem, core, factor, problem.closures[left])
    while True:
        density = relative_density(state.error, state.variance)
        share = problem.outlier_share(chance)[left]
        fits = posterior(density, share)
        chance[left] = np.where(state.believed, 1.0, fits)
        tight = np.sqrt(state.variance) < _TIGHT
        chosen = np.flatnonzero(tight & (fits > _SURE) & ~state.believed)
        if not len(chosen):
            proposed = np.flatnonzero(~tight & (fits > _PROPOSED) & ~state.believed)
            chosen = _best(state, proposed, density, share)
        if not len(chosen):
            break
        state.believe(chosen)
    probability[problem.closures[left]] = np.where(tight | state.believed, chance[left], 0.0)
    return probability


def _best(state: _Open, proposed: IntArray, density: FloatArray, share: FloatArray) -> IntArray:
    """The proposal of greatest score, or none if no score is positive."""
    if not len(proposed):
        return proposed
    other = np.flatnonzero(~state.believed)
    column = state.covariance[np.ix_(proposed, other)]
    gain = column / state.variance[proposed, None]
    error = wrap(state.error[other] - gain * state.error[proposed, None])
    reduced = np.maximum(state.variance[other] - gain * column, state.noise[other])
    before = np.log(share[other] + (1.0 - share[other]) * density[other])
    after = np.log(share[other] + (1.0 - share[other]) * relative_density(error, reduced))
    change = after - before
    change[np.arange(len(proposed)), np.searchsorted(other, proposed)] = 0.0
    odds = (1.0 - share[proposed]) / share[proposed] * density[proposed]
    score = change.sum(axis=1) + np.log(odds)
    best = int(score.argmax())
    return proposed[[best]] if score[best] > 0.0 else proposed[:0]


def _factor(problem: ClosureProblem, core: ClosureFit) -> LaplacianFactor:
    factor = problem.factor()
    factor.update(core.probability / core.scales.variance(problem))
    return factor


def _open(
    problem: ClosureProblem, core: ClosureFit, factor: LaplacianFactor, edges: IntArray
) -> _Open:
    """The open closures as the believed edges predict them."""
    src, dst = problem.graph.edge_index[:, edges]
    covariance = np.empty((len(edges), len(edges)))
    right = np.zeros(problem.graph.num_nodes)
    for i, (s, t) in enumerate(zip(src, dst, strict=True)):
        right[s], right[t] = 1.0, -1.0
        response = factor.solve(right)
        right[s] = right[t] = 0.0
        covariance[i] = response[src] - response[dst]
    return _Open(
        error=problem.residual(core.angles)[edges],
        covariance=(covariance + covariance.T) / 2.0,
        noise=np.maximum(core.scales.variance(problem)[edges], _LEAST_VARIANCE),
        believed=np.zeros(len(edges), dtype=bool),
    )
