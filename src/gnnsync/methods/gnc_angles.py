"""Angles of pose graphs: trusted odometry, and closures of which many may be false.

trusted edges ── angles along their tree; noise, drift of the odometry   closures/scales
  │
  ├─ closures with a tight prediction are judged one by one              closures/core
  ├─ the others by how many of them agree                                closures/consensus
  ├─ fit of angles, noise and every edge, given all the others           closures/fit
  │    (from several starts; the fit of greatest evidence is kept)
  ├─ a trusted edge that many closures contradict alike is let go        closures/slips
  └─ final angles: least squares on the believed edges, stated weights
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gnnsync.errors import GraphError, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.closures.averaging import averaged_fit
from gnnsync.methods.robust.closures.consensus import reach_consensus
from gnnsync.methods.robust.closures.core import admit_tight
from gnnsync.methods.robust.closures.density import posterior, relative_density
from gnnsync.methods.robust.closures.fit import (
    BAD_TRUSTED,
    ClosureFit,
    believed_weight,
    fit_closures,
)
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import FEW_CLOSURES, Scales, initial_scales
from gnnsync.methods.robust.closures.slips import find_slip, turned
from gnnsync.methods.spectral import SpectralRN
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import iteration_limit, time_is_up

log = logging.getLogger(__name__)

# Standard deviations of a prediction (radians) up to which a closure is judged alone. A small one
# leaves more to the consensus, a large one less: neither is better on all graphs.
_GATES = (0.08, 0.12)
# Noise of a prediction (radians) at a start that comes without one, and its outlier share.
_START_NOISE, _START_SHARE = 0.1, 0.2
# Most trusted edges that are found wrong one after the other.
_MOST_SLIPS = 5
# Graphs whose factor would have too many entries: more nodes than this, and more edges per node.
_MANY_NODES, _DENSE = 5_000, 8
# Iterations after which fits from different starts are compared.
_FEW_ITERATIONS = 6
# Least-squares solves of the final angles, at most, and the change at which they stop.
_FINAL_SOLVES, _FINAL_CHANGE = 20, 1e-10


@dataclass(frozen=True)
class GNCAngles(ClassicalMethod):
    r"""Robust synchronization of pose graphs, on unwrapped angles (after Carlone and others 2014).

    Near the right angles the residuals are small, and

    .. math:: \min_θ \sum_e p_e w_e (θ_s - θ_t - b_e)^2, \qquad
        b_e = \hat θ_s - \hat θ_t + \mathrm{wrap}(a_e - \hat θ_s + \hat θ_t)

    is one sparse linear system. Trusted edges (`MeasurementGraph.trusted`, such as odometry) give
    the first angles \hat θ; the weights p of the other edges, the closures, grow from those whose
    prediction is tight to the rest (graduated, as in Yang, Antonante, Tzoumas and Carlone 2020),
    where sets that agree decide together. Standard deviations of trusted edges and closures are
    estimated, apart from each other: stated ones are often off by a factor of ten. A trusted edge
    whose neighbours refute it is let go. Without trusted edges the start is spectral.

    The final angles are the least-squares solution on the believed edges with their stated weights.

    Args:
        max_iterations: most iterations of each fit.
    """

    name = "gnc_angles"
    stops_early = True
    takes_start = True
    canonical = True

    max_iterations: int = 25

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("max_iterations", self.max_iterations, 1)

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same with angles (n, 1) as a further start, which competes by its evidence."""
        return self.estimate(graph, k, rng, start)

    def estimate(
        self,
        graph: MeasurementGraph,
        k: int,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Estimate:
        """Angles (n,), with the noise of both kinds of edges in the diagnostics."""
        if graph.num_nodes > _MANY_NODES and graph.num_edges > _DENSE * graph.num_nodes:
            raise GraphError(
                f"the graph has {graph.num_edges} edges on {graph.num_nodes} nodes, and gnc_angles "
                "factorises sparse graphs such as pose graphs: use gnc or auto"
            )
        problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
        if not len(problem.closures):
            angles = _final_angles(problem, problem.start(), graph.edge_weight)
            confidence = np.ones(graph.num_edges)
            return Estimate(angles, stop_reason="no closures", edge_confidence=confidence)
        fits = self._ranked_fits(problem, rng, start)
        fit = fits[0]
        weight = believed_weight(problem, (fit.probability > 0.5).astype(float))
        angles = _final_angles(problem, fit.angles, graph.edge_weight * weight)
        several = fits if len(problem.closures) < FEW_CLOSURES else fits[:1]
        averaged = averaged_fit(problem, several, angles)
        return Estimate(
            angles,
            converged=fit.converged,
            iterations=fit.iterations,
            stop_reason=_reason(fit),
            edge_confidence=averaged.edge_confidence,
            node_confidence=averaged.node_confidence,
            node_deviation=averaged.node_deviation,
            edge_precision=averaged.edge_precision,
            diagnostics={
                "sigma": fit.scales.closure,
                "sigma_trusted": fit.scales.trusted,
                "drift": fit.scales.drift,
                "evidence": fit.evidence,
            },
        )

    def _ranked_fits(
        self, problem: ClosureProblem, rng: np.random.Generator, start: FloatArray | None
    ) -> list[ClosureFit]:
        """Fits from all starts, with equal and stated weights, by falling evidence."""
        fits = list(self._fits(problem, rng))
        if start is not None and not time_is_up():
            angles = start.reshape(-1)
            given = self._fit(problem, angles, _fitting(problem, angles), fits[0].scales)
            # The evidence of the same verdicts counts once.
            believed = given.probability > 0.5
            if not any(np.array_equal(believed, fit.probability > 0.5) for fit in fits):
                fits.append(given)
        fits = sorted(fits, key=_evidence, reverse=True)
        if time_is_up():
            return fits
        rough, best = fits[0], self._again(problem, fits[0])
        graph = problem.graph
        if graph.weight is not None:
            stated = ClosureProblem.of(graph, graph.weight / np.median(graph.weight))
            other = self._again(stated, best)
            if other.evidence > best.evidence:
                problem, best = stated, other
        best = self._without_slips(problem, best)
        # The finished fit takes the place of the rough one: evidence of one start counts once.
        rest = [fit for fit in fits if fit is not rough]
        ranked = sorted([best, *rest], key=_evidence, reverse=True)
        if ranked[0] is not best:
            ranked[0] = self._again(problem, ranked[0])
        return ranked

    def _again(self, problem: ClosureProblem, fit: ClosureFit) -> ClosureFit:
        """The fit continued under `problem`, which may weigh the edges differently."""
        moved = problem.without_drift(fit.scales.drift)
        return self._fit(moved, fit.angles, fit.probability, fit.scales)

    def _without_slips(self, problem: ClosureProblem, fit: ClosureFit) -> ClosureFit:
        """The fit without trusted edges that are wrong, as long as its evidence gains by it."""
        trusted = problem.trusted.copy()
        for number in range(1, _MOST_SLIPS + 1):
            if time_is_up():
                break
            moved = problem.without_drift(fit.scales.drift)
            slip = find_slip(moved, fit)
            if slip is None:
                break
            trusted[slip.edge] = False
            graph = problem.graph.replace(trusted=trusted)
            doubted = ClosureProblem.of(graph, problem.weight).without_drift(fit.scales.drift)
            angles = turned(moved, fit.angles, slip)
            other = self._fit(doubted, angles, _fitting(doubted, angles), fit.scales)
            if other.evidence + number * np.log(BAD_TRUSTED) <= fit.evidence:
                break
            fit = other
        return fit

    def _fits(self, problem: ClosureProblem, rng: np.random.Generator) -> Iterator[ClosureFit]:
        """One fit per start."""
        estimates = initial_scales(problem, rng) if problem.trusted.any() else [Scales(0.1, 0.1)]
        seen: list[BoolArray] = []
        for scales in estimates if problem.trusted.any() else []:
            moved = problem.without_drift(scales.drift)
            start = moved.start()
            for gate in _GATES:
                core = admit_tight(moved, start, scales, gate)
                probability = reach_consensus(moved, core)
                if any(np.array_equal(probability > 0.5, other) for other in seen):
                    continue
                seen.append(probability > 0.5)
                yield self._fit(moved, core.angles, probability, core.scales, rough=True)
                if time_is_up():
                    return
        angles = SpectralRN().estimate(problem.graph, 1, rng).angles.reshape(-1)
        typical = np.median(np.abs(problem.residual(angles)[problem.trusted])) if seen else 0.0
        if typical < _START_NOISE:  # else false closures have turned the eigenvector
            probability = _fitting(problem, angles)
            yield self._fit(problem, angles, probability, estimates[0], rough=True)

    def _fit(
        self,
        problem: ClosureProblem,
        angles: FloatArray,
        probability: FloatArray,
        scales: Scales,
        *,
        rough: bool = False,
    ) -> ClosureFit:
        """Fit from a start; `rough` with few iterations, enough to compare starts."""
        most = min(self.max_iterations, _FEW_ITERATIONS) if rough else self.max_iterations
        fit = fit_closures(problem, angles, probability, scales, max_iterations=most)
        log.debug("gnc_angles: evidence %.1f with %s", fit.evidence, fit.scales)
        return fit


def _fitting(problem: ClosureProblem, angles: FloatArray) -> FloatArray:
    """Probability (m,) of each edge by its residual at given angles (n,)."""
    noise = np.full(problem.graph.num_edges, _START_NOISE**2)
    return posterior(relative_density(problem.residual(angles), noise), _START_SHARE)


def _reason(fit: ClosureFit) -> str:
    return "probabilities converged" if fit.converged else iteration_limit(fit.iterations)


def _evidence(fit: ClosureFit) -> float:
    return fit.evidence


def _final_angles(problem: ClosureProblem, angles: FloatArray, weight: FloatArray) -> FloatArray:
    """Least-squares angles (n,) on the given weights (m,), from nearby angles."""
    factor = problem.factor()
    factor.update(weight)
    for _ in range(_FINAL_SOLVES):
        change = factor.least_squares(problem.residual(angles))
        angles = angles + change
        if np.abs(change).max() < _FINAL_CHANGE:
            break
    return angles
