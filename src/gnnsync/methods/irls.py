"""Iteratively reweighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import factorises, least_squares_shift
from gnnsync.linalg.operator import EdgeOperator, phasor, unit
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.convergence import first_scale, is_negligible, typical_residual
from gnnsync.methods.spectral import spectral_start
from gnnsync.typing import BoolArray, ComplexArray, FloatArray
from gnnsync.work import advance, iteration_limit, plan, stage, time_is_up

# Quantile of the trusted residuals that gives trusted edges their weight. At the median random
# edges outvote them at a coarse ε; at 0 they would be exact, and odometry is not.
_TRUSTED_RESIDUAL = 0.25
# Relative times of the stages, and rounds until convergence relative to those in which ε falls, for
# the progress that is shown.
_COSTS = {"spectral start": 1.0, "reweighting": 12.0}
_EXPECTED_ROUNDS = 1.3


@dataclass(frozen=True)
class IRLS(ClassicalMethod):
    r"""Minimum sum of p-th powers of the residuals, p = 1 by default (Chatterjee and Govindu 2013).

    .. math:: \min_{|z_i|=1} \sum_{e=(s,t)} w_e \bigl(|z_s - e^{i a_e} z_t|^2 +
              \varepsilon^2\bigr)^{p/2}

    is solved by reweighting: with :math:`u_e = w_e (|z_s - e^{i a_e} z_t|^2 + ε²)^{p/2 - 1}`, take
    steps z ← phase((H_u + D_u) z). H_u + D_u is positive semidefinite, so each step lowers the
    reweighted least squares, hence the objective. On sparse graphs with long chains, where such
    steps converge slowly, z_i ← z_i e^{i x_i} with x the solution of the Laplacian system
    :math:`\min_x \sum_e u_e (x_s - x_t + \sin r_e)^2` does the same: 2u bounds the curvature of
    :math:`u |z_s - e^{i a} z_t|^2 = 4u \sin^2(r/2)`. ε falls by a constant factor per reweighting,
    from coarse (nearly least squares) to fine. All trusted edges have the weight of their lower
    quartile of residuals, so that none is taken for an outlier. Starts from the row-normalised
    spectral solution.

    Args:
        p: exponent, in (0, 2]; 2 is plain least squares.
        max_iterations: most reweightings.
        steps: steps z ← phase((H_u + D_u) z) per reweighting.
        epsilon: first ε.
        epsilon_min: last ε, reached geometrically.
        decay: factor of ε per reweighting.
        tol: stop when ε is at its last value and the root mean square movement of z in a
            reweighting is below this.
    """

    name = "irls"
    stops_early = True
    canonical = True
    takes_start = True

    p: float = 1.0
    max_iterations: int = 500
    steps: int = 5
    epsilon: float = 1.0
    epsilon_min: float = 1e-5
    decay: float = 0.8
    tol: float = 1e-6

    def check(self) -> None:
        """Ranges of the parameters."""
        check_real("p", self.p, 0, 2, open_low=True)
        check_integer("max_iterations", self.max_iterations, 1)
        check_integer("steps", self.steps, 1)
        check_real("epsilon", self.epsilon, 0, open_low=True)
        check_real("epsilon_min", self.epsilon_min, 0, self.epsilon, open_low=True)
        check_real("decay", self.decay, 0, 1, open_low=True, open_high=True)
        check_real("tol", self.tol, 0, open_low=True)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n,) of a stationary point of the robust objective."""
        plan(_COSTS)
        operator, trusted = EdgeOperator(graph), graph.edge_trusted
        with stage("spectral start"):
            plan({"eigenvectors": 1.0})
            z = phasor(spectral_start(graph, rng))
        with stage("reweighting"):
            return self._reweighted(graph, operator, z, trusted, self.epsilon)

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same from angles (n, 1), with the first ε three times the noise of its inliers."""
        plan({"reweighting": 1.0})
        residual = graph.residual(start[:, 0])
        epsilon = first_scale(residual, self.epsilon_min, self.epsilon)
        with stage("reweighting"):
            return self._reweighted(
                graph, EdgeOperator(graph), phasor(start[:, 0]), graph.edge_trusted, epsilon
            )

    def _reweighted(
        self,
        graph: MeasurementGraph,
        operator: EdgeOperator,
        z: ComplexArray,
        trusted: BoolArray,
        epsilon: float,
    ) -> Estimate:
        """Reweighted least squares from z (n,) and the first ε."""
        factored = factorises(operator)
        falling = np.log(epsilon / self.epsilon_min) / -np.log(self.decay)
        expected = min(_EXPECTED_ROUNDS * falling + 1.0, self.max_iterations)
        steps, iterations = (np.inf, np.inf), 0
        while iterations < self.max_iterations:
            iterations += 1
            chord = operator.squared_chord(z)
            if trusted.any():
                chord[trusted] = np.quantile(chord[trusted], _TRUSTED_RESIDUAL)
            weight = graph.edge_weight * (chord + epsilon**2) ** (self.p / 2 - 1)
            before = z
            if factored:
                sine = operator.residual_phase(z).imag
                z = z * phasor(least_squares_shift(operator, weight, -sine))
            else:
                matrix, degree = operator.hermitian(weight), operator.degree(weight)
                for _ in range(self.steps):
                    z = unit(matrix @ z + degree * z, z)
            steps = float(np.linalg.norm(z - before) / np.sqrt(graph.num_nodes)), steps[0]
            last = epsilon == self.epsilon_min
            advance(iterations / expected)
            if (last and steps[0] <= self.tol) or time_is_up():
                break
            epsilon = max(epsilon * self.decay, self.epsilon_min)
        noise = typical_residual(graph.residual(np.angle(z)))
        converged = steps[0] <= self.tol or (last and is_negligible(*steps, noise))
        objective = graph.edge_weight @ operator.squared_chord(z) ** (self.p / 2)
        return Estimate(
            np.angle(z),
            converged,
            iterations,
            "angles stopped moving" if converged else iteration_limit(iterations),
            diagnostics={"objective": float(objective), "last_move": steps[0]},
        )
