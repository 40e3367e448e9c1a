"""The method that needs no tuning: several robust methods, the best by the data alone."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.belief import FINE_SIGMA, Posterior, final_angles, propagate
from gnnsync.methods.cemp import CEMPGCW
from gnnsync.methods.cycles import certified_estimate, certify
from gnnsync.methods.gnc import GNC
from gnnsync.methods.robust.belief.messages import point_estimates
from gnnsync.methods.robust.confidence.node_confidence import node_confidence
from gnnsync.methods.robust.geometric.growth import grown, two_agree
from gnnsync.methods.robust.geometric.regions import is_extended, turn_regions
from gnnsync.methods.robust.initialisation import start_angles
from gnnsync.methods.robust.noise.local_search import settle
from gnnsync.methods.robust.noise.mixture import LAPLACE, MixtureFit, coarse_likelihood, fit_mixture
from gnnsync.methods.robust.noise.noisy_nodes import place_noisy_nodes
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray

log = logging.getLogger(__name__)


# Laws of the inlier noise that are tried after the normal one, with what each must gain in
# evidence per angle: Laplace's fits one edge per node exactly, worth up to 0.25 on normal noise.
_LAWS = {4.0: 0.0, 1.0: 0.0, LAPLACE: 0.3}
# An edge list longer than this is not searched for cycles, nor its noise law chosen.
_LARGE = 200_000
# Share of nodes which, when certified by cycles, makes further starts needless,
_ENOUGH = 0.9
# and that from which belief propagation starts from them.
_MANY = 0.3
# Candidates of greatest evidence whose regions are turned.
_TURNED = 2
# Sweeps for the posterior of k > 1 sets, each of which costs k times as much.
_FEW_SWEEPS = 12
# Noise of the coarse look at candidates (see `_choose`), and what it must gain per edge.
_COARSE, _MARGIN = 0.1, 0.05


@dataclass(frozen=True)
class Auto(ClassicalMethod):
    """Angles without being told the noise.

    Candidates: closed cycles, graduated non-convexity from several frequencies, for k = 1 the
    spectral solution of edges that triangles believe, for k > 1 the unmixed spectral solution and,
    on extended graphs, one grown from small parts, and belief propagation. Each is settled under
    the mixture model, and on extended graphs the regions of the best two are turned as their
    borders want; the one of greatest evidence, the likelihood of the offsets with the angles
    integrated out, is kept, and the noise law (normal or heavier tails) chosen the same way. For
    k > 1 two that are the same make further ones needless. Nodes whose angle the offsets leave open
    take their posterior mean. For k > 1 closed cycles, where they certify many angles, are the
    answer: the evidence cannot tell which set a detached region belongs to.

    Args:
        max_paths: most paths that are searched for closed cycles.
        sweeps: most sweeps of belief propagation at the estimated noise.
    """

    any_k = True

    max_paths: int = 5_000_000
    sweeps: int = 40

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("max_paths", self.max_paths, 1)
        check_integer("sweeps", self.sweeps, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k), with the estimated η and σ in the diagnostics."""
        certificate = None
        if graph.num_edges > _LARGE:
            log.info("auto: %d edges, so belief propagation alone", graph.num_edges)
        else:
            certificate = certify(graph, k, max_paths=self.max_paths)
        if k > 1 and certificate is not None and certificate[1].mean() > _MANY:
            return certified_estimate(graph, *certificate, rng)
        name, fit = self._best(graph, k, rng, certificate)
        if graph.num_edges <= _LARGE:
            fit = _best_law(graph, fit)
        posterior = None
        if fit.sigma >= FINE_SIGMA and np.isinf(fit.dof):
            sweeps = self.sweeps if k == 1 else min(self.sweeps, _FEW_SWEEPS)
            posterior = propagate(graph, fit.angles, like=fit, sweeps=sweeps)
        if fit.sigma >= FINE_SIGMA and not np.isinf(fit.dof):
            angles = place_noisy_nodes(graph, fit, rng)
        else:
            angles = final_angles(graph, fit, posterior)
        final = fit_mixture(graph, angles, dof=fit.dof, like=fit, move=False, max_iterations=1)
        log.debug("auto: %s, eta %.3f, sigma %.3g, dof %g", name, fit.eta, fit.sigma, fit.dof)
        return Estimate(
            angles,
            converged=fit.converged,
            iterations=fit.iterations,
            stop_reason=f"{name} has the greatest evidence",
            edge_confidence=final.edge_confidence,
            node_confidence=node_confidence(
                graph, final, rng, evidence=fit.evidence, mass=_mass(posterior, angles)
            ),
            diagnostics=_figures(fit, posterior),
        )

    def _best(
        self,
        graph: MeasurementGraph,
        k: int,
        rng: np.random.Generator,
        certificate: tuple[FloatArray, BoolArray] | None,
    ) -> tuple[str, MixtureFit]:
        """The candidate of greatest evidence, and its name."""
        start, known, share = start_angles(graph, k, rng), None, 0.0
        candidates: list[tuple[str, MixtureFit]] = []
        small = graph.num_edges <= _LARGE
        extended = small and is_extended(graph, rng)
        if certificate is not None:
            candidates.append(("cycles", settle(graph, certificate[0])))
            share = float(certificate[1].mean())
            if share > _MANY:
                start, known = certificate
        if share <= _ENOUGH and extended and k > 1:
            fit, certain = grown(graph, k, rng)
            if certain:
                return "growth", turn_regions(graph, fit, rng)
            candidates.append(("growth", fit))
        if small:
            candidates.append(("gnc", settle(graph, GNC().fit(graph, k, rng).angles)))
        if share <= _ENOUGH and small and k == 1:
            agreeing = CEMPGCW().estimate(graph, 1, rng).angles.reshape(-1, 1)
            candidates.append(("cemp", settle(graph, agreeing)))
        if share <= _ENOUGH and small and k > 1:
            candidates.append(("spectral", settle(graph, start)))
        if share <= _ENOUGH and not (k > 1 and two_agree([fit for _, fit in candidates])):
            found = propagate(graph, start, sweeps=self.sweeps, known=known)
            modes = point_estimates(found.marginals, found.origin)[0]
            candidates.append(("belief", settle(graph, modes)))
        if extended:
            candidates.sort(key=lambda pair: -pair[1].evidence)
            candidates[:_TURNED] = [
                (name, turn_regions(graph, fit, rng)) for name, fit in candidates[:_TURNED]
            ]
        return _choose(graph, candidates)


def _choose(
    graph: MeasurementGraph, candidates: list[tuple[str, MixtureFit]]
) -> tuple[str, MixtureFit]:
    """The candidate of greatest evidence, unless another explains far more at a coarse look.

    Exactness is worth so much likelihood that a few offsets which agree exactly could outweigh a
    majority that agrees up to noise. Seen with a noise of at least 0.1 rad they do not.
    """
    best = max(candidates, key=lambda pair: pair[1].evidence)
    coarse = {name: coarse_likelihood(graph, fit, _COARSE) for name, fit in candidates}
    for name, fit in candidates:
        log.debug("auto: %s: evidence %.1f, coarse %.1f", name, fit.evidence, coarse[name])
    widest = max(candidates, key=lambda pair: coarse[pair[0]])
    margin = _MARGIN * graph.num_edges
    return widest if coarse[widest[0]] > coarse[best[0]] + margin else best


def _best_law(graph: MeasurementGraph, fit: MixtureFit) -> MixtureFit:
    """The fit under the noise law of greatest evidence."""
    best, most = fit, fit.evidence
    for dof, handicap in _LAWS.items():
        other = fit_mixture(graph, fit.angles, dof=dof, like=fit)
        evidence = other.evidence - handicap * fit.angles.size
        if evidence > most:
            best, most = other, evidence
    return best if best is fit else replace(best, iterations=fit.iterations + best.iterations)


def _mass(posterior: Posterior | None, angles: FloatArray) -> FloatArray | None:
    """Posterior probability (n,) that all angles of a node are near enough to be right."""
    if posterior is None:
        return None
    return posterior.mass_near(angles, NODE_TOLERANCE).prod(axis=1)


def _figures(fit: MixtureFit, posterior: Posterior | None) -> dict[str, float]:
    figures = {
        "eta": fit.eta,
        "sigma": fit.sigma,
        "evidence": fit.evidence,
        "normal_noise": float(np.isinf(fit.dof)),
    }
    if posterior is not None:
        # Estimated with the angles integrated out: less biased than at the best angles.
        figures.update(eta=float(1.0 - posterior.share.sum()), sigma=posterior.sigma)
    return figures
