"""Why a measurement is believed or not: the cycles of other measurements that check it.

A path of other measurements between the two ends of edge e predicts its offset. If e and the path
are inliers, the closure error c = offset - prediction is normal on the circle with variance
s² = Σ σ²; if e is an outlier, c is uniform. With p the probability that the whole path is made of
inliers, the path multiplies the odds of e to be an inlier by

    p · 2π · N(c; 0, s²) + 1 - p,

N wrapped on the circle. The cycle supports e if 2π · N > 1, and contradicts it otherwise.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from gnnsync.angles import TWO_PI, wrap
from gnnsync.errors import ParameterError, check_integer, printable
from gnnsync.graph import MeasurementGraph
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import RADIANS, Unit

# A measurement of at least this confidence is believed.
BELIEVED = 0.5
# Least standard deviation of one measurement, in radians: exact data have no noise to divide by.
_LEAST_SIGMA = 1e-6
# Median of |x| of a standard normal x.
_NORMAL_MEDIAN = 0.6745
# Least confidence in a cost: a path may lead through measurements of confidence 0.
_LEAST_CONFIDENCE = 1e-3
# Windings of the circle over which the normal density is summed: enough for σ up to 2π.
_WINDINGS = np.arange(-5, 6)
# Logarithms of odds are limited to this, far from the overflow of `exp` at 709.
_MOST_LOG_ODDS = 500.0
# Nodes and measurements that a line of text names at most.
_MOST_NAMED = 6


@dataclass(frozen=True)
class Cycle:
    """A path of other measurements from the source of an edge to its destination.

    Args:
        edges: numbers of the measurements of the path, in order.
        signs: +1 where the path runs along a measurement, -1 where it runs against it.
        nodes: names of the nodes of the path, from the source of the edge to its destination.
        prediction: the offset of the edge that the path predicts, in [-π, π).
        error: wrap(offset - prediction): the closure error of the cycle.
        sigma: standard deviation of the error if all measurements of the cycle are inliers.
        supports: whether this error is likelier if the edge is an inlier than if it is an outlier.
        log_odds: what the cycle adds to the logarithm of the odds that the edge is an inlier.
        rejected: the measurement of the path that is not believed; None if all are.
        untrusted: the measurements of the path that are not declared as trusted.
    """

    edges: tuple[int, ...]
    signs: tuple[int, ...]
    nodes: tuple[Hashable, ...]
    prediction: float
    error: float
    sigma: float
    supports: bool
    log_odds: float
    rejected: int | None = None
    untrusted: tuple[int, ...] = ()

    @property
    def z(self) -> float:
        """The error in standard deviations."""
        return self.error / self.sigma


@dataclass(frozen=True)
class Conflicts:
    """The cycles through one measurement.

    Args:
        edge: number of the measurement.
        ends: names of its source and destination.
        offset: its offset, in [-π, π).
        confidence: the solution's confidence that it is an inlier; NaN if nothing checks it.
        cycles: cycles of believed measurements, worst first. No measurement is in two of them, so
            that they are independent evidence and their log odds may be added.
        rejected: cycles with exactly one measurement that is not believed, those that agree best
            first: other rejected measurements that say the same, or not. Believed measurements may
            be in several of them.
    """

    edge: int
    ends: tuple[Hashable, Hashable]
    offset: float
    confidence: float
    cycles: tuple[Cycle, ...]
    rejected: tuple[Cycle, ...]

    @property
    def unchecked(self) -> bool:
        """Whether no cycle of believed measurements contains the edge."""
        return not self.cycles

    @property
    def log_odds(self) -> float:
        """Sum of the log odds of the independent cycles."""
        return float(sum(cycle.log_odds for cycle in self.cycles))

    def __str__(self) -> str:
        return self.text()

    def text(self, unit: Unit = RADIANS) -> str:
        """One line per cycle, with angles in `unit`."""
        verdict = "believed" if self.confidence >= BELIEVED else "rejected"
        known = f"{self.confidence:.3g} ({verdict})"
        ends = " - ".join(map(printable, self.ends))
        lines = [
            f"measurement {self.edge}, {ends}: offset "
            f"{unit.format(self.offset, 4)}, confidence "
            f"{'unknown' if np.isnan(self.confidence) else known}"
        ]
        if self.unchecked:
            lines.append("unchecked: no other believed measurements close a cycle through it")
        else:
            count = _count(len(self.cycles), "independent cycle")
            lines.append(
                f"{count} of believed measurements, worst first (log odds {self.log_odds:+.3g}):"
            )
            lines += [_line(cycle, unit) for cycle in self.cycles]
        agreeing = [cycle for cycle in self.rejected if cycle.supports]
        if self.rejected:
            others = _count(len(self.rejected), "other rejected measurement")
            lines.append(f"{len(agreeing)} of {others} nearby agree with it{':' * bool(agreeing)}")
            lines += [_line(cycle, unit) for cycle in agreeing]
        return "\n".join(lines)


def find_conflicts(
    graph: MeasurementGraph,
    edge: int | tuple[Hashable, Hashable],
    confidence: FloatArray,
    sigma: FloatArray,
    *,
    group: IntArray | None = None,
    most: int = 10,
) -> Conflicts:
    """The cycles through an edge that predict its offset best.

    Paths minimise Σ σ_e² / confidence_e. Believed paths are found one after the other, each without
    the measurements of those before, in O(m log n) each.

    Args:
        graph: the measurements.
        edge: number of the edge, or the names of its two nodes.
        confidence: (m,) probability that each measurement is an inlier.
        sigma: (m,) standard deviation of each inlier, in radians.
        group: (m,) group of each measurement: paths stay within that of the edge. One if not given.
        most: number of cycles of either kind.
    """
    e = find_edge(graph, edge)
    check_integer("most", most, 1)
    sigma = np.maximum(sigma, _LEAST_SIGMA)
    usable = np.ones(graph.num_edges, bool) if group is None else group == group[e]
    usable[e] = False
    # What nothing checks is neither believed nor rejected; it is on no path to another edge.
    search = _Search(graph, e, np.clip(np.nan_to_num(confidence), 0.0, 1.0), sigma)
    believed = confidence >= BELIEVED
    names = graph.names
    return Conflicts(
        edge=e,
        ends=(names[graph.src[e]], names[graph.dst[e]]),
        offset=float(wrap(graph.offset[e])),
        confidence=float(confidence[e]),
        cycles=tuple(search.independent(usable & believed, most)),
        rejected=tuple(
            search.through_one(usable & believed, usable & (confidence < BELIEVED), most)
        ),
    )


def find_edge(graph: MeasurementGraph, edge: int | tuple[Hashable, Hashable]) -> int:
    """The number of an edge given by its number or by the names of its nodes, in either order."""
    if not isinstance(edge, tuple):
        return check_integer("edge", edge, 0, graph.num_edges - 1)
    try:
        i, j = (list(graph.names).index(name) for name in edge)
    except ValueError:
        raise ParameterError("edge", edge, "a number, or the names of two nodes") from None
    joins = ((graph.src == i) & (graph.dst == j)) | ((graph.src == j) & (graph.dst == i))
    found = np.flatnonzero(joins)
    if len(found) != 1:
        which = f"one of the numbers {', '.join(map(str, found))}" if len(found) else "measured"
        raise ParameterError("edge", edge, which)
    return int(found[0])


def edge_sigma(
    graph: MeasurementGraph, sigma: float, sigma_trusted: float | None = None
) -> FloatArray:
    """Standard deviation (m,) of each inlier: σ at the mean weight, in proportion to 1/√weight.

    With `sigma_trusted` the trusted edges and the others have each their σ and their mean weight.
    """
    trusted = graph.edge_trusted if sigma_trusted is not None else np.zeros(graph.num_edges, bool)
    found = np.full(graph.num_edges, _LEAST_SIGMA)
    for part, level in ((~trusted, sigma), (trusted, sigma_trusted)):
        if part.any() and level is not None:
            weight = graph.edge_weight[part]
            found[part] = np.maximum(level * np.sqrt(weight.mean() / weight), _LEAST_SIGMA)
    return found


def estimate_sigma(
    graph: MeasurementGraph, residual: FloatArray, confidence: FloatArray, groups: int = 1
) -> float:
    """σ of the inliers at the mean weight, from the residuals (m,) of fitted angles.

    Of m believed measurements, n·k angles and c components, d = m - (n - c)·k degrees of freedom
    are left. The d largest standardised residuals hold nearly all of Σ w r², whether the fit
    spreads it (least squares) or makes n - c residuals vanish (least absolute values). σ is their
    median in units of that of |x|, x standard normal; 0 if no cycle leaves any freedom.
    """
    believed = np.flatnonzero(confidence >= BELIEVED)
    part = graph.keep_edges(believed)
    freedom = part.num_edges - groups * (part.num_nodes - part.num_components)
    if freedom <= 0:
        return 0.0
    relative = graph.edge_weight[believed] / graph.edge_weight.mean()
    size = np.sort(np.sqrt(relative) * np.abs(residual[believed]))
    return float(np.median(size[-freedom:])) / _NORMAL_MEDIAN


class _Search:
    """Shortest paths between the ends of edge e, and what they say of it."""

    def __init__(
        self, graph: MeasurementGraph, e: int, confidence: FloatArray, sigma: FloatArray
    ) -> None:
        self.graph, self.e, self.sigma = graph, e, sigma
        trusted = graph.edge_trusted & (confidence >= BELIEVED)
        self.confidence = np.where(trusted, 1.0, confidence)
        self.cost = sigma**2 / np.maximum(self.confidence, _LEAST_CONFIDENCE)
        self.ends = int(graph.src[e]), int(graph.dst[e])

    def independent(self, usable: BoolArray, most: int) -> list[Cycle]:
        """Paths without a common edge, one after the other; the most contradicting first."""
        left = usable.copy()
        found: list[Cycle] = []
        while len(found) < most:
            tree = _ShortestPaths(self.graph, left, self.cost, self.ends[0])
            path = tree.edges_to(self.ends[1])
            if path is None:
                break
            found.append(self.cycle(path))
            left[path] = False
        return sorted(found, key=lambda cycle: cycle.log_odds)

    def through_one(self, believed: BoolArray, rejected: BoolArray, most: int) -> list[Cycle]:
        """Paths with one edge that is not believed; the smallest errors first.

        Every rejected edge (a, b) is tried in both directions between shortest paths from the ends
        of e, and the `most` paths of least cost are kept.
        """
        candidates = np.flatnonzero(rejected)
        if not len(candidates):
            return []
        start, end = (_ShortestPaths(self.graph, believed, self.cost, x) for x in self.ends)
        a, b = self.graph.edge_index[:, candidates]
        ways = np.stack([start.cost[a] + end.cost[b], start.cost[b] + end.cost[a]])
        total = ways.min(axis=0) + self.cost[candidates]
        found: list[Cycle] = []
        for i in np.argsort(total, kind="stable"):
            if len(found) == most or not np.isfinite(total[i]):
                break
            first, last = (a[i], b[i]) if ways[0, i] <= ways[1, i] else (b[i], a[i])
            head, tail = start.edges_to(int(first)), end.edges_to(int(last))
            assert head is not None
            assert tail is not None
            path = np.concatenate([head, candidates[i : i + 1], tail[::-1]])
            cycle = self.cycle(path, int(candidates[i]))
            # A walk that meets a node twice is no cycle through both measurements.
            if len(set(cycle.nodes)) == len(cycle.nodes):
                found.append(cycle)
        return sorted(found, key=lambda cycle: abs(cycle.z))

    def cycle(self, path: IntArray, rejected: int | None = None) -> Cycle:
        """The prediction of a path of edges from the source of e to its destination."""
        graph, here = self.graph, self.ends[0]
        nodes, signs = [here], []
        for s, t in graph.edge_index[:, path].T.tolist():
            signs.append(1 if s == here else -1)
            here = t if s == here else s
            nodes.append(here)
        prediction = float(wrap((np.array(signs) * graph.offset[path]).sum()))
        error = float(wrap(graph.offset[self.e] - prediction))
        sigma = float(np.sqrt((self.sigma[path] ** 2).sum() + self.sigma[self.e] ** 2))
        ratio = _likelihood_ratio(error, sigma)
        return Cycle(
            edges=tuple(path.tolist()),
            signs=tuple(signs),
            nodes=tuple(graph.names[i] for i in nodes),
            prediction=prediction,
            error=error,
            sigma=sigma,
            supports=ratio > 1.0,
            log_odds=_log_odds(ratio, float(self.confidence[path].prod())),
            rejected=rejected,
            untrusted=tuple(path[~graph.edge_trusted[path]].tolist()),
        )


class _ShortestPaths:
    """Shortest paths from one node over some of the edges."""

    def __init__(
        self, graph: MeasurementGraph, usable: BoolArray, cost: FloatArray, start: int
    ) -> None:
        n = graph.num_nodes
        edges = np.flatnonzero(usable)
        edges = edges[np.argsort(cost[edges], kind="stable")]
        low, high = np.sort(graph.edge_index[:, edges], axis=0)
        # Of parallel edges the cheapest counts; `np.unique` finds it first.
        self.key, first = np.unique(low * n + high, return_index=True)
        self.edge, self.n, self.start = edges[first], n, start
        pair = low[first], high[first]
        matrix = sp.coo_array((cost[self.edge], pair), (n, n)).tocsr()
        self.cost, self.before = dijkstra(
            matrix, directed=False, indices=start, return_predecessors=True
        )

    def edges_to(self, node: int) -> IntArray | None:
        """Edges of the path from the start to a node, in order; None if there is none."""
        if not np.isfinite(self.cost[node]):
            return None
        nodes = [node]
        while nodes[-1] != self.start:
            nodes.append(int(self.before[nodes[-1]]))
        way = np.array(nodes[::-1], dtype=np.int64)
        key = np.minimum(way[:-1], way[1:]) * self.n + np.maximum(way[:-1], way[1:])
        return self.edge[np.searchsorted(self.key, key)].astype(np.int64)


def _likelihood_ratio(error: float, sigma: float) -> float:
    """2π · N(error; 0, σ²), N wrapped on the circle: density of an inlier over an outlier."""
    z = (error + TWO_PI * _WINDINGS) / sigma
    logarithm = 0.5 * np.log(TWO_PI) - np.log(sigma) + np.logaddexp.reduce(-0.5 * z**2)
    return float(np.exp(max(logarithm, -_MOST_LOG_ODDS)))


def _log_odds(ratio: float, probability: float) -> float:
    """log(p · ratio + 1 - p), for a path of inliers with probability p."""
    # `log1p` keeps the sign where p is tiny, but at p = 1 would lose a tiny ratio.
    if probability < 1.0:
        return float(np.log1p(probability * (ratio - 1.0)))
    return float(np.log(ratio))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _line(cycle: Cycle, unit: Unit) -> str:
    """One cycle in a terminal: verdict, error, and the way."""
    if cycle.rejected is None:
        verdict = f"{'for' if cycle.supports else 'against':<8}"
    else:
        verdict = f"{cycle.rejected}: "
    error, sigma = (float(unit.from_radians(value)) for value in (cycle.error, cycle.sigma))
    figures = f"error {error:+.3g} ± {unit.label(f'{sigma:.2g}')} (z {cycle.z:+.1f})"
    odds = "" if cycle.rejected is not None else f", log odds {cycle.log_odds:+.3g}"
    return f"  {verdict}{figures}{odds}; {_way(cycle)}"


def _way(cycle: Cycle) -> str:
    """Nodes of a path, shortened; with trusted measurements in it, the others by number."""
    nodes, half = [printable(name) for name in cycle.nodes], _MOST_NAMED // 2
    if len(nodes) > _MOST_NAMED:
        nodes = [*nodes[:half], "…", *nodes[-half:]]
    text = f"{' → '.join(nodes)} ({_count(len(cycle.edges), 'measurement')}"
    others = cycle.untrusted
    if len(others) < len(cycle.edges):
        named = ", ".join(map(str, others[:_MOST_NAMED]))
        more = ", …" if len(others) > _MOST_NAMED else ""
        text += f"; not trusted: {named}{more}" if others else "; all trusted"
    elif len(cycle.edges) <= _MOST_NAMED:
        text += f": {', '.join(map(str, cycle.edges))}"
    return text + ")"
