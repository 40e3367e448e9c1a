"""The default method: several robust candidates, of which the data choose one.

The pipeline on a graph with k groups (small = at most 200,000 edges; extended = geometric, a map):

    offsets
      │
      ├─ a tree with k = 1: done, angles along its edges                    base
      ├─ a short cycle with k = 1, perhaps with branches: done              robust/sparse/
      ├─ certificate ─ angles certified by closed cycles    small           robust/cycles/
      │    a sample of the cycles first: it shows whether noise leaves anything to certify
      │    ├─ k > 1 and more than 30 % certified: done
      │    └─ k = 1, all certified and outliers in the minority: no further candidate
      │
      ├─ candidates, each improved by a local search                        robust/noise/
      │    cycles    the certified angles                   small           robust/cycles/
      │    network   trained belief propagation             any             robust/unrolled/
      │    growth    cores extended node by node            extended, k > 1 robust/geometric/growth
      │    gnc       graduated non-convexity                small           gnc
      │    cemp      spectral, edges weighted by triangles  extended, k = 1 cemp
      │    spectral  separated eigenvectors                 small, k > 1    robust/initialisation
      │    belief    belief propagation                     extended, k > 1 robust/belief/
      │    On extended graphs with k > 1 the network comes first, unless nodes have few edges, and
      │    is the only one if it explains all parts alike; growth is the last if two cores agree;
      │    belief is used if none suffices. Elsewhere the network comes last. It, like belief, is
      │    left out if two others agree, and all but gnc if cycles certify more than 90 %. A
      │    candidate that agrees with a better one is dropped.              robust/pool
      │
      ├─ rotate regions of the best two candidates          extended        robust/geometric/
      ├─ choose the candidate of greatest evidence                          robust/choice
      ├─ choose the noise law: normal, Student's t, Laplace small           robust/noise/law
      │
      ├─ final angles                                                       robust/belief/
      │    σ < 0.05         fitted; open nodes at their posterior mean      robust/noise/placement
      │    normal noise     posterior mean of belief propagation            robust/belief/
      │    heavy tails      fitted; noisy nodes by all their edges          robust/noise/noisy_nodes
      │
      └─ confidence of every node                                           robust/confidence/
           few cycles: samples of the posterior, also for the angles        robust/sparse/
           elsewhere: local probability, calibrated; bootstrap on extended graphs

Each step is a `stage` (`gnnsync.work`); `robust/costs` has their expected times.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, replace

import numpy as np

from gnnsync.errors import check_choice, check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.base import ClassicalMethod, Estimate, tree_estimate
from gnnsync.methods.cemp import CEMPGCW
from gnnsync.methods.gnc import GNC
from gnnsync.methods.gnc_angles import GNCAngles
from gnnsync.methods.robust import LARGE_GRAPH_EDGES
from gnnsync.methods.robust.belief.propagation import (
    FINE_SIGMA,
    Posterior,
    final_angles,
    propagate,
)
from gnnsync.methods.robust.choice import Candidate, choose, evidence_of, figures_of, so_far
from gnnsync.methods.robust.closures.problem import is_pose_graph
from gnnsync.methods.robust.confidence.assessment import assess
from gnnsync.methods.robust.confidence.node_confidence import Support
from gnnsync.methods.robust.costs import belief_costs, cycle_costs, search_costs
from gnnsync.methods.robust.cycles.certificate import certified_estimate, certify
from gnnsync.methods.robust.geometric.growth import grow_from_cores
from gnnsync.methods.robust.geometric.regions import is_extended
from gnnsync.methods.robust.geometric.rotation import rotate_regions
from gnnsync.methods.robust.initialisation import initial_angles
from gnnsync.methods.robust.noise.best_law import best_law
from gnnsync.methods.robust.noise.mixture import MixtureFit, fit_mixture
from gnnsync.methods.robust.noise.noisy_nodes import place_noisy_nodes
from gnnsync.methods.robust.pool import Pool
from gnnsync.methods.robust.sparse.single_cycle import solve_single_cycles, with_single_cycle
from gnnsync.methods.robust.unrolled.evenness import is_even
from gnnsync.methods.robust.unrolled.forward import solve_unrolled
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import TimeUp, check_time, expect, loop, plan, skip, stage, time_is_up

log = logging.getLogger(__name__)

# Parts that `Auto.without` can switch off; belief propagation takes the place of the network.
PARTS = (
    "closures",
    "cycles",
    "growth",
    "gnc",
    "cemp",
    "spectral",
    "network",
    "local_search",
    "regions",
    "laws",
    "placement",
    "posterior",
    "noisy_nodes",
    "bootstrap",
    "sparse",
)

_CHOSEN = "{} has the greatest evidence"

Certificate = tuple[FloatArray, BoolArray]

# Share of nodes certified by cycles above which further candidates are not needed,
_ENOUGH_CERTIFIED = 0.9
# and above which the network starts from them (for k > 1 they are the result).
_MANY_CERTIFIED = 0.3
# Share of outliers below which no other angles can explain as many edges as certified ones.
_MINORITY = 0.5
# Candidates of greatest evidence whose regions are rotated.
_ROTATED = 2
# Mean degree per group from which the network is used on extended graphs with k > 1. At 9 (n = 330,
# p = 0.07, k = 2, σ = 0.02) the MSE was 0.16 with it and 0.10 without; from 17 on it was the same.
_LEAST_DEGREE = 15.0
# Sweeps and tolerance of belief propagation for a candidate.
_CANDIDATE_SWEEPS, _ROUGH_MESSAGES = 6, 5e-3
# Most sweeps for the posterior of k > 1 groups, each of which costs k times as much.
_FEW_SWEEPS = 12


@dataclass(frozen=True)
class Auto(ClassicalMethod):
    """Robust synchronization without parameters: noise level, noise law and method are estimated.

    Candidates come from closed cycles, graduated non-convexity and a trained network that passes
    beliefs, on extended graphs from CEMP (k = 1) or from growing cores and plain belief propagation
    (k > 1), for k > 1 also from separated eigenvectors. Each is improved by a local search under
    the mixture model; on extended graphs regions of the best two are rotated. The candidate of
    greatest evidence (the likelihood of the offsets with the angles integrated out) is kept, and
    the noise law is chosen in the same way. Nodes that the offsets leave open take their posterior
    mean. A pose graph, whose trusted edges join its nodes, is solved by `GNCAngles`. For k > 1
    closed cycles that certify many angles are the result: the evidence cannot decide which group a
    detached region belongs to. The module docstring has a picture.

    Args:
        max_paths: most paths that are searched for closed cycles.
        sweeps: most sweeps of belief propagation at the estimated noise.
        without: parts of `PARTS` that are switched off, joined by + (for comparisons).
    """

    name = "auto"
    any_k = True
    stops_early = True
    canonical = True
    uses_density = True
    takes_start = True

    max_paths: int = 5_000_000
    sweeps: int = 40
    without: str = ""

    def check(self) -> None:
        """Ranges of the parameters."""
        check_integer("max_paths", self.max_paths, 1)
        check_integer("sweeps", self.sweeps, 1)
        for part in self._absent:
            check_choice("without", part, PARTS)

    def solved_together(self, graph: MeasurementGraph) -> BoolArray:
        """Components (c,) with one short cycle."""
        if not self._uses("sparse"):
            return np.zeros(graph.num_components, dtype=bool)
        return with_single_cycle(graph)

    def estimate_together(self, graph: MeasurementGraph, chosen: BoolArray) -> Estimate:
        """Closed-form estimates of the chosen components (c,)."""
        found = solve_single_cycles(graph, chosen)
        largest = int(np.argmax(np.where(chosen, np.bincount(graph.components), 0)))
        return Estimate(
            found.angles[:, None],
            stop_reason="one cycle: its closure error divided among the measurements",
            edge_confidence=found.edge_confidence,
            node_confidence=found.node_confidence,
            node_deviation=found.node_deviation[:, None],
            edge_precision=found.edge_precision[:, None],
            diagnostics={"eta": float(found.eta[largest]), "sigma": float(found.sigma[largest])},
        )

    def estimate_from(
        self, graph: MeasurementGraph, k: int, rng: np.random.Generator, start: FloatArray
    ) -> Estimate:
        """The same with angles (n, k) as a further candidate, or start on a pose graph."""
        return self.estimate(graph, k, rng, start)

    def estimate(
        self,
        graph: MeasurementGraph,
        k: int,
        rng: np.random.Generator,
        start: FloatArray | None = None,
    ) -> Estimate:
        """Angles (n, k), with the estimated η and σ in the diagnostics."""
        if k == 1 and graph.num_edges == graph.num_nodes - 1:
            return tree_estimate(graph, k)
        if k == 1 and self._uses("closures") and is_pose_graph(graph):
            with stage("closures"):
                return GNCAngles().estimate(graph, 1, rng, start)
        if k == 1 and start is None and self.solved_together(graph).all():
            return self.estimate_together(graph, np.ones(1, dtype=bool))
        certificate, likely = None, search_costs(graph, k, extended=False)
        plan(likely)
        if graph.num_edges > LARGE_GRAPH_EDGES:
            log.info("auto: %d edges, so the network alone", graph.num_edges)
        elif self._uses("cycles"):
            plan(likely | {"closed cycles": cycle_costs(graph)})
            with stage("closed cycles"), contextlib.suppress(TimeUp):
                certificate = certify(graph, k, max_paths=self.max_paths)
        if k > 1 and certificate is not None and _share(certificate) > _MANY_CERTIFIED:
            return certified_estimate(graph, *certificate, rng)
        candidates = self._candidates(graph, k, rng, certificate, start)
        name, fit = candidates[0] if len(candidates) == 1 else choose(graph, candidates)
        if time_is_up():
            return so_far(name, fit)
        skip(*PARTS)
        fit = self._with_law(graph, fit)
        if fit.sigma < FINE_SIGMA or np.isfinite(fit.dof):
            skip("final angles")  # no belief propagation, and next to no time
        else:
            expect("final angles", belief_costs(graph, k, fit.sigma, fit.eta))
        with stage("final angles"):
            plan({"sweeps": 1.0})
            angles, posterior = self._final_angles(graph, fit, rng)
            near = None if posterior is None else posterior.mass_near(angles, NODE_TOLERANCE)
        final = fit_mixture(graph, angles, dof=fit.dof, like=fit, move=False, max_iterations=1)
        with stage("confidence"):
            mass = None if near is None else near.prod(axis=1)
            known = Support(fit.evidence, mass, resample=self._uses("bootstrap"))
            found = assess(graph, final, rng, known, improve=self._uses("sparse"))
        replaced = found.angles is not final.angles and not np.array_equal(found.angles, angles)
        reason = "samples of the posterior agree best with it" if replaced else _CHOSEN.format(name)
        return replace(
            so_far(name, fit),
            **found.fields,
            converged=fit.converged if posterior is None else posterior.converged,
            stop_reason=reason,
            diagnostics=figures_of(fit, posterior),
        )

    def _with_law(self, graph: MeasurementGraph, fit: MixtureFit) -> MixtureFit:
        """The fit to convergence, under the noise law of greatest evidence."""
        with stage("noise law"):
            plan({"EM": 1.0, "laws": float(graph.num_edges <= LARGE_GRAPH_EDGES)})
            exact = fit_mixture(graph, fit.angles, dof=fit.dof, like=fit)
            fit = replace(exact, iterations=fit.iterations + exact.iterations)
            if graph.num_edges <= LARGE_GRAPH_EDGES and self._uses("laws") and not time_is_up():
                with loop("laws"):
                    fit = best_law(graph, fit)
        return fit

    def _uses(self, part: str) -> bool:
        return part not in self._absent

    @property
    def _absent(self) -> list[str]:
        return self.without.split("+") if self.without else []

    def _candidates(
        self,
        graph: MeasurementGraph,
        k: int,
        rng: np.random.Generator,
        certificate: Certificate | None,
        start: FloatArray | None,
    ) -> list[Candidate]:
        """Names and fits of the candidates, regions rotated."""
        small = graph.num_edges <= LARGE_GRAPH_EDGES
        extended = small and is_extended(graph, rng)
        plan(search_costs(graph, k, extended=extended))
        pool = Pool(graph, search=self._uses("local_search"))
        if start is not None:
            pool.add("start", lambda: start)
        known, share = None, 0.0
        if certificate is not None:
            pool.add("cycles", lambda: certificate[0])
            share = _share(certificate)
            if share > _MANY_CERTIFIED:
                known = np.where(certificate[1], certificate[0], np.nan)
            cycles = pool.fits.get("cycles")  # absent if time is up
            if share == 1.0 and cycles is not None and cycles.eta < _MINORITY:
                small = extended = False  # nothing is left to search
        more = share <= _ENOUGH_CERTIFIED
        dense = 2 * graph.num_edges >= _LEAST_DEGREE * k * graph.num_nodes
        network = self._uses("network") and (dense or k == 1 or not extended)
        if more and extended and k > 1:
            more = small = not self._spread(pool, k, rng, network)
        if small and self._uses("gnc"):
            pool.add("gnc", lambda: GNC().anneal(graph, k, rng))
        cemp = extended or not network  # elsewhere the network does better, in the same time
        if more and small and k == 1 and cemp and self._uses("cemp"):
            pool.add("cemp", lambda: CEMPGCW().estimate(graph, 1, rng).angles.reshape(-1, 1))
        if more and small and k > 1 and self._uses("spectral"):
            pool.add("spectral", lambda: initial_angles(graph, k, rng))
        if (more and not pool.agreed()) or not pool.fits:
            add = _add_network if network and "network" not in pool.tried else self._add_belief
            add(pool, k, rng, known)
        if not pool.fits:
            raise TimeUp
        candidates = sorted(pool.fits.items(), key=evidence_of, reverse=True)
        if extended and self._uses("regions") and not time_is_up():
            with stage("regions"):
                best = candidates[:_ROTATED]
                candidates[:_ROTATED] = [(name, rotate_regions(graph, f, rng)) for name, f in best]
        return candidates

    def _spread(self, pool: Pool, k: int, rng: np.random.Generator, network: bool) -> bool:
        """Candidates of k > 1 groups that spread over an extended graph; whether they suffice."""
        if network:
            _add_network(pool, k, rng)
            if "network" in pool.fits and is_even(pool.graph, pool.fits["network"]):
                pool.fits = {"network": pool.fits["network"]}
                return True
        if not self._uses("growth"):
            return False
        certain = False
        with stage("growth"), contextlib.suppress(TimeUp):
            check_time()
            pool.fits["growth"], certain = grow_from_cores(pool.graph, k, rng)
        if certain:
            pool.fits.pop("cycles", None)
        return certain

    def _add_belief(
        self, pool: Pool, k: int, rng: np.random.Generator, known: FloatArray | None
    ) -> None:
        """Add the candidate of belief propagation; `known` (n, k) is NaN where nothing is."""

        def modes() -> FloatArray:
            plan({"eigenvectors": 1.0, "annealing": 8.0, "sweeps": 2.0})
            start, sure = initial_angles(pool.graph, k, rng), None
            if known is not None:
                sure = np.isfinite(known)
                start = np.where(sure, known, start)
            sweeps = min(self.sweeps, _CANDIDATE_SWEEPS)
            found = propagate(pool.graph, start, sweeps=sweeps, tol=_ROUGH_MESSAGES, known=sure)
            return found.modes()

        pool.add("belief", modes)

    def _final_angles(
        self, graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
    ) -> tuple[FloatArray, Posterior | None]:
        """Angles (n, k) of least expected error, and the posterior if it was computed."""
        normal, fine = np.isinf(fit.dof), fit.sigma < FINE_SIGMA
        if not fine and not normal:
            place = self._uses("noisy_nodes")
            return place_noisy_nodes(graph, fit, rng) if place else fit.angles, None
        posterior = None
        if not fine:
            if not self._uses("posterior"):
                return fit.angles, None
            sweeps = self.sweeps if fit.share.size == 1 else min(self.sweeps, _FEW_SWEEPS)
            posterior = propagate(graph, fit.angles, like=fit, sweeps=sweeps)
        elif not self._uses("placement"):
            return fit.angles, None
        return final_angles(graph, fit, posterior), posterior


def _add_network(
    pool: Pool, k: int, rng: np.random.Generator, known: FloatArray | None = None
) -> None:
    """Add the candidate of the trained network; `known` (n, k) is NaN where nothing is."""
    pool.add("network", lambda: solve_unrolled(pool.graph, k, rng, known=known).modes())


def _share(certificate: Certificate) -> float:
    """Fraction of the n·k angles that cycles certify."""
    return float(certificate[1].mean())
