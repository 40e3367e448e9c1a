"""Belief propagation on the circle with estimated noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.belief.propagation import (
    FINE_SIGMA,
    FIRST_BINS,
    Posterior,
    final_angles,
    propagate,
)
from gnnsync.methods.robust.confidence.assessment import assess
from gnnsync.methods.robust.confidence.node_confidence import Support
from gnnsync.methods.robust.initialisation import initial_angles
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import FloatArray
from gnnsync.work import iteration_limit, plan, stage

__all__ = ["FINE_SIGMA", "Belief", "Posterior", "final_angles", "propagate"]

# EM iterations for the noise at the final angles, which are not moved any more.
_FINAL_ITERATIONS = 5
# Relative times of the stages, for the progress that is shown.
_COSTS = {"spectral start": 1.0, "belief propagation": 12.0, "fit": 2.0, "confidence": 1.0}


@dataclass(frozen=True)
class Belief(ClassicalMethod):
    r"""Loopy belief propagation with uniform outliers, η and σ learned by EM.

    .. math:: M_{j \to i}(θ) = c + (1-c)\,(N_{σ} * b_{j \setminus i})(θ - a_{ij})

    Starts from the spectral initialisation; the noise kernel sharpens in stages, then follows the
    estimated σ. A local search from the modes fits the angles by least squares, so that exact
    inliers give exact angles. Nodes whose posterior is wide take its mean, for which the density
    of the angles is estimated from the nodes that are known.

    Args:
        bins: most bins B of a message; the first stages use fewer.
        sweeps: most sweeps at the estimated noise.
        tol: stop when messages (relative to uniform) change by less than this on average.
    """

    name = "belief"
    any_k = True
    stops_early = True
    canonical = True
    uses_density = True
    takes_start = True

    bins: int = 64
    sweeps: int = 40
    tol: float = 1e-3

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("bins", self.bins, FIRST_BINS)
        check_integer("sweeps", self.sweeps, 1)
        check_real("tol", self.tol, 0, open_low=True)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k)."""
        plan(_COSTS)
        with stage("spectral start"):
            plan({"eigenvectors": 1.0})
            start = initial_angles(graph, k, rng)
        return self._from(graph, rng, start)

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same from angles (n, k), in place of the eigenvectors."""
        plan({name: cost for name, cost in _COSTS.items() if name != "spectral start"})
        return self._from(graph, rng, start)

    def _from(
        self, graph: MeasurementGraph, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        with stage("belief propagation"):
            plan({"annealing": 2.0, "sweeps": 3.0})
            posterior = propagate(graph, start, bins=self.bins, sweeps=self.sweeps, tol=self.tol)
        with stage("fit"):
            plan({"local search": 1.0, "EM": 1.0})
            fit = local_search(graph, posterior.modes())
        angles = final_angles(graph, fit, posterior)
        final = fit_mixture(graph, angles, like=fit, move=False, max_iterations=_FINAL_ITERATIONS)
        mass = posterior.mass_near(angles, NODE_TOLERANCE).prod(axis=1)
        converged = posterior.converged
        with stage("confidence"):
            assessed = assess(graph, final, rng, Support(fit.evidence, mass))
        return Estimate(
            **assessed.fields,
            converged=converged,
            iterations=posterior.sweeps,
            stop_reason="messages converged" if converged else iteration_limit(posterior.sweeps),
            diagnostics={"eta": fit.eta, "sigma": fit.sigma, "evidence": fit.evidence},
        )
