"""Synchronization by closed cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.robust.confidence.assessment import assess
from gnnsync.methods.robust.cycles.certificate import certified_estimate, certify
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.spectral import SpectralRN

__all__ = ["Cycles", "certified_estimate", "certify"]


@dataclass(frozen=True)
class Cycles(ClassicalMethod):
    """Grow rigid bodies from cycles whose offsets add up to zero.

    A cycle adds up to 0 mod 2π only if all its edges are inliers of one group, except by chance:
    with exact inliers, closed cycles of 3 to 6 edges certify their edges. Edges of closed cycles
    that share an edge form a rigid body whose relative angles are known; bodies take in nodes for
    which two of their edges agree, and join when they agree on their relative rotation. The k
    largest become the groups. Nodes that no cycle certifies take their posterior mean. If chance
    closures are not rare at the estimated noise, the result is a local search from the
    row-normalised spectral solution instead.

    Args:
        tolerance: radians by which sums may differ and count as equal; 0 to estimate it.
        max_paths: most paths to compare; three-edge ones (cycles up to 6) only within half of it.
    """

    name = "cycles"
    any_k = True
    stops_early = True
    canonical = True
    uses_density = True

    tolerance: float = 0.0
    max_paths: int = 5_000_000

    def check(self) -> None:
        """Ranges of the parameters."""
        check_real("tolerance", self.tolerance, 0, np.pi)
        check_integer("max_paths", self.max_paths, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k), with the share of certified nodes in the diagnostics."""
        certificate = certify(graph, k, self.tolerance, self.max_paths)
        if certificate is not None:
            return certified_estimate(graph, *certificate, rng)
        start = SpectralRN().estimate(graph, k, rng).angles.reshape(-1, k)
        fit = local_search(graph, start)
        return Estimate(
            **assess(graph, fit, rng).fields,
            converged=fit.converged,
            iterations=fit.iterations,
            stop_reason="no certificate: local search from the spectral solution",
            diagnostics={"certified": 0.0, "eta": fit.eta, "sigma": fit.sigma},
        )
