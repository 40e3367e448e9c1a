"""What comes again when a network is drawn anew from its own solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.cemp import CEMPGCW
from gnnsync.methods.robust.geometric.regions import turn_regions
from gnnsync.methods.robust.initialisation import start_angles
from gnnsync.methods.robust.noise.local_search import settle
from gnnsync.methods.robust.noise.mixture import LAPLACE, MixtureFit
from gnnsync.metrics import aligned_error
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.topology import Triangles, draw_triangles
from gnnsync.typing import FloatArray

# Networks drawn, how many are enough if all their nodes come out as they were, and edges of all of
# them beyond which fewer are drawn, to end within a second or so.
_DRAWS, _ENOUGH = 6, 2
_ALL = 0.98
_EDGES = 36_000
# Rounds of jumps in which a drawn network settles.
_ROUNDS = 3
# Attempts at turning its regions.
_TURNS = 3
# Standard errors of the closure, about 1/√(believed edges), by which it must fall short.
_ERRORS = 2.0
# Triangles over which offsets are added up.
_TRIANGLES = 100_000


@dataclass(frozen=True, eq=False)
class Redrawn:
    """How a solution fares on networks drawn from it.

    Args:
        steady: (n,) share of the drawn networks in which a node comes out within `NODE_TOLERANCE`
            of the angle it was drawn with (the mean over all nodes counts as one more network).
        excess: part by which the closure (see `closure`) of the measured offsets falls short of
            that of drawn ones, whose noise is independent, beyond chance; 0 if it does not.
    """

    steady: FloatArray
    excess: float


def redraw(graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator) -> Redrawn:
    """Draw networks with the angles, inliers and noise of `fit` (k = 1), and solve them anew.

    Where whole regions are turned against one another every node agrees with its neighbours, and
    nothing local tells. But a solver that loses its way on networks like this one will have done
    so here: a parametric bootstrap (Efron and Tibshirani 1993, ch. 6) counts how often.
    """
    triangles = draw_triangles(graph.edge_index, graph.num_nodes, _TRIANGLES, rng)
    steady, closures, certain = np.zeros(graph.num_nodes), [], False
    draws = int(np.clip(_EDGES // graph.num_edges, _ENOUGH, _DRAWS))
    for draw in range(1, draws + 1):
        drawn = _drawn(graph, fit, rng)
        found = _solved(drawn, len(triangles) > graph.num_edges, rng)
        steady += aligned_error(found.angles, fit.angles)[:, 0] < NODE_TOLERANCE
        closures.append(closure(drawn, found, triangles))
        certain = draw >= _ENOUGH and bool(steady.mean() > _ALL * draw)
        if certain:
            break
    # The mean counts as one more draw, so that few draws do not make certain.
    steady = (steady + steady.mean() / draw) / (draw + 1)
    usual = float(np.mean(closures))
    if not certain or usual == 0.0:
        # Around a solution that does not come again the residuals are not noise.
        return Redrawn(steady, 0.0)
    short = 1.0 - closure(graph, fit, triangles) / usual
    chance = _ERRORS / np.sqrt(max(fit.edge_confidence.sum(), 1.0))
    return Redrawn(steady, float(max(short - chance, 0.0)))


def closure(graph: MeasurementGraph, fit: MixtureFit, triangles: Triangles) -> float:
    r"""Mean square of the sum of residuals around believed triangles, over 3 mean squares of one.

    1 for independent residuals, 1 - 2c if those of two edges at a node, seen from there, have
    correlation c. 0 if no triangle is believed.
    """
    residual = graph.residual(fit.angles)[:, 0]
    believed = (fit.edge_confidence > 0.5)[triangles.edges].all(axis=1)
    around = residual[triangles.edges[believed]]
    square = float((around**2).sum())
    if square == 0.0:
        return 0.0
    return float((wrap((around * triangles.signs[believed]).sum(axis=1)) ** 2).sum()) / square


def _drawn(graph: MeasurementGraph, fit: MixtureFit, rng: np.random.Generator) -> MeasurementGraph:
    """The graph with offsets drawn from the fit, inliers as probable as they are believed."""
    m, angles = graph.num_edges, fit.angles[:, 0]
    weight = graph.edge_weight / graph.edge_weight.mean()
    if fit.dof == LAPLACE:
        noise = rng.laplace(size=m)
    elif np.isinf(fit.dof):
        noise = rng.standard_normal(m)
    else:
        noise = rng.standard_t(fit.dof, size=m)
    inlier = rng.random(m) < fit.edge_confidence
    # Outliers are drawn about the angles too, so that a change of every node's zero is none.
    error = np.where(inlier, fit.sigma * noise / np.sqrt(weight), rng.uniform(-np.pi, np.pi, m))
    offset = angles[graph.src] - angles[graph.dst] + error
    return MeasurementGraph(graph.edge_index, offset, graph.num_nodes, weight=graph.weight)


def _solved(graph: MeasurementGraph, by_triangles: bool, rng: np.random.Generator) -> MixtureFit:
    """Quickly: the leading eigenvector (of edges that triangles believe), settled and turned."""
    if by_triangles:
        start = CEMPGCW().estimate(graph, 1, rng).angles.reshape(-1, 1)
    else:
        start = start_angles(graph, 1, rng)
    return turn_regions(graph, settle(graph, start, rounds=_ROUNDS), rng, most=_TURNS)
