"""Graduated non-convexity from a multi-frequency initialisation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.laplacian import gauss_newton_step
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.convergence import first_scale
from gnnsync.methods.robust.confidence.assessment import assess
from gnnsync.methods.robust.initialisation import initial_angles, trusted_part
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.typing import FloatArray
from gnnsync.work import advance, advance_towards, iteration_limit, plan, stage, time_is_up

# Grid of angles on which the frequencies are fused, several points per period of the largest, and
# rounds of the fusion.
_GRID, _MOST_FREQUENCIES = 256, 16
_FUSION_ROUNDS = 2
# Conjugate gradient steps per least squares solve and their relative accuracy; the next iteration
# continues from there.
_SOLVE_STEPS, _SOLVE_ACCURACY = 200, 1e-4
# The scale stops falling at this many times the noise of the inliers, or at the radians given:
# EM under the mixture model continues from there.
_LAST_SCALE_SIGMAS, _LAST_SCALE = 3.0, 0.02
# Relative times of the stages, for the progress that is shown.
_COSTS = {"spectral start": 3.0, "annealing": 3.0, "EM": 2.0, "confidence": 2.0}
# Keeps the division of an edge's weight among the groups finite where none explains it.
_LEAST_TOTAL = 1e-12


@dataclass(frozen=True)
class GNC(ClassicalMethod):
    r"""Geman–McClure loss with a falling scale (Yang, Antonante, Tzoumas and Carlone 2020).

    .. math:: \min_θ \sum_e w_e \frac{r_e^2}{r_e^2 + c^2}, \qquad
              u_e = w_e \Bigl(\frac{c^2}{r_e^2 + c^2}\Bigr)^2

    is solved by least squares with weights u, c falling geometrically from `scale`. Once c reaches
    three times the weighted noise, EM under the mixture model continues. For k > 1 an edge's weight
    is divided among the groups in proportion to their u.

    Args:
        frequencies: k = 1 starts from the leading eigenvectors of H with offsets multiplied by
            1..frequencies, fused node by node; 1 for the plain spectral solution.
        scale: first c, radians.
        decay: factor of c per iteration.
        max_iterations: most iterations.
    """

    name = "gnc"
    any_k = True
    stops_early = True
    canonical = True
    takes_start = True

    frequencies: int = 4
    scale: float = 2.0
    decay: float = 0.85
    max_iterations: int = 60

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("frequencies", self.frequencies, 1, _MOST_FREQUENCIES)
        check_real("scale", self.scale, 0, open_low=True)
        check_real("decay", self.decay, 0, 1, open_low=True, open_high=True)
        check_integer("max_iterations", self.max_iterations, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k)."""
        plan(_COSTS)
        return self._assessed(graph, self.fit(graph, k, rng), rng)

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same from angles (n, k); the first scale is three times the noise of the inliers."""
        plan({name: cost for name, cost in _COSTS.items() if name != "spectral start"})
        residual = np.abs(graph.residual(start)).min(axis=1)
        scale = first_scale(residual, _LAST_SCALE, self.scale)
        with stage("annealing"):
            angles, iterations = self._lowered(graph, start, scale)
        return self._assessed(graph, _mixture(graph, angles, iterations), rng)

    def _assessed(
        self, graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
    ) -> Estimate:
        with stage("confidence"):
            assessed = assess(graph, fit, rng)
        return Estimate(
            **assessed.fields,
            converged=fit.converged,
            iterations=fit.iterations,
            stop_reason="EM converged" if fit.converged else iteration_limit(fit.iterations),
            diagnostics={"eta": fit.eta, "sigma": fit.sigma, "evidence": fit.evidence},
        )

    def fit(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> MixtureFit:
        """The mixture fitted from the angles at the last scale."""
        return _mixture(graph, *self._annealed(graph, k, rng))

    def anneal(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> FloatArray:
        """Angles (n, k) at the last scale."""
        plan({name: _COSTS[name] for name in ("spectral start", "annealing")})
        return self._annealed(graph, k, rng)[0]

    def _annealed(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator
    ) -> tuple[FloatArray, int]:
        """Angles (n, k) at the last scale, and the iterations."""
        with stage("spectral start"):
            angles = initial_angles(graph, k, rng)
            if k == 1 and self.frequencies > 1:
                part = trusted_part(graph)
                angles = fused_angles(part, angles[:, 0], self.frequencies, rng)[:, None]
        with stage("annealing"):
            return self._lowered(graph, angles, self.scale)

    def _lowered(
        self, graph: MeasurementGraph, angles: FloatArray, scale: float
    ) -> tuple[FloatArray, int]:
        """Angles (n, k) at the last scale from those at the first, and the iterations."""
        operator, first = EdgeOperator(graph), scale
        for iteration in range(1, self.max_iterations + 1):  # noqa: B007
            advance_towards(_LAST_SCALE, first, scale)
            residual = graph.residual(angles)
            trust = (scale**2 / (scale**2 + residual**2)) ** 2
            part = trust / np.maximum(trust.sum(axis=1, keepdims=True), _LEAST_TOTAL)
            # An edge that is trusted is divided among the groups in full.
            trust = np.where(graph.edge_trusted[:, None], part, trust * part)
            trust *= graph.edge_weight[:, None]
            step = gauss_newton_step(
                operator, trust, residual, max_iterations=_SOLVE_STEPS, tol=_SOLVE_ACCURACY
            )
            angles = wrap(angles + step)
            noise = np.sqrt((trust * residual**2).sum() / trust.sum())
            scale *= self.decay
            if scale < _LAST_SCALE_SIGMAS * noise or scale < _LAST_SCALE or time_is_up():
                break
        return angles, iteration


def _mixture(graph: MeasurementGraph, angles: FloatArray, iterations: int) -> MixtureFit:
    """The mixture fitted from angles (n, k), which took some iterations."""
    with stage("EM"):
        plan({"EM": 1.0})
        fit = fit_mixture(graph, angles)
    return replace(fit, iterations=iterations + fit.iterations)


def fused_angles(
    graph: MeasurementGraph, start: FloatArray, frequencies: int, rng: np.random.Generator
) -> FloatArray:
    r"""Angles (n,) from several frequencies (after Gao and Zhao 2019).

    With v_q the leading eigenvector of H for offsets times q, every node takes the angle of
    greatest :math:`\sum_q λ_q \mathrm{Re}(\bar v_{q,i} s_q e^{iqθ})`. The common phase s_q of v_q
    is chosen to agree with the angles found so far; two rounds.
    """
    operator = EdgeOperator(graph)
    grid = TWO_PI * np.arange(_GRID) / _GRID
    order = np.arange(1, frequencies + 1)
    vectors = []
    for frequency in order:
        advance((frequency - 1) / frequencies)
        matrix = operator.normalised(graph.edge_weight, int(frequency))
        value, vector, _ = top_eigenvectors(matrix, 1, rng, bound=1.0)
        vectors.append(max(float(value[0]), 0.0) * vector[:, 0])
    basis = np.stack(vectors, axis=1)
    waves = np.exp(1j * order[:, None] * grid)
    angles = start
    for _ in range(_FUSION_ROUNDS):
        phase = (np.exp(-1j * order * angles[:, None]) * basis).sum(axis=0)
        aligned = basis * np.exp(-1j * np.angle(phase))
        # Relative to the present angle, so that the nodes' zero directions do not matter.
        local = aligned * np.exp(-1j * order * angles[:, None])
        angles = wrap(angles + grid[(local.conj() @ waves).real.argmax(axis=1)])
    return angles
