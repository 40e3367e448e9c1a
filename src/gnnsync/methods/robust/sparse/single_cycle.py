r"""Posterior of graphs with a single cycle, in closed form and for many graphs at once.

Of a cycle of L measurements with closure error c and noise variances σ² v_e, V = Σ v_e, all are
inliers or at least one is not. With the model of `gibbs` (outlier share η of Beta prior, scale σ
equally likely on a logarithmic grid) and d measurements that are not trusted,

.. math:: p = \frac{A B}{A B + 1 - A}, \qquad A = E_η[(1 - η)^d], \qquad
          B = E_σ[2π N(c; σ^2 V)],

N wrapped on the circle, is the probability that all are. If exactly one is not, each of the d is
it with the same probability, for nothing tells them apart. The estimate divides the closure error
among the measurements by their share in both cases,

.. math:: q_e = p\, v_e/V + (1 - p)\, [e \text{ not trusted}]/d,

the posterior mean. In either case the error of a node is normal given σ, and the probability that
it is within `NODE_TOLERANCE` a sum over cases and scales. More outliers count as two, whose parts
of the cycle are right by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, ndtr

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.sparse.gibbs import PRIOR, SCALES, log_density
from gnnsync.methods.robust.sparse.posterior import DEPENDENCE, OTHER_PRIOR
from gnnsync.solution import NODE_TOLERANCE
from gnnsync.topology import forest_angles
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Longest cycle and most nodes of a component: longer ones are few, and take time and memory L³.
LONGEST_CYCLE, MOST_NODES = 12, 48
# Two measurements of a pair closer than this are one: the step of the canonical form is 6e-12.
_SAME_OFFSET = 1e-11
# Cycles times places of nodes and outliers at a time: their tables over the scales fit a cache.
# With 2^18 100,000 triangles took twice as long.
_MOST_CASES = 1 << 13


@dataclass(frozen=True, eq=False)
class SingleCycles:
    """Estimates of components with one cycle each; arrays cover the whole graph.

    Args:
        angles: (n,).
        edge_confidence: (m,).
        node_confidence: (n,) NaN where an edge that nothing checks, or the prior, decides.
        node_deviation: (n,) NaN where the confidence is.
        edge_precision: (m,).
        eta: (c,) mean outlier share of each component, in the order of their labels.
        sigma: (c,) median scale of its noise.
    """

    angles: FloatArray
    edge_confidence: FloatArray
    node_confidence: FloatArray
    node_deviation: FloatArray
    edge_precision: FloatArray
    eta: FloatArray
    sigma: FloatArray


def with_single_cycle(graph: MeasurementGraph) -> BoolArray:
    """Which components (c,) are solved here.

    They have as many edges as nodes, are small, and are not joined by their trusted edges alone.
    """
    label = graph.components
    edge_label = label[graph.src]
    nodes, edges = np.bincount(label), np.bincount(edge_label, minlength=label.max() + 1)
    doubted = np.bincount(edge_label[~graph.edge_trusted], minlength=len(nodes))
    chosen = (edges == nodes) & (nodes <= MOST_NODES) & (doubted > 1)
    on_cycle = ~graph.bridges
    length = np.bincount(edge_label[on_cycle], minlength=len(nodes))
    # Trusted measurements lead to nodes whose deviation grows along them.
    bridges_doubted = np.bincount(
        edge_label[graph.bridges & ~graph.edge_trusted], minlength=len(nodes)
    )
    plain = (length == nodes) | (bridges_doubted > 0)
    return np.asarray(chosen & plain & (length <= LONGEST_CYCLE))


def solve_single_cycles(graph: MeasurementGraph, chosen: BoolArray) -> SingleCycles:
    """The estimates of the chosen components (c,), of which `with_single_cycle` holds."""
    n, m, edge_label = graph.num_nodes, graph.num_edges, graph.components[graph.src]
    own = chosen[edge_label]
    count = np.bincount(edge_label, minlength=len(chosen))
    mean = np.bincount(edge_label, graph.edge_weight, len(chosen)) / np.maximum(count, 1)
    weight = graph.edge_weight / np.where(own, mean[edge_label], 1.0)
    found = SingleCycles(
        angles=np.zeros(n),
        edge_confidence=np.where(graph.edge_trusted, 1.0, np.nan),
        node_confidence=np.full(n, np.nan),
        node_deviation=np.full(n, np.nan),
        edge_precision=np.zeros(m),
        eta=np.full(len(chosen), np.nan),
        sigma=np.full(len(chosen), np.nan),
    )
    offset = graph.offset.copy()
    on_cycle = np.flatnonzero(own & ~graph.bridges)
    length = np.bincount(edge_label[on_cycle], minlength=len(chosen))
    for steps in np.unique(length[length > 0]).tolist():
        edges = on_cycle[length[edge_label[on_cycle]] == steps]
        edge, sign, node = _walk(graph, edges, steps)
        at_once = max(_MOST_CASES // (steps * (steps + 1)), 1)
        for start in range(0, len(edge), at_once):
            part = slice(start, start + at_once)
            _solve(graph, found, offset, weight, edge[part], sign[part], node[part])
    found.angles[:] = forest_angles(graph.edge_index[:, own], offset[own], n)
    doubted = np.zeros(len(chosen), dtype=bool)
    doubted[edge_label[graph.unchecked]] = True
    found.node_confidence[doubted[graph.components]] = np.nan
    found.node_deviation[doubted[graph.components]] = np.nan
    return found


def _walk(
    graph: MeasurementGraph, edges: IntArray, length: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Edges, signs (+1 along an edge) and nodes (b, length) of cycles of one length, in order."""
    ends = graph.edge_index[:, edges]
    order = np.argsort(ends.ravel(), kind="stable")
    nodes, two = ends.ravel()[order][::2], np.tile(edges, 2)[order].reshape(-1, 2)
    place = np.zeros(graph.num_nodes, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    node = nodes[np.unique(graph.components[nodes], return_index=True)[1]]
    edge = two[place[node], 0]
    walked = []
    for _ in range(length):
        src, dst = graph.src[edge], graph.dst[edge]
        walked.append((edge, np.where(src == node, 1, -1), node))
        node = src + dst - node
        edge = two[place[node]].sum(axis=1) - edge
    found = np.array(walked).transpose(1, 2, 0)
    return found[0], found[1], found[2]


def _solve(
    graph: MeasurementGraph,
    found: SingleCycles,
    offset: FloatArray,
    weight: FloatArray,
    edge: IntArray,
    sign: IntArray,
    node: IntArray,
) -> None:
    """Fill in the estimates of cycles (b, L); `offset` (m,) loses its part of the closure error."""
    closure = wrap((sign * graph.offset[edge]).sum(axis=1))
    variance, open_edge = 1.0 / weight[edge], ~graph.edge_trusted[edge]
    posterior = _Posterior(closure, variance, open_edge)
    share = posterior.shares()
    offset[edge] -= sign * closure[:, None] * share
    confidence = posterior.edge_confidence()
    label = graph.components[node[:, 0]]
    found.eta[label], found.sigma[label] = posterior.eta(), posterior.sigma()
    found.edge_precision[edge] = confidence * weight[edge] / posterior.sigma()[:, None] ** 2
    found.edge_confidence[edge] = confidence
    right, deviation = posterior.nodes(share)
    found.node_confidence[node], found.node_deviation[node] = right, deviation
    # A repeated measurement checks nothing.
    copied = np.flatnonzero((edge.shape[1] == 2) & (np.abs(closure) < _SAME_OFFSET))
    found.edge_confidence[edge[copied]], found.edge_precision[edge[copied]] = 1.0, 0.0
    found.node_confidence[node[copied]] = found.node_deviation[node[copied]] = np.nan


class _Posterior:
    """Cases of cycles (b, L): all inliers, one outlier, more; and scales of the noise.

    Args:
        closure: (b,) closure error.
        variance: (b, L) of the noise of each measurement, in σ².
        doubted: (b, L) measurements that are not trusted.
    """

    def __init__(self, closure: FloatArray, variance: FloatArray, doubted: BoolArray) -> None:
        self.closure, self.variance, self.doubted = closure, variance, doubted
        self.total = variance.sum(axis=1)
        self.open = doubted.sum(axis=1)
        b, s = len(closure), len(SCALES)
        wide = (self.total[:, None] * SCALES**2).ravel()
        self.density = np.exp(log_density(np.repeat(closure, s), wide)).reshape(b, s)
        self.closed = self._probability(PRIOR)

    def shares(self) -> FloatArray:
        """Part (b, L) of the closure error that the estimate takes from each measurement."""
        one = self.doubted / np.maximum(self.open, 1)[:, None]
        p = self.closed[:, None]
        return np.asarray(p * self.variance / self.total[:, None] + (1.0 - p) * one)

    def edge_confidence(self) -> FloatArray:
        """Probability (b, L) of each measurement to be an inlier."""
        a, b = PRIOR
        none, _, _ = self._prior(PRIOR)
        one = (b / (a + b) - none) / np.maximum(1.0 - none, np.finfo(float).tiny)
        of_open = self.closed + (1.0 - self.closed) * np.clip(one, 0.0, 1.0)
        return np.where(self.doubted, of_open[:, None], 1.0)

    def eta(self) -> FloatArray:
        """Mean (b,) of the outlier share."""
        a, b = PRIOR
        none, _, _ = self._prior(PRIOR)
        if_closed = a / (a + b + self.open)
        rest = np.maximum(1.0 - none, np.finfo(float).tiny)
        otherwise = (a / (a + b) - if_closed * none) / rest
        return np.asarray(self.closed * if_closed + (1.0 - self.closed) * otherwise)

    def sigma(self) -> FloatArray:
        """Median (b,) of the scale of the noise."""
        none, _, _ = self._prior(PRIOR)
        weight = none[:, None] * self.density + (1.0 - none)[:, None]
        cumulative = np.cumsum(weight, axis=1) / weight.sum(axis=1)[:, None]
        return np.asarray(SCALES[(cumulative < 0.5).sum(axis=1)])

    def nodes(self, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Confidence and deviation (b, L) of the nodes; NaN where the prior decides."""
        length = share.shape[1]
        walk = np.tri(length, length, -1)
        centred = walk - walk.mean(axis=0)
        part, c = self.variance / self.total[:, None], self.closure[:, None]
        mean = (c * (part - share)) @ centred.T
        spread = (
            self.variance @ (centred**2).T
            - (self.variance @ centred.T) ** 2 / (self.total[:, None])
        )
        near, square = _within(mean, spread)
        scales = len(SCALES)
        closed = np.einsum("bs,bks->bk", self.density, near) / scales
        closed_square = np.einsum("bs,bks->bk", self.density, square) / scales
        one, one_square = np.zeros_like(mean), np.zeros_like(mean)
        for place in range(length):
            # Around the cycle from either side of the outlier.
            beside = np.where(np.arange(length)[:, None] <= place, walk, walk - 1.0)
            beside[:, place] = 0.0
            beside -= beside.mean(axis=0)
            moved = c * ((np.arange(length) == place) - share)
            near, square = _within(moved @ centred.T, self.variance @ (beside**2).T)
            left_out = self.doubted[:, place, None] / np.maximum(self.open, 1)[:, None]
            one += left_out * near.mean(axis=2)
            one_square += left_out * square.mean(axis=2)
        by_chance = _chance(self.doubted)
        uniform = by_chance * NODE_TOLERANCE**2 / 3.0
        stated = self._mixed(PRIOR, closed, one, by_chance)
        other = self._mixed(OTHER_PRIOR, closed, one, by_chance)
        known = np.abs(other - stated) <= DEPENDENCE
        mean_square = self._mixed(PRIOR, closed_square, one_square, uniform) / stated
        deviation = np.sqrt(np.maximum(mean_square, 0.0))
        return np.where(known, stated, np.nan), np.where(known, deviation, np.nan)

    def _prior(self, prior: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Probabilities (b,) of no outlier, one and more, before the closure error is seen."""
        (a, b), d = prior, self.open
        none = np.exp(betaln(a, b + d) - betaln(a, b))
        one = np.where(d > 0, d * np.exp(betaln(a + 1, b + np.maximum(d, 1) - 1) - betaln(a, b)), 0)
        return none, one, np.maximum(1.0 - none - one, 0.0)

    def _probability(self, prior: tuple[float, float]) -> FloatArray:
        """Probability (b,) that all measurements are inliers."""
        none, one, more = self._prior(prior)
        closed = none * self.density.mean(axis=1)
        return np.asarray(closed / (closed + one + more))

    def _mixed(
        self, prior: tuple[float, float], closed: FloatArray, one: FloatArray, more: FloatArray
    ) -> FloatArray:
        """Mean (b, L) of a quantity over the cases; `closed` times its density."""
        none, single, several = (weight[:, None] for weight in self._prior(prior))
        total = none * self.density.mean(axis=1)[:, None] + single + several
        return np.asarray((none * closed + single * one + several * more) / total)


def _within(mean: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(|e| < τ) and E[e²; |e| < τ] (b, L, s), e normal of variance σ² spread, τ the tolerance."""
    width = np.sqrt(np.maximum(spread, 1e-12))[..., None] * SCALES
    low = (-NODE_TOLERANCE - mean[..., None]) / width
    high = (NODE_TOLERANCE - mean[..., None]) / width
    near = ndtr(high) - ndtr(low)
    at_low, at_high = (np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi) for z in (low, high))
    first = mean[..., None] * near + 2.0 * width * (at_low - at_high)
    square = mean[..., None] * first + width**2 * (near + low * at_low - high * at_high)
    return near, square


def _chance(doubted: BoolArray) -> FloatArray:
    """Probability (b, L) that a node is right if two of the measurements (b, L) are outliers.

    They divide the cycle in two. A part of l nodes is rotated against the other by a uniform angle
    u, and against the mean of all by (1 - l/L) u.
    """
    length = doubted.shape[1]
    total, count = np.zeros(doubted.shape), np.zeros(len(doubted))
    for first, second in zip(*np.triu_indices(length, 1), strict=True):
        between = np.arange(length)
        size = np.where((between > first) & (between <= second), second - first, 0)
        size = np.where(size, size, length - (second - first))
        near = np.minimum(NODE_TOLERANCE / np.pi / (1.0 - size / length), 1.0)
        both = doubted[:, first] & doubted[:, second]
        total += both[:, None] * near
        count += both
    return total / np.maximum(count, 1)[:, None]
