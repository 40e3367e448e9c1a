"""Messages of belief propagation on the circle: densities on equally spaced bins."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.law import SIGMA_MAX
from gnnsync.methods.robust.noise.mixture import EdgePrior, limit_share
from gnnsync.methods.robust.noise.placement import cell_of
from gnnsync.typing import BoolArray, FloatArray, IntArray

Table = NDArray[np.float32]

# A kernel narrower than this many bins is not resolved: its Fourier coefficients are cut off.
_LEAST_BINS = 0.6
# Part of the old message in the new one, which prevents oscillation.
_DAMPING = 0.3
# The shares of the groups and η are kept above this: at exactly 0 EM could not raise them again.
_LEAST_SHARE = 1e-3
# Largest probability that an edge does not measure a group: a message is never quite uniform.
_MOST_BACKGROUND = 1.0 - 1e-6
# Least mean cosine of the noise, whose logarithm gives σ.
_LEAST_COSINE = 1e-6
# Added to probabilities before their logarithm is taken.
_TINY = 1e-30
# Log density of the bins that a held node cannot be in: no sum of messages outweighs it.
_EXCLUDED = np.float32(-1e6)
# Log probabilities with less curvature than this at their peak are flat.
_FLAT = -1e-9
# Powers of exp(-ia) that are kept between sweeps (64 MB); more are computed again each time.
_LARGE_ROTATIONS = 1 << 23
# Entries of a message table that are worked on at a time: they fit a processor cache.
_BLOCK = 1 << 17


@dataclass
class Messages:
    r"""Messages of k groups of angles over the 2m arcs of a graph, all relative to uniform.

    With the edge factor :math:`η/2π + \sum_l π_l N_{σ_e}(θ_{s,l} - θ_{t,l} - a_e)` the message of
    group l along an arc is

    .. math:: M(θ) = c + (1-c)\,(N_{σ_e} * b)(θ - a), \qquad b \propto p \prod M',

    with b the sender's belief without the receiver's own message, p the density of angles if known,
    and c the probability that the edge measures something else (an outlier, or another group under
    the current beliefs). The convolution is a product of Fourier coefficients,
    :math:`e^{-q²σ_e²/2 - iqa}`. Angles are relative to `origin`, so that a different zero direction
    of every node gives the same result.

    Args:
        graph: n nodes, m edges.
        origin: (n, k) angles that the bins are relative to.
        share: (k,) π.
        sigma: σ of an edge of mean weight.
        bins: B.
    """

    graph: MeasurementGraph
    origin: FloatArray
    share: FloatArray
    sigma: float
    bins: int

    def __post_init__(self) -> None:
        graph, m = self.graph, self.graph.num_edges
        head = np.concatenate([graph.src, graph.dst])
        order = np.argsort(head, kind="stable")
        self.edge = order % m
        self.head = head[order]
        self.tail = np.concatenate([graph.dst, graph.src])[order]
        position = np.empty(2 * m, dtype=np.int64)
        position[order] = np.arange(2 * m)
        self.back = position[(order + m) % (2 * m)]
        self.first = np.searchsorted(self.head, np.arange(graph.num_nodes))
        self.shift = (
            np.where((order < m)[:, None], 1.0, -1.0) * -graph.residual(self.origin)[self.edge]
        )
        weight = graph.edge_weight / graph.edge_weight.mean()
        # Variance of each arc's noise in units of σ²; None if all edges weigh the same.
        self.variance_factor = None if graph.weight is None else (1.0 / weight)[self.edge]
        self.prior = EdgePrior.of(graph)
        self.doubt = np.broadcast_to(self.prior.doubt, m)[:, None]
        self.messages: list[Table | None] = [None] * self.k
        self.log_prior: list[Table | None] = [None] * self.k
        self._rotations: dict[tuple[int, int], NDArray[np.complex64]] = {}
        self._background_from(np.ones((m, self.k)))

    @property
    def k(self) -> int:
        """Number of groups."""
        return self.origin.shape[1]

    @property
    def eta(self) -> float:
        """Current estimate of the outlier fraction."""
        return float(1.0 - self.share.sum())

    def start(self, concentration: FloatArray) -> None:
        """First messages: von Mises beliefs around the origin, of given concentration (n, k)."""
        bump = np.cos(TWO_PI * np.arange(self.bins) / self.bins) - 1.0
        for group in range(self.k):
            belief = np.exp(concentration[:, group, None] * bump)
            belief = (belief / belief.mean(axis=1, keepdims=True)).astype(np.float32)
            table = np.empty((len(self.tail), self.bins), dtype=np.float32)
            for arcs in self._blocks(len(self.tail)):
                carried = self._carried(group, belief[self.tail[arcs]], arcs)
                table[arcs] = self._mixed(group, carried, arcs)
            self.messages[group] = table

    def sweep(self) -> float:
        """Update all messages once; returns the mean absolute change."""
        change = 0.0
        for group in range(self.k):
            old, belief = self._table(group), _scaled_exp(self._log_belief(group))
            table, moved = np.empty_like(old), 0.0
            for arcs in self._blocks(len(old)):
                # A message is at least the background, so that beliefs may be divided by it; where
                # they underflow, 1e-38 below their peak, the quotient is negligible too.
                cavity = belief.take(self.tail[arcs], axis=0)
                cavity /= old.take(self.back[arcs], axis=0)
                new = self._mixed(group, self._carried(group, cavity, arcs), arcs)
                new -= old[arcs]
                new *= 1.0 - _DAMPING
                moved += float(np.abs(new).sum())
                np.add(new, old[arcs], out=table[arcs])
            change = max(change, moved / old.size)
            self.messages[group] = table
        return change

    def learn(self, *, noise: bool) -> FloatArray:
        """EM step for the shares and, if `noise`, σ; returns edge posteriors (m, k)."""
        m = self.graph.num_edges
        fit, cosine = self._edge_densities(noise=noise)
        self._background_from(fit)
        part = self.share * fit
        member = part / (part.sum(axis=1, keepdims=True) + self.doubt * self.eta)
        self.share = limit_share(self.prior.shares(member), _LEAST_SHARE)
        if noise:
            # R = E cos δ over the inliers, and σ² = -2 log R for wrapped normal noise; an edge of
            # weight w has 1/w of the variance.
            weight = np.ones(m)
            if self.variance_factor is not None:
                weight[self.edge] = 1.0 / self.variance_factor
            lost = (member * (1.0 - cosine / fit) * weight[:, None]).sum() / member.sum()
            # Harmonics that are cut off can make a density or a cosine larger than it is.
            sigma = np.sqrt(-2.0 * np.log(np.clip(1.0 - lost, _LEAST_COSINE, 1.0)))
            self.sigma = float(np.clip(sigma, self.least_sigma, SIGMA_MAX))
        return member

    @property
    def least_sigma(self) -> float:
        """σ of the narrowest kernel that the bins resolve."""
        return _LEAST_BINS * TWO_PI / self.bins

    def refine_bins(self) -> None:
        """Double the number of bins by linear interpolation of the messages."""
        for group in range(self.k):
            table = self._table(group)
            fine = np.repeat(table, 2, axis=1)
            fine[:, 1::2] = 0.5 * (table + np.roll(table, -1, axis=1))
            self.messages[group] = fine
        self.bins *= 2

    def set_prior(self, density: list[FloatArray]) -> None:
        """Use a density of angles per group, on any grid, relative to uniform."""
        grid = TWO_PI * np.arange(self.bins) / self.bins
        for group, values in enumerate(density):
            angle = self.origin[:, group, None] + grid
            nearest = values[cell_of(angle, len(values))]
            self.log_prior[group] = np.log(nearest).astype(np.float32)

    def hold(self, nodes: BoolArray) -> None:
        """Keep the angles of `nodes` (n,) at their origin, whatever they receive."""
        for group in range(self.k):
            prior = self.log_prior[group]
            if prior is None:
                prior = np.zeros((len(nodes), self.bins), dtype=np.float32)
            prior[nodes] = _EXCLUDED
            prior[nodes, 0] = 0.0
            self.log_prior[group] = prior

    def marginals(self) -> FloatArray:
        """Probabilities (n, k, B) of every node's bins, relative to `origin`."""
        tables = [_scaled_exp(self._log_belief(group)) for group in range(self.k)]
        weights = np.stack(tables, axis=1).astype(np.float64)
        return weights / weights.sum(axis=2, keepdims=True)

    def _edge_densities(self, *, noise: bool) -> tuple[FloatArray, FloatArray]:
        """Density (m, k) of each offset under the beliefs; the same times cos δ, if `noise`.

        Sums over bins of products of two densities, computed as sums over Fourier coefficients.
        """
        m = self.graph.num_edges
        fit, cosine = np.empty((m, self.k)), np.zeros((m, self.k))
        forward = np.flatnonzero(self.back > np.arange(2 * m))  # one arc of each edge is enough
        # Coefficients other than the first and the last stand for their conjugates too.
        twice = np.full(self.bins // 2 + 1, 2.0, dtype=np.float32)
        twice[[0, -1]] = 1.0
        for group in range(self.k):
            table, belief = self._table(group), _scaled_exp(self._log_belief(group))
            for block in self._blocks(m):
                arcs = forward[block]
                edge = self.edge[arcs]
                cavity = belief.take(self.tail[arcs], axis=0)
                cavity /= table.take(self.back[arcs], axis=0)
                other = belief.take(self.head[arcs], axis=0)
                other /= table.take(arcs, axis=0)
                there, here = fft.rfft(cavity, axis=1), fft.rfft(other, axis=1)
                scale = there[:, 0].real * here[:, 0].real
                there *= self._rotation(group, arcs)
                product = there.real * here.real + there.imag * here.imag
                product *= twice
                fit[edge, group] = _row_dot(product, self._blur(arcs)) / scale
                if noise:
                    cosine[edge, group] = _row_dot(product, self._blur(arcs, tilted=True)) / scale
        return np.maximum(fit, _TINY), cosine

    def _blocks(self, rows: int) -> Iterator[slice]:
        """Rows of a table in portions that fit the cache with their intermediate results."""
        size = max(_BLOCK // self.bins, 1)
        return (slice(start, min(start + size, rows)) for start in range(0, rows, size))

    def _table(self, group: int) -> Table:
        """Messages (2m, B)."""
        table = self.messages[group]
        assert table is not None, "call start first"
        return table

    def _log_belief(self, group: int) -> Table:
        """Log beliefs (n, B): the sum of the log messages that arrive at a node."""
        table = self._table(group)
        belief = np.empty((len(self.first), self.bins), dtype=np.float32)
        after = np.append(self.first, len(table))
        size = max(_BLOCK // self.bins, 1)
        # Nodes whose arcs begin in the same portion.
        cuts = np.searchsorted(self.first, np.arange(0, len(table) + size, size))
        for start, end in itertools.pairwise(cuts.tolist()):
            if start < end:
                logs = np.log(table[after[start] : after[end]])
                here = self.first[start:end] - after[start]
                belief[start:end] = np.add.reduceat(logs, here, axis=0)
        prior = self.log_prior[group]
        return belief if prior is None else belief + prior

    def _carried(self, group: int, cavity: Table, arcs: slice) -> Table:
        """Beliefs of arcs, of any scale, shifted by their offsets and convolved with the noise."""
        spectrum = fft.rfft(cavity, axis=1)
        # The zeroth coefficient is the sum of the bins: divided by the mean, a density.
        spectrum *= (self.bins / spectrum[:, 0].real)[:, None]
        spectrum *= self._rotation(group, arcs)
        spectrum *= self._blur(arcs)
        carried = fft.irfft(spectrum, n=self.bins, axis=1)
        return np.maximum(carried, 0.0, out=carried)

    def _blur(self, arcs: IntArray | slice, *, tilted: bool = False) -> Table:
        """Fourier coefficients of the noise law; `tilted` multiplies it by the cosine of the noise.

        (B/2 + 1,), or a row for each arc if edges have weights.
        """
        order = np.arange(self.bins // 2 + 1, dtype=np.float64)
        variance = max(self.sigma, self.least_sigma) ** 2
        factors = None if self.variance_factor is None else self.variance_factor[arcs, None]

        def blur(q: FloatArray) -> FloatArray:
            exponent = -0.5 * variance * q**2
            return np.exp(exponent if factors is None else exponent * factors)

        # The Fourier coefficients of cos(δ)·N(δ) are the means of the neighbouring ones of N.
        factor = 0.5 * (blur(order - 1) + blur(order + 1)) if tilted else blur(order)
        return factor.astype(np.float32)

    def _rotation(self, group: int, arcs: IntArray | slice) -> NDArray[np.complex64]:
        """exp(-iqa) for the frequencies q = 0..B/2 and the shifts a of arcs; kept if small."""
        frequencies = self.bins // 2 + 1
        if len(self.tail) * frequencies * self.k > _LARGE_ROTATIONS:
            return _powers(self.shift[arcs, group], frequencies)
        kept = self._rotations.get((group, frequencies))
        if kept is None:
            kept = _powers(self.shift[:, group], frequencies)
            self._rotations[group, frequencies] = kept
        return kept[arcs]

    def _mixed(self, group: int, carried: Table, arcs: slice) -> Table:
        """c + (1 - c)·carried, in place."""
        background = self.background[self.edge[arcs], group].astype(np.float32)[:, None]
        carried *= 1.0 - background
        carried += background
        return carried

    def _background_from(self, fit: FloatArray) -> None:
        """Set c (m, k), the probability of an outlier or another group, from densities (m, k)."""
        part = self.share * fit
        others = np.maximum(part.sum(axis=1, keepdims=True) - part, 0.0)
        others += self.doubt * self.eta
        self.background = np.clip(others / (others + self.share), _LEAST_SHARE, _MOST_BACKGROUND)


def point_estimates(
    marginals: FloatArray, origin: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Modes, mean directions and their lengths (n, k) of marginals (n, k, B)."""
    bins = marginals.shape[2]
    top = marginals.argmax(axis=2)
    near = [
        np.log(np.take_along_axis(marginals, (top + d)[..., None] % bins, 2)[..., 0] + _TINY)
        for d in (-1, 0, 1)
    ]
    # Vertex of the parabola through the three log probabilities.
    bend = near[0] - 2 * near[1] + near[2]
    inside = np.divide(0.5 * (near[0] - near[2]), bend, out=np.zeros_like(bend), where=bend < _FLAT)
    mode = wrap(origin + TWO_PI * (top + np.clip(inside, -0.5, 0.5)) / bins)
    mean = marginals @ np.exp(2j * np.pi * np.arange(bins) / bins)
    return mode, wrap(origin + np.angle(mean)), np.abs(mean)


def _powers(shift: FloatArray, count: int) -> NDArray[np.complex64]:
    """exp(-iqa) (arcs, count) of shifts a (arcs,) for q = 0..count - 1."""
    # By repeated multiplication accuracy would be lost; the real functions are as fast.
    phase = np.arange(count, dtype=np.float32) * shift[:, None].astype(np.float32)
    power = np.empty(phase.shape, dtype=np.complex64)
    np.cos(phase, out=power.real)
    np.sin(phase, out=power.imag)
    return np.conj(power, out=power)


def _row_dot(rows: Table, factor: Table) -> Table:
    """Sum (r,) of each row (r, c) times a factor (c,) or (r, c)."""
    return rows @ factor if factor.ndim == 1 else np.einsum("ij,ij->i", rows, factor)


def _scaled_exp(log_table: Table) -> Table:
    """exp of each row, scaled to maximum 1; in place."""
    log_table -= log_table.max(axis=1, keepdims=True)
    return np.exp(log_table, out=log_table)
