"""Parametric bootstrap: resample offsets from the fit, solve again, count recovered nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.cemp import CEMPGCW
from gnnsync.methods.robust.geometric.rotation import rotate_regions
from gnnsync.methods.robust.initialisation import initial_angles
from gnnsync.methods.robust.noise.law import sample_noise
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import MixtureFit, relative_weight
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.topology import Triangles
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import check_time

# Most resampled networks, and fewest; fewer where all of them together would exceed _EDGES edges,
# which bounds the time to about a second.
_MOST_SAMPLES, _FEWEST_SAMPLES = 6, 2
_EDGES = 36_000
# Share of recovered nodes above which the fewest samples are enough.
_RECOVERED = 0.98
# Rounds of the local search in a resampled network, and attempts at rotating its regions.
_SEARCH_ROUNDS = 3
_ROTATION_ATTEMPTS = 3
# Standard errors of the closure, about 1/√(inlier edges), by which it must fall short.
_STANDARD_ERRORS = 2.0
# Triangles from which the closure is estimated.
_TRIANGLES = 100_000


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """How well the solver recovers a solution from networks resampled from it.

    Args:
        recovered: (n,) share of the resampled networks in which a node is found within
            `NODE_TOLERANCE` of the angle that the offsets were sampled with (the mean over all
            nodes counts as one more network).
        excess: part by which the closure (see `closure`) of the measured offsets falls short of
            that of resampled ones, whose noise is independent, beyond chance; 0 if it does not.
    """

    recovered: FloatArray
    excess: float


def bootstrap(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
) -> BootstrapResult:
    """Resample networks with the angles, inliers and noise of `fit` (k = 1), and solve them.

    Where whole regions are rotated against one another every node agrees with its neighbours, and
    no local test finds the error. But a solver that fails on networks like this one may have failed
    here: the parametric bootstrap (Efron and Tibshirani 1993, ch. 6) counts how often.
    """
    triangles = graph.triangles.sample(_TRIANGLES, rng)
    recovered, closures, certain = np.zeros(graph.num_nodes), [], False
    samples = int(np.clip(_EDGES // graph.num_edges, _FEWEST_SAMPLES, _MOST_SAMPLES))
    for sample in range(1, samples + 1):
        check_time()
        network = resample(graph, fit, rng)
        found = _solve(network, fit.angles, graph.triangles, rng)
        recovered += _recovers(found, fit.angles)
        closures.append(closure(network, found, triangles))
        certain = sample >= _FEWEST_SAMPLES and bool(recovered.mean() > _RECOVERED * sample)
        if certain:
            break
    # The mean counts as one more sample, so that few samples never give certainty.
    recovered = (recovered + recovered.mean() / sample) / (sample + 1)
    usual = float(np.mean(closures))
    if not certain or usual == 0.0:
        # Around a solution that is not recovered the residuals are not noise.
        return BootstrapResult(recovered, 0.0)
    shortfall = 1.0 - closure(graph, fit, triangles) / usual
    chance = _STANDARD_ERRORS / np.sqrt(max(fit.edge_confidence.sum(), 1.0))
    return BootstrapResult(recovered, float(max(shortfall - chance, 0.0)))


def closure(graph: MeasurementGraph, fit: MixtureFit, triangles: Triangles) -> float:
    r"""Correlation of residuals, from their sums around triangles of inlier edges.

    .. math:: \frac{\sum_t \mathrm{wrap}(r_{t1} + r_{t2} + r_{t3})^2}{\sum_t r_{t1}^2 + r_{t2}^2 +
              r_{t3}^2}

    with residuals signed along the triangle. 1 for independent residuals, 1 - 2c if those of two
    edges at a node, seen from there, have correlation c. 0 without such triangles.
    """
    residual = graph.residual(fit.angles)[:, 0]
    inlier = (fit.edge_confidence > 0.5)[triangles.edges].all(axis=1)
    around = residual[triangles.edges[inlier]]
    square = float((around**2).sum())
    if square == 0.0:
        return 0.0
    return float((wrap((around * triangles.signs[inlier]).sum(axis=1)) ** 2).sum()) / square


def resample(
    graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator
) -> MeasurementGraph:
    """The graph with offsets sampled from the fit; edges are inliers with their own probability."""
    m, angles = graph.num_edges, fit.angles[:, 0]
    noise = sample_noise(m, fit.dof, rng)
    inlier = rng.random(m) < fit.edge_confidence
    # Outliers are sampled relative to the angles too, so that the zero direction does not matter.
    error = np.where(
        inlier,
        fit.sigma * noise / np.sqrt(relative_weight(graph)),
        rng.uniform(-np.pi, np.pi, m),
    )
    offset = angles[graph.src] - angles[graph.dst] + error
    return MeasurementGraph(graph.edge_index, offset, graph.num_nodes, weight=graph.weight)


def _solve(
    graph: MeasurementGraph, truth: FloatArray, triangles: Triangles, rng: np.random.Generator
) -> MixtureFit:
    """A fast solution: CEMP or spectral initialisation, local search, rotated regions.

    Regions are not rotated if the `truth` (n, 1) is found without.
    """
    if len(triangles) > graph.num_edges:
        start = CEMPGCW().from_triangles(graph, rng, triangles).angles.reshape(-1, 1)
    else:
        start = initial_angles(graph, 1, rng)
    fit = local_search(graph, start, rounds=_SEARCH_ROUNDS)
    if _recovers(fit, truth).mean() > _RECOVERED:
        return fit
    return rotate_regions(graph, fit, rng, most=_ROTATION_ATTEMPTS)


def _recovers(found: MixtureFit, truth: FloatArray) -> BoolArray:
    """Which nodes (n,) have the true angles (n, 1)."""
    return aligned_error(found.angles, truth)[:, 0] < NODE_TOLERANCE
