"""Candidates for the solution of a graph, each improved by a local search."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.comparison import best_two_agree, fits_agree
from gnnsync.methods.robust.costs import FIT_COSTS, candidate_costs
from gnnsync.methods.robust.noise.local_search import improve, rough_fit
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.typing import FloatArray
from gnnsync.work import TimeUp, check_time, loop, plan, stage

# Rounds of the local search of a candidate.
_SEARCH_ROUNDS = 10


class Pool:
    """Candidates found so far: fits by name, without those that repeat another one.

    Args:
        graph: the measurements.
        search: whether candidates are improved by moves of single nodes.
    """

    def __init__(self, graph: MeasurementGraph, *, search: bool) -> None:
        self.graph, self.search = graph, search
        self.fits: dict[str, MixtureFit] = {}
        self.tried: set[str] = set()
        self._repeated = False

    def add(self, name: str, find: Callable[[], FloatArray]) -> None:
        """Fit the angles (n, k) that are found and keep the fit unless a better one agrees with it.

        Nothing is added if the time limit is reached before there are any angles.
        """
        self.tried.add(name)
        with stage(name), contextlib.suppress(TimeUp):
            check_time()
            plan(candidate_costs(name))
            with loop("angles"):
                angles = find()
            with loop("fit"):
                plan(FIT_COSTS)
                self._keep(name, rough_fit(self.graph, angles))

    def _keep(self, name: str, fit: MixtureFit) -> None:
        if not self._known(fit):
            rounds = _SEARCH_ROUNDS if self.search else 0
            fit = improve(self.graph, fit, rounds=rounds, known=self._known)
        if self._known(fit):
            self._repeated = True
        else:
            self.fits[name] = fit

    def agreed(self) -> bool:
        """Whether two candidates found in different ways agree: others are then not needed.

        Not if their evidence is below 0, which is that of all edges being outliers: candidates that
        start from the same eigenvectors can agree on a wrong solution (k = 4, η = 0.3).
        """
        fits = list(self.fits.values())
        explained = any(fit.evidence > 0.0 for fit in fits)
        return explained and (self._repeated or best_two_agree(fits))

    def _known(self, fit: MixtureFit) -> bool:
        """Whether a better candidate agrees with the fit."""
        return any(
            fit.evidence < other.evidence and fits_agree(fit, other) for other in self.fits.values()
        )
