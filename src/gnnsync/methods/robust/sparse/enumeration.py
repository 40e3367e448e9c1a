"""Exact samples of the inliers of a graph with a few chains, from all sets of them."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, expit, logit

from gnnsync.methods.robust.sparse.gibbs import (
    LEAST_ETA,
    PRIOR,
    InlierSamples,
    KernelState,
    log_density,
)
from gnnsync.methods.robust.sparse.kernel import Kernel
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Most chains: 2^8 sets take a fifth of the time of the sampler, 2^10 as long as it.
MOST_ENUMERATED = 8
# Values of the outlier share, evenly spaced as logits.
_SHARES = 200


def enumerate_inliers(
    kernel: Kernel,
    rng: np.random.Generator,
    *,
    seen: tuple[float, float] = (0.0, 0.0),
    sigma: float | None = None,
    samples: int = 256,
) -> InlierSamples:
    r"""Independent samples of the posterior that `sample_inliers` samples.

    Given a set S of inlier chains, outlier share and noise are independent:

    .. math:: p(S, η, σ) \propto p(η) \prod_{i \in S} (1 - η)^{L_i}
              \prod_{i \notin S} \bigl(1 - (1 - η)^{L_i}\bigr)
              \prod_{i \in S} 2π N(e_i; σ^2 v_i),

    with e the closure error and σ²v its variance when chain i of L measurements is added to those
    before it, N wrapped on the circle, and 2πN = 1 between nodes that they do not join.

    Args:
        kernel: at most `MOST_ENUMERATED` chains.
        rng: source of randomness.
        seen: numbers of outliers and of inliers among further edges, which tell about η.
        sigma: the scale of the noise, if it is known.
        samples: number of samples.
    """
    open_chains = np.flatnonzero(kernel.doubted)
    bits = np.arange(1 << len(open_chains))
    sets = np.ones((len(bits), kernel.num_chains), dtype=bool)
    sets[:, open_chains] = bits[:, None] >> np.arange(len(open_chains)) & 1 > 0
    state = KernelState(kernel, len(sets), rng, PRIOR, sigma)
    by_scale = _likelihood(state, sets)
    etas, weight = _outlier_shares(PRIOR[0] + seen[0], PRIOR[1] + seen[1])
    right = kernel.doubted[:, None] * np.log1p(-etas)
    wrong = np.log(-np.expm1(np.minimum(right, -np.finfo(float).tiny)))
    by_share = np.log(weight) + sets @ right + (~sets[:, open_chains]) @ wrong[open_chains]
    total = np.logaddexp.reduce(by_scale, axis=1) + np.logaddexp.reduce(by_share, axis=1)
    chosen = _drawn(np.tile(total, (samples, 1)), rng)
    scale, share = _drawn(by_scale[chosen], rng), _drawn(by_share[chosen], rng)
    # The same sets with each open chain on and off: its probability given the others.
    probability = np.ones((samples, kernel.num_chains))
    for place, chain in enumerate(open_chains.tolist()):
        inside, outside = chosen | 1 << place, chosen & ~(1 << place)
        odds = right[chain, share] - wrong[chain, share]
        odds += by_scale[inside, scale] - by_scale[outside, scale]
        probability[:, chain] = expit(odds)
    state.keep(chosen, state.scales[scale])
    return InlierSamples(
        state.inlier, etas[share], state.sigma, probability, state.mean, state.sample_angles()
    )


def _likelihood(state: KernelState, sets: BoolArray) -> FloatArray:
    """Log likelihood (S, σ) of the sets (S, c); `state` then has a replica for each.

    Chains are added one after the other: those that are in all sets first, then the most precise.
    """
    log, kernel = np.zeros((len(sets), len(state.scales))), state.kernel
    for chain in np.lexsort((kernel.variance, kernel.doubted > 0)).tolist():
        own = np.flatnonzero(sets[:, chain])
        error, variance = (part[own] for part in state.closure(chain))
        wide = (variance[:, None] * state.scales**2).ravel()
        log[own] += log_density(np.repeat(error, len(state.scales)), wide).reshape(len(own), -1)
        state.put(chain, sets[:, chain])
    return log


def _outlier_shares(a: float, b: float) -> tuple[FloatArray, FloatArray]:
    """Outlier shares and their probabilities under Beta(a, b), within the limits of the sampler."""
    logits = np.linspace(logit(LEAST_ETA), -logit(LEAST_ETA), _SHARES)
    between = expit(0.5 * (logits[1:] + logits[:-1]))
    cumulative = np.concatenate([[0.0], betainc(a, b, between), [1.0]])
    weight = np.diff(cumulative)
    kept = weight > 0
    return expit(logits[kept]), weight[kept]


def _drawn(log: FloatArray, rng: np.random.Generator) -> IntArray:
    """One column of each row, with probabilities of these logarithms up to a constant."""
    return np.asarray((log + rng.gumbel(size=log.shape)).argmax(axis=1))
