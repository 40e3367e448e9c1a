"""Gibbs sampling of inliers, outlier share and noise, with the angles integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from gnnsync.angles import TWO_PI, wrap
from gnnsync.methods.robust.sparse.kernel import Kernel
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import check_time

# Prior of the outlier share η: Beta(a, b). Most files have few outliers, some have many.
PRIOR = (0.15, 1.5)
# Scales σ of the noise (radians), equally likely on a logarithmic grid. Below the least, noise is
# as good as none; at the largest, one measurement says next to nothing.
SCALES = np.geomspace(1e-3, 1.0, 70)
# η is kept from 0 and 1 by this.
LEAST_ETA = 1e-6
# Part of a chain's variance that its neighbours leave below which it is a bridge of the inliers.
_BRIDGE = 1e-8
# Windings of the circle over which the normal density is summed, and the largest variance for
# which they are enough: beyond it, the wrapped density is uniform up to e^(-variance/2).
_WINDINGS = TWO_PI * np.arange(-2, 3)
_UNIFORM_VARIANCE = 12.0


@dataclass(frozen=True, eq=False)
class InlierSamples:
    """Samples of what the offsets leave open.

    Args:
        inlier: (s, c) whether each chain of the kernel is an inlier.
        eta: (s,) outlier share.
        sigma: (s,) scale of the noise.
        probability: (s, c) of each chain to be an inlier, given the other chains.
        fitted: (s, k) least-squares angles of the junctions, mean 0 in each part that inliers join.
        angles: (s, k) samples of the angles of the junctions.
    """

    inlier: BoolArray
    eta: FloatArray
    sigma: FloatArray
    probability: FloatArray
    fitted: FloatArray
    angles: FloatArray


def sample_inliers(
    kernel: Kernel,
    rng: np.random.Generator,
    *,
    seen: tuple[float, float] = (0.0, 0.0),
    sigma: float | None = None,
    start: BoolArray | None = None,
    replicas: int = 32,
    burn_in: int = 30,
    kept: int = 8,
    thin: int = 4,
) -> InlierSamples:
    """Samples of the posterior from independent replicas of a Gibbs sampler.

    Offsets of inlier edges are normal with variance σ²/w, those of outliers uniform, angles have a
    uniform prior. Given the other inlier chains, a chain between nodes that they join has the
    closure error e with variance v: its odds are (1 - η)^L / (1 - (1 - η)^L) · 2π N(e; v), N
    wrapped on the circle; between nodes that they do not join, 2π N = 1. Of two chains that meet,
    one an inlier and one not, it is also sampled which is the inlier: with few outliers a sampler
    that changes one chain at a time would seldom come from one to the other.

    Args:
        kernel: the chains.
        rng: source of randomness.
        seen: numbers of outliers and of inliers among further edges, which tell about η.
        sigma: the scale of the noise, if it is known.
        start: (c,) chains that are inliers at first in three of four replicas; none elsewhere.
        replicas: number of samplers that run side by side.
        burn_in: sweeps before the first sample.
        kept: samples of each replica.
        thin: sweeps between samples.

    Raises:
        TimeUp: the time limit (`gnnsync.work`) is reached.
    """
    prior = PRIOR[0] + seen[0], PRIOR[1] + seen[1]
    state = KernelState(kernel, replicas, rng, prior, sigma)
    # Trusted chains are inliers from the beginning, along a tree of them and then the rest.
    for chain in np.flatnonzero(kernel.doubted == 0).tolist():
        state.put(chain, np.ones(replicas, dtype=bool))
    if start is not None:
        for chain in np.flatnonzero(start & (kernel.doubted > 0)).tolist():
            state.put(chain, state.inlier[:, chain] | (np.arange(replicas) % 4 > 0))
    samples = []
    for sweep in range(burn_in + kept * thin):
        check_time()
        probability = state.sweep()
        if sweep >= burn_in and (sweep - burn_in) % thin == thin - 1:
            angles = state.mean.copy(), state.sample_angles()
            samples.append((state.inlier.copy(), state.eta, state.sigma, probability, *angles))
    columns = (np.concatenate(column) for column in zip(*samples, strict=True))
    return InlierSamples(*columns)


class KernelState:
    """Inliers (r, c) of the replicas with the covariance of the junctions in units of σ²."""

    def __init__(
        self,
        kernel: Kernel,
        replicas: int,
        rng: np.random.Generator,
        prior: tuple[float, float],
        sigma: float | None,
    ) -> None:
        self.kernel, self.rng, self.prior = kernel, rng, prior
        self.scales = SCALES if sigma is None else np.array([max(sigma, SCALES[0])])
        c, k = kernel.num_chains, kernel.num_nodes
        self.incidence = np.zeros((c, k))
        self.incidence[np.arange(c), kernel.ends[0]] = 1.0
        self.incidence[np.arange(c), kernel.ends[1]] -= 1.0
        self.inlier = np.zeros((replicas, c), dtype=bool)
        self.lifted = np.tile(kernel.offset, (replicas, 1))
        self.label = np.tile(np.arange(k), (replicas, 1))
        self.covariance = np.zeros((replicas, k, k))
        self.mean = np.zeros((replicas, k))
        self._refresh(np.arange(replicas))
        self.pairs = _meeting(kernel)
        # Few outliers at first: cycles that do not close raise the share within some sweeps, while
        # from a large share long chains, all taken for outliers, would never become inliers.
        self.eta = rng.uniform(0.005, 0.05, replicas)
        middle = self.scales[len(self.scales) // 3 : 4 * len(self.scales) // 5 + 1]
        self.sigma = rng.choice(middle, replicas)

    def keep(self, replicas: IntArray, sigma: FloatArray) -> None:
        """Take some of the replicas, in this order and with these scales, for all."""
        self.inlier, self.lifted = self.inlier[replicas], self.lifted[replicas]
        self.label, self.mean = self.label[replicas], self.mean[replicas]
        self.covariance, self.sigma = self.covariance[replicas], sigma

    def sweep(self) -> FloatArray:
        """Resample every chain, pairs of them, η and σ; the probability (r, c) of each chain."""
        probability = np.ones(self.inlier.shape)
        for chain in self.rng.permutation(np.flatnonzero(self.kernel.doubted)).tolist():
            probability[:, chain] = self._resample(chain)
        for one, two in self.rng.permutation(self.pairs)[: self.kernel.num_chains].tolist():
            self._exchange(one, two)
        self._resample_eta()
        self._resample_sigma()
        return probability

    def sample_angles(self) -> FloatArray:
        """Angles (r, k) of the junctions: normal, with one rotation for every component."""
        variance = self.kernel.variance
        noise = self.inlier * self.rng.standard_normal(self.inlier.shape) / np.sqrt(variance)
        moved = np.matmul(self.covariance, (noise @ self.incidence)[..., None])[..., 0]
        rotation = self.rng.uniform(0.0, TWO_PI, self.label.shape)
        own = np.take_along_axis(rotation, self.label, axis=1)
        return self.mean + self.sigma[:, None] * moved + own

    def _resample(self, chain: int) -> FloatArray:
        error, variance = self.closure(chain)
        odds = self._prior(np.full(len(error), chain), np.arange(len(error)))
        odds = odds + log_density(error, self.sigma**2 * variance)
        probability = np.asarray(expit(odds))
        self.put(chain, self.rng.random(len(odds)) < probability)
        return probability

    def _prior(self, chain: IntArray, replica: IntArray) -> FloatArray:
        """Log odds of chains, each in a replica, to be inliers by the outlier share alone."""
        right = self.kernel.doubted[chain] * np.log1p(-self.eta[replica])
        return np.asarray(right - np.log(-np.expm1(right)))

    def _exchange(self, one: int, two: int) -> None:
        """Resample which of two chains is the inlier, in the replicas where one of them is."""
        held = self.inlier[:, one]
        r = np.flatnonzero(held != self.inlier[:, two])
        if not len(r):
            return
        kernel, cov = self.kernel, self.covariance
        inside, outside = np.where(held[r], one, two), np.where(held[r], two, one)
        (a, b), (c, d) = kernel.ends[:, inside], kernel.ends[:, outside]
        own, other = kernel.variance[inside], kernel.variance[outside]
        spread = cov[r, a, a] + cov[r, b, b] - 2.0 * cov[r, a, b]
        crossed = cov[r, a, c] - cov[r, a, d] - cov[r, b, c] + cov[r, b, d]
        residual = self.lifted[r, inside] - self.mean[r, a] + self.mean[r, b]
        # Without the inlier: leave-one-out of least squares; a bridge moves nothing but its sides.
        bridge = own - spread <= _BRIDGE * own
        left = np.maximum(own - spread, _BRIDGE * own)
        slope = np.where(bridge, 0.0, crossed / left)
        error = self.mean[r, c] - self.mean[r, d] - slope * residual
        wide = cov[r, c, c] + cov[r, d, d] - 2.0 * cov[r, c, d] + slope * crossed + other
        parted = (self.label[r, c] != self.label[r, d]) | (bridge & (np.abs(crossed) > own / 2.0))
        noise = self.sigma[r] ** 2
        before = self._prior(inside, r) + log_density(
            wrap(residual * own / left), noise * np.where(bridge, np.inf, own * own / left)
        )
        after = self._prior(outside, r) + log_density(
            wrap(kernel.offset[outside] - error), noise * np.where(parted, np.inf, wide)
        )
        changed = r[self.rng.random(len(r)) < expit(after - before)]
        new = {chain: self.inlier[:, chain].copy() for chain in (one, two)}
        for inlier in new.values():
            inlier[changed] ^= True
        for chain, inlier in new.items():
            self.put(chain, inlier & self.inlier[:, chain])
        for chain, inlier in new.items():
            self.put(chain, inlier)

    def closure(self, chain: int) -> tuple[FloatArray, FloatArray]:
        """Closure error (r,) and its variance in σ², infinite where the others do not join it."""
        u, v = self.kernel.ends[:, chain]
        own = self.kernel.variance[chain]
        cov, inside = self.covariance, self.inlier[:, chain]
        spread = cov[:, u, u] + cov[:, v, v] - 2.0 * cov[:, u, v]
        predicted = self.mean[:, u] - self.mean[:, v]
        # Without the chain itself: leave-one-out of least squares.
        rest = np.where(inside, 1.0 - spread / own, 1.0)
        joined = np.where(inside, rest > _BRIDGE, self.label[:, u] == self.label[:, v])
        rest = np.maximum(rest, _BRIDGE)
        error = np.where(
            inside,
            (self.lifted[:, chain] - predicted) / rest,
            self.kernel.offset[chain] - predicted,
        )
        return wrap(error), np.where(joined, spread / rest + own, np.inf)

    def put(self, chain: int, inlier: BoolArray) -> None:
        """Set the chain (r,) and bring the covariance of the replicas that change up to date."""
        changed = np.flatnonzero(inlier != self.inlier[:, chain])
        if not len(changed):
            return
        u, v = self.kernel.ends[:, chain]
        predicted = self.mean[changed, u] - self.mean[changed, v]
        error = wrap(self.kernel.offset[chain] - predicted)
        self._relabel(chain, changed)
        self.lifted[changed, chain] = predicted + error
        self.inlier[changed, chain] = inlier[changed]
        self._refresh(changed)

    def _relabel(self, chain: int, changed: IntArray) -> None:
        """Component labels, the least junction of each, of replicas where the chain will change."""
        u, v = self.kernel.ends[:, chain]
        label, numbers = self.label[changed], np.arange(self.kernel.num_nodes)
        one, two = label[:, u, None], label[:, v, None]
        joined = np.where((label == one) | (label == two), np.minimum(one, two), label)
        # Current through a chain that alone joins two parts leaves the potential constant in each.
        cov = self.covariance[changed]
        potential = cov[:, :, u] - cov[:, :, v]
        spread = potential[:, u] - potential[:, v]
        beyond = potential < 0.5 * (potential[:, u] + potential[:, v])[:, None]
        first = [
            np.where((label == one) & side, numbers, len(numbers)).min(axis=1, keepdims=True)
            for side in (~beyond, beyond)
        ]
        parted = np.where(label == one, np.where(beyond, first[1], first[0]), label)
        held = self.inlier[changed, chain]
        bridge = held & (1.0 - spread / self.kernel.variance[chain] <= _BRIDGE)
        kept = np.where(bridge[:, None], parted, label)
        self.label[changed] = np.where(held[:, None], kept, joined)

    def _refresh(self, replicas: IntArray) -> None:
        """Pseudo-inverse of the Laplacian and mean of some replicas."""
        if not self.kernel.num_chains:
            return
        label = self.label[replicas]
        weight = self.inlier[replicas] / self.kernel.variance
        laplacian = np.matmul(self.incidence.T * weight[:, None, :], self.incidence)
        same = label[:, :, None] == label[:, None, :]
        # Mean zero in every component, of a precision like that of the edges.
        typical = self.kernel.variance.mean()
        flat = same / same.sum(axis=2, keepdims=True) / typical
        inverse = np.linalg.inv(laplacian + flat) - flat * typical**2
        right = (weight * self.lifted[replicas]) @ self.incidence
        self.covariance[replicas] = inverse
        self.mean[replicas] = np.matmul(inverse, right[..., None])[..., 0]

    def _resample_eta(self) -> None:
        doubted, size = self.kernel.doubted, self.inlier.shape
        wrong = ~self.inlier
        # A wrong chain has at least one outlier; the others of its edges are what they like.
        first = truncated_geometric(self.eta[:, None], doubted, self.rng.random(size))
        rest = self.rng.binomial(np.maximum(doubted - first - 1, 0), self.eta[:, None])
        outliers = (wrong * (1 + rest)).sum(axis=1)
        inliers = doubted.sum() - outliers
        eta = self.rng.beta(self.prior[0] + outliers, self.prior[1] + inliers)
        self.eta = np.clip(eta, LEAST_ETA, 1.0 - LEAST_ETA)

    def _resample_sigma(self) -> None:
        fitted = self.mean @ self.incidence.T
        square = (self.inlier * (self.lifted - fitted) ** 2 / self.kernel.variance).sum(axis=1)
        parts = (self.label == np.arange(self.kernel.num_nodes)).sum(axis=1)
        freedom = self.inlier.sum(axis=1) - self.kernel.num_nodes + parts
        scales = self.scales
        log = -freedom[:, None] * np.log(scales) - 0.5 * square[:, None] / scales**2
        # The largest of log-probability plus Gumbel noise is a sample.
        self.sigma = scales[(log + self.rng.gumbel(size=log.shape)).argmax(axis=1)]


def _meeting(kernel: Kernel) -> IntArray:
    """Pairs (p, 2) of chains, not trusted as a whole, that have a junction in common."""
    doubted = np.flatnonzero(kernel.doubted)
    one, two = (doubted[index] for index in np.triu_indices(len(doubted), 1))
    first, second = kernel.ends[:, one], kernel.ends[:, two]
    shared = (first[:, None] == second[None]).any(axis=(0, 1))
    return np.stack([one[shared], two[shared]], axis=1)


def truncated_geometric(eta: FloatArray, count: IntArray, uniform: FloatArray) -> IntArray:
    """Place of the first outlier among `count` edges, given that there is one."""
    keep = np.log1p(-eta)
    some = -np.expm1(np.maximum(count, 1) * keep)
    place = np.floor(np.log1p(-uniform * some) / keep).astype(np.int64)
    return np.clip(place, 0, np.maximum(count - 1, 0))


def log_density(error: FloatArray, variance: FloatArray) -> FloatArray:
    """log 2π N(error; variance) (r,), N wrapped on the circle; 0, as for outliers, if wide."""
    narrow = np.minimum(variance, _UNIFORM_VARIANCE)
    z = (error[:, None] + _WINDINGS) ** 2 / narrow[:, None]
    log = np.logaddexp.reduce(-0.5 * z, axis=1) + 0.5 * np.log(TWO_PI / narrow)
    return np.where(variance < _UNIFORM_VARIANCE, log, 0.0)
