"""Noise of trusted edges and closures, estimated before any closure is believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.methods.robust.closures.density import relative_density
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.noise.law import SIGMA_FLOOR
from gnnsync.topology import bridges
from gnnsync.typing import FloatArray

# Values that are tried: standard deviation of a trusted edge, that of a closure in units of it,
# share of outliers, and drifts up to this many radians over the longest closures.
_SIGMAS = np.geomspace(1e-3, 0.3, 14)
_RATIOS = (0.5, 1.0, 2.0, 5.0)
_SHARES = (0.02, 0.1, 0.3, 0.6, 0.85)
_DRIFTS, _LONGEST_TURN = 80, 6.0
# Standard deviation of the logarithm of the ratio, before the data.
_LOG_RATIO = np.log(3.0)
# Log likelihood that a drift must gain.
_DRIFT_HANDICAP = 2.0
# Fewest closures that can tell a drift: one or two are always explained by some drift.
_LEAST_FOR_DRIFT = 8
# Fewest trusted edges on cycles of their own that tell their noise, the least part of a residual
# that a fit leaves, and least-squares solves.
_LEAST_CHECKED, _LEAST_REST, _SOLVES = 20, 1e-3, 5
# Closures that are used, drawn at random, and the number below which several estimates are
# returned: more closures leave no doubt.
_SAMPLE, FEW_CLOSURES = 300, 100


# Median of |z| for a standard normal z.
NORMAL_MEDIAN = 0.6745


@dataclass(frozen=True)
class Scales:
    """Standard deviations in radians of an edge of relative weight 1, and the drift per step."""

    trusted: float
    closure: float
    drift: float = 0.0

    def variance(self, problem: ClosureProblem) -> FloatArray:
        """Variance (m,) of the noise of each edge."""
        sigma = np.where(problem.trusted, self.trusted, self.closure)
        return sigma**2 / problem.weight


def initial_scales(problem: ClosureProblem, rng: np.random.Generator) -> list[Scales]:
    r"""Scales of greatest likelihood, given that closures are judged by trusted edges alone.

    The error of the prediction along the tree has the variance v = s² R + c²/w, with R the
    effective resistance of the trusted edges and s, c the two scales; outliers are uniform. The
    likelihood is compared on a grid of s, c, outlier share and drift (the turn per step that a
    biased gyroscope adds). With few closures several estimates are nearly as likely: the best for
    each outlier share is returned, the most likely first.
    """
    sigmas = _trusted_sigma(problem)
    residual, resistance, step, weight = _sample(problem, rng)
    top = _LONGEST_TURN / max(float(np.quantile(np.abs(step), 0.9)), 1.0)
    drift = np.append(np.linspace(-top, top, _DRIFTS), 0.0)
    drift = drift if len(step) >= _LEAST_FOR_DRIFT else drift[-1:]
    shifted = wrap(residual - drift[:, None] * step)
    handicap = np.where(drift == 0.0, 0.0, _DRIFT_HANDICAP)
    best: dict[float, tuple[float, Scales]] = {}
    for sigma in sigmas:
        for ratio in _RATIOS:
            variance = (sigma * ratio) ** 2 / weight + sigma**2 * resistance
            density = relative_density(shifted, np.broadcast_to(variance, shifted.shape))
            for share in _SHARES:
                likelihood = np.log(share + (1.0 - share) * density).sum(axis=1)
                likelihood -= handicap + 0.5 * (np.log(ratio) / _LOG_RATIO) ** 2
                place = int(likelihood.argmax())
                if share not in best or likelihood[place] > best[share][0]:
                    scales = Scales(float(sigma), float(sigma * ratio), float(drift[place]))
                    best[share] = float(likelihood[place]), scales
    ranked = sorted(best.values(), key=lambda pair: -pair[0])
    found = list(dict.fromkeys(scales for _, scales in ranked))
    return found if len(problem.closures) < FEW_CLOSURES else found[:1]


def _trusted_sigma(problem: ClosureProblem) -> FloatArray:
    """The standard deviations to try: the one estimated if trusted edges check one another."""
    graph = problem.graph
    checked = ~bridges(graph.edge_index[:, problem.trusted], graph.num_nodes)
    if checked.sum() < _LEAST_CHECKED:
        return _SIGMAS
    factor = problem.factor()
    factor.update(np.where(problem.trusted, problem.weight, 0.0))
    angles = problem.start()
    for _ in range(_SOLVES):
        angles = angles + factor.least_squares(
            np.where(problem.trusted, problem.residual(angles), 0.0)
        )
    kept = np.flatnonzero(problem.trusted)[checked]
    rest = 1.0 - (problem.weight * factor.resistance())[kept]
    squares = problem.weight[kept] * problem.residual(angles)[kept] ** 2
    z = np.sqrt(squares / np.maximum(rest, _LEAST_REST))
    return np.array([max(float(np.median(z)) / NORMAL_MEDIAN, SIGMA_FLOOR)])


def _sample(
    problem: ClosureProblem, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Prediction errors, resistances, steps between the ends, and weights of some closures."""
    factor = problem.factor()
    factor.update(np.where(problem.trusted, problem.weight, 0.0))
    edges = problem.closures
    if len(edges) > _SAMPLE:
        edges = np.sort(rng.choice(edges, _SAMPLE, replace=False))
    src, dst = problem.graph.edge_index[:, edges]
    return (
        problem.residual(problem.start())[edges],
        factor.resistance()[edges],
        problem.steps[src] - problem.steps[dst],
        problem.weight[edges],
    )
