"""Truncated least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.convergence import first_scale
from gnnsync.methods.spectral import spectral_start
from gnnsync.typing import FloatArray
from gnnsync.work import advance_towards, iteration_limit, plan, stage, time_is_up

# Relative times of the stages, for the progress that is shown.
_COSTS = {"spectral start": 1.0, "truncated least squares": 8.0}


@dataclass(frozen=True)
class TranSync(ClassicalMethod):
    r"""Truncated least squares with a shrinking truncation (Huang, Liang, Bajaj and Huang 2017).

    Round j solves the least squares of the edges whose residual is below the truncation,

    .. math:: \min_r \sum_{e:\, |m_e(r_{j-1})| < \delta_j} w_e\, m_e(r)^2, \qquad
              m_e(r) = \mathrm{wrap}(r_s - r_t - a_e), \qquad \delta_{j+1} = c\,\delta_j,

    until δ < δ_min. The original synchronizes numbers on a line, where the least squares is linear;
    on the circle each round takes `steps` Gauss–Newton steps on the wrapped residuals. Trusted
    edges are always kept. Starts from the row-normalised spectral solution.

    Args:
        delta: first truncation, in radians.
        delta_min: last truncation.
        decay: c, the factor per round.
        steps: Gauss–Newton steps per round.
    """

    name = "transync"
    stops_early = True
    takes_start = True

    delta: float = 2.0
    delta_min: float = 1e-3
    decay: float = 0.9
    steps: int = 2

    def check(self) -> None:
        """Ranges of the parameters."""
        check_real("delta", self.delta, 0, np.pi, open_low=True)
        check_real("delta_min", self.delta_min, 0, self.delta, open_low=True)
        check_real("decay", self.decay, 0, 1, open_low=True, open_high=True)
        check_integer("steps", self.steps, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) of the last round with an edge below the truncation."""
        plan(_COSTS)
        operator = EdgeOperator(graph)
        with stage("spectral start"):
            plan({"eigenvectors": 1.0})
            angles = spectral_start(graph, rng)
        with stage("truncated least squares"):
            return self._truncated(graph, operator, angles, self.delta)

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same from angles (n, 1), with the first δ three times the noise of its inliers."""
        plan({"truncated least squares": 1.0})
        delta = first_scale(graph.residual(start[:, 0]), self.delta_min, self.delta)
        with stage("truncated least squares"):
            return self._truncated(graph, EdgeOperator(graph), start[:, 0], delta)

    def _truncated(
        self, graph: MeasurementGraph, operator: EdgeOperator, angles: FloatArray, delta: float
    ) -> Estimate:
        """Rounds of truncated least squares from angles (n,) and the first δ."""
        rounds, finished = 0, True
        reason = "truncation at its last value"
        while delta >= self.delta_min:
            advance_towards(self.delta_min, self.delta, delta)
            if time_is_up():
                reason, finished = iteration_limit(rounds), False
                break
            kept = (np.abs(graph.residual(angles)) < delta) | graph.edge_trusted
            if not kept.any():
                reason = "no edge below the truncation"
                break
            weight = graph.edge_weight * kept
            for _ in range(self.steps):
                angles = angles + least_squares_shift(operator, weight, -graph.residual(angles))
            delta *= self.decay
            rounds += 1
        kept = np.abs(graph.residual(angles)) < delta / self.decay
        return Estimate(
            angles,
            converged=finished,
            iterations=rounds,
            stop_reason=reason,
            diagnostics={"edges_kept": float(kept.mean())},
        )
