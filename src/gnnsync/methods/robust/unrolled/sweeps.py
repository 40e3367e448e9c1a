"""Sweeps of learned belief propagation over one graph, in NumPy.

Arrays have the bins or harmonics first where edges are independent columns, so that a factor per
edge multiplies long contiguous rows, and last where whole densities are gathered or added. The
Fourier transforms between the two are products with a (B, B) matrix, which transpose for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gnnsync.angles import TWO_PI, wrap
from gnnsync.methods.robust.unrolled.start import PreparedGraph
from gnnsync.methods.robust.unrolled.weights import Perceptron, Table
from gnnsync.typing import FloatArray

# The constants below are those of `gnnsync.learn.inductive.network` and `.propagation`.
_FIRST_SHARE, _FIRST_SIGMA = 0.5, 0.7
_MOST_LOG_ODDS, _MOST_FIT = 4.0, 4.0
_SHARP = 3
_CERTAIN = 200.0
_TRUSTED = -12.0
_LEAST_SHARE, _LEAST_SIGMA, _MOST_SIGMA = 1e-3, 0.1, 1.5
_LEAST_FIT = 1e-3
_LEAST_BACKGROUND, _MOST_BACKGROUND = 1e-4, 1.0 - 1e-6
_TINY = 1e-12
# Inputs of the perceptron of arcs that invariants of the graph take, between those of the arc.
_SHARED = slice(7, 10)
# Entries of a message table that are worked on at a time: they fit a processor cache.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Noise:
    """What a sweep assumes.

    Args:
        share: (k,) share of each group's edges; the rest are outliers.
        log_sigma: logarithm of σ of an edge of mean weight.
        temperature: exponent of the beliefs that are sent.
        damping: part of the old log message in the new one.
    """

    share: FloatArray
    log_sigma: float
    temperature: float
    damping: float


class Propagation:
    """Messages and beliefs of a graph, changed in place by every sweep.

    Args:
        prepared: n nodes, m edges, k groups.
        bins: B, even.
        first: (2,) raw concentration of the first beliefs: constant, and with the agreement.
    """

    def __init__(self, prepared: PreparedGraph, bins: int, first: Table) -> None:
        graph, k = prepared.graph, prepared.k
        n, m = graph.num_nodes, graph.num_edges
        self.k, self.bins, self.ends = k, bins, graph.edge_index
        self.held = None if prepared.known is None else np.isfinite(prepared.known).T
        columns, ones = np.arange(m), np.ones(m, dtype=np.float32)
        self._at_end = [sp.csr_array((ones, (end, columns)), shape=(n, m)) for end in self.ends]
        self.weight = _relative_weight(prepared)
        self._variance_factor = None if graph.weight is None else 1.0 / self.weight
        self._doubt = np.exp(_TRUSTED * graph.edge_trusted)
        self._fourier(bins)
        residual = wrap(-graph.residual(prepared.start)).T
        phase = (self._order[:, None, None] * residual).astype(np.float32)
        self._cos, self._sin = np.cos(phase), np.sin(phase)
        self._fixed = _arc_features(prepared)

        self.message = np.zeros((2, k, m, bins), dtype=np.float32)
        self.belief = self._first_belief(prepared, np.cos(residual), first)
        self.share = np.full(k, _FIRST_SHARE / k)
        self.log_sigma = float(np.log(_FIRST_SIGMA))
        self.membership = np.full((k, m), _FIRST_SHARE / k)

    def sweep(self, noise: Noise, of_arc: Perceptron, about: FloatArray) -> None:
        """Update all messages, then beliefs, shares, σ and memberships.

        Args:
            noise: what the sweep assumes.
            of_arc: corrects the odds of the background and gives the power of each message.
            about: (F,) invariants of the graph, of which the arcs read the first three.
        """
        m = self.ends.shape[1]
        fit, cosine = np.empty((2, self.k, m))
        # Inputs that are the same for all arcs are part of the bias.
        shared = of_arc.inner[:, _SHARED] @ about[:3].astype(np.float32)
        inner = np.delete(of_arc.inner, _SHARED, axis=1)
        reader = Perceptron(inner, of_arc.bias + shared, of_arc.outer)
        size = max(_BLOCK // (self.k * self.bins), 1)
        for start in range(0, m, size):
            edges = slice(start, min(start + size, m))
            fit[:, edges], cosine[:, edges] = self._update(edges, noise, reader)
        self._sum_messages()
        self._learn_noise(fit, cosine, noise.share)

    def marginals(self, temperature: float) -> FloatArray:
        """Probabilities (n, k, B) of the bins, relative to the initial angles."""
        weights = np.exp(temperature * self.belief.astype(np.float64))
        return (weights / weights.sum(axis=2, keepdims=True)).swapaxes(0, 1)

    @staticmethod
    def bounded(log_sigma: float) -> float:
        """A logarithm of σ within its limits."""
        return float(np.clip(log_sigma, np.log(_LEAST_SIGMA), np.log(_MOST_SIGMA)))

    def _fourier(self, bins: int) -> None:
        """Matrices between bins and harmonics q = 1..B/2: real parts, then imaginary ones."""
        half = bins // 2
        self._order = np.arange(1, half + 1, dtype=np.float64)
        grid = TWO_PI * np.arange(bins) / bins
        self._bump = np.cos(grid) - 1.0
        phase = self._order[:, None] * grid
        waves = np.concatenate([np.cos(phase), -np.sin(phase)])
        # Coefficients other than the last stand for their conjugates too.
        self._twice = np.where(self._order < half, 2.0, 1.0)
        self._to_bins = np.tile(self._twice, 2)[:, None] * waves
        # The last row adds up the bins.
        self._to_harmonics = np.concatenate([waves, np.ones((1, bins))]).astype(np.float32)

    def _first_belief(self, prepared: PreparedGraph, agreement: FloatArray, first: Table) -> Table:
        """Log beliefs (k, n, B) around the initial angles."""
        total = sum(at_end @ agreement.T for at_end in self._at_end)
        mean = np.maximum(total, 0.0).T / np.sqrt(np.maximum(prepared.degree, 1.0))
        constant, slope = np.logaddexp(0.0, first.astype(np.float64))
        belief = ((constant + slope * mean) * prepared.sure)[..., None] * self._bump
        return self._anchored(belief.astype(np.float32))

    def _anchored(self, belief: Table) -> Table:
        """Log beliefs (k, n, B) in which anchors are certain."""
        if self.held is not None:
            belief[self.held] = _CERTAIN * self._bump
        return belief

    def _update(
        self, edges: slice, noise: Noise, reader: Perceptron
    ) -> tuple[FloatArray, FloatArray]:
        """New messages of some edges; returns density of their offsets, and E cos δ times it."""
        variance = np.exp(2.0 * noise.log_sigma)
        if self._variance_factor is not None:
            variance = variance * self._variance_factor[edges]
        blur, tilted = (f.astype(np.float32) for f in self._blurs(variance))
        cavity = self._cavity(edges, noise.temperature)
        moved = self._moved(cavity, edges)
        # What arrives at the source against what the source believes without this edge.
        overlap = (moved[:, :, 0] * cavity[:, :, 1]).sum(axis=0)
        overlap *= self._twice.astype(np.float32)[:, None, None]
        fit = np.maximum(1.0 + _weighted(overlap, blur), _LEAST_FIT)
        cosine = np.exp(-0.5 * variance) + _weighted(overlap, tilted)
        odds = self._background_odds(fit, noise.share, edges)
        background, power = self._learned(reader, cavity, fit, odds, edges)
        moved *= 1.0 - background
        new = self._carried(moved, blur)
        np.maximum(new, background.reshape(-1, 1), out=new)
        np.log(new, out=new)
        power *= 1.0 - noise.damping
        new *= power.reshape(-1, 1)
        table = self.message[:, :, edges]
        table *= noise.damping
        table += new.reshape(table.shape)
        return fit, cosine

    def _cavity(self, edges: slice, temperature: float) -> Table:
        """Harmonics (2, B/2, 2, k, e) of the far ends' beliefs without the edge's own message.

        Axes: real and imaginary part, harmonic, arc (to the source, to the destination), group,
        edge. Beliefs have maximum 0 and log messages are bounded, so that exp does not overflow.
        """
        source, destination = self.ends[:, edges]
        far = np.empty((2, self.k, len(source), self.bins), dtype=np.float32)
        for group, belief in enumerate(self.belief):
            for arc, end in enumerate((destination, source)):
                np.take(belief, end, axis=0, out=far[arc, group], mode="clip")
        far -= self.message[::-1, :, edges]
        far *= temperature
        np.exp(far, out=far)
        sums = self._to_harmonics @ far.reshape(-1, self.bins).T
        harmonics = sums[:-1]
        harmonics /= sums[-1]
        return harmonics.reshape(2, self.bins // 2, 2, self.k, len(source))

    def _moved(self, cavity: Table, edges: slice) -> Table:
        """Harmonics moved along the edge: times e^{-iqr} to the source, e^{iqr} the other way."""
        cos, sin = self._cos[:, None, :, edges], self._sin[:, None, :, edges]
        moved, turned = cavity * cos, cavity * sin
        moved[0, :, 0] += turned[1, :, 0]
        moved[1, :, 0] -= turned[0, :, 0]
        moved[0, :, 1] -= turned[1, :, 1]
        moved[1, :, 1] += turned[0, :, 1]
        return moved

    def _blurs(self, variance: float | FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (B/2,) or (B/2, e) of the noise N(δ), and of cos(δ)·N(δ)."""

        def blur(order: FloatArray) -> FloatArray:
            return np.exp(-0.5 * np.multiply.outer(np.square(order), variance))

        tilted = 0.5 * (blur(self._order - 1.0) + blur(self._order + 1.0))
        return blur(self._order), tilted

    def _carried(self, moved: Table, blur: Table) -> Table:
        """Densities (2·k·e, B), relative to uniform, of harmonics blurred by the noise."""
        to_bins = self._to_bins.astype(np.float32)
        if blur.ndim == 1:
            to_bins *= np.tile(blur, 2)[:, None]
        else:
            moved *= blur[:, None, None, :]
        density = moved.reshape(len(to_bins), -1).T @ to_bins
        density += 1.0
        return density

    def _background_odds(self, fit: FloatArray, share: FloatArray, edges: slice) -> FloatArray:
        """Log odds (k, e) that an edge measures an outlier or another group instead of this one."""
        part = share[:, None] * fit
        others = np.maximum(part.sum(axis=0) - part, 0.0)
        others += self._outlier_share(share)[edges]
        return np.log(others + _TINY) - np.log(share)[:, None]

    def _outlier_share(self, share: FloatArray) -> FloatArray:
        """Share (m,) of outliers among edges like each one."""
        return max(1.0 - share.sum(), _LEAST_SHARE) * self._doubt

    def _learned(
        self, reader: Perceptron, cavity: Table, fit: FloatArray, odds: FloatArray, edges: slice
    ) -> tuple[Table, Table]:
        """Background probability and power (2, k, e) of the messages, from invariants of arcs."""
        shape = cavity.shape[2:]
        features = np.empty((5 + len(self._fixed), *shape), dtype=np.float32)
        for row, harmonic in ((0, 0), (2, _SHARP)):
            real, imaginary = cavity[:, harmonic]
            features[row] = np.sqrt(real * real + imaginary * imaginary)
        features[1] = features[0, ::-1]
        features[3:5] = self._fixed[:2, :, None, edges]
        features[5] = np.clip(np.log(fit), -_MOST_FIT, _MOST_FIT)
        features[6] = odds
        features[7:] = self._fixed[2:, :, None, edges]
        change, power = reader(features.reshape(len(features), -1)).reshape(2, *shape)
        change = odds.astype(np.float32) + _MOST_LOG_ODDS * np.tanh(change / _MOST_LOG_ODDS)
        background = 1.0 / (1.0 + np.exp(-change))
        np.clip(background, _LEAST_BACKGROUND, _MOST_BACKGROUND, out=background)
        return background, np.exp(np.tanh(power))

    def _sum_messages(self) -> None:
        """Beliefs: sums of the log messages at a node, with maximum 0."""
        for group, belief in enumerate(self.belief):
            to_source, to_destination = self.message[:, group]
            belief[:] = self._at_end[0] @ to_source + self._at_end[1] @ to_destination
        self.belief -= self.belief.max(axis=2, keepdims=True)
        self._anchored(self.belief)

    def _learn_noise(self, fit: FloatArray, cosine: FloatArray, share: FloatArray) -> None:
        """EM step for shares, σ and memberships from densities (k, m)."""
        part = share[:, None] * fit
        member = part / (part.sum(axis=0) + self._outlier_share(share))
        new = np.maximum(member.mean(axis=1), _LEAST_SHARE)
        self.share = new * min((1.0 - _LEAST_SHARE) / new.sum(), 1.0)
        # R = E cos δ over the inliers, and σ² = -2 log R for wrapped normal noise.
        lost = (member * (1.0 - cosine / fit)).sum(axis=0) @ self.weight
        mean = np.clip(1.0 - lost / max(member.sum(), _TINY), 1e-6, 1.0 - 1e-6)
        self.log_sigma = self.bounded(0.5 * np.log(-2.0 * np.log(mean)))
        self.membership = member


def _arc_features(prepared: PreparedGraph) -> Table:
    """Invariants (F, 2, m) of arcs that stay: degrees of both ends, weight, triangles."""
    graph, weight = prepared.graph, _relative_weight(prepared)
    degree = 0.5 * np.log(np.maximum(prepared.degree, 1.0))[graph.edge_index] - 1.5
    rows = [degree[::-1], degree]
    rows += [np.stack([row, row]) for row in (np.log(weight), *prepared.cycles.T)]
    return np.stack(rows).astype(np.float32)


def _relative_weight(prepared: PreparedGraph) -> FloatArray:
    """Edge weights (m,) divided by their mean."""
    weight = prepared.graph.edge_weight
    return weight / weight.mean() if len(weight) else weight


def _weighted(overlap: NDArray[np.float32], factor: Table) -> FloatArray:
    """Sum (k, e) over harmonics of a table (B/2, k, e) times a factor (B/2,) or (B/2, e)."""
    if factor.ndim == 1:
        flat = factor @ overlap.reshape(len(factor), -1)
        return flat.reshape(overlap.shape[1:]).astype(np.float64)
    return np.einsum("hke,he->ke", overlap, factor).astype(np.float64)
