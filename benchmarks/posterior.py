"""The least expected error that noisy offsets allow: the mean of the exact posterior, by sampling.

Gibbs sampling (Geman and Geman 1984) of the angles under uniform outliers and normal inliers, from
the true angles, with the true noise and the true density of the angles. No method that knows less
has a smaller error on average. Slow, and for k = 1 only.
"""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI, wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.cycles.paths import arcs_of
from gnnsync.methods.robust.noise.law import law_density
from gnnsync.methods.robust.noise.placement import angle_density
from gnnsync.typing import FloatArray

# Angles are drawn on a grid, uniformly within its cells; the kernel is tabulated more finely.
_CELLS, _FINE = 256, 4096


def posterior_mean(
    graph: MeasurementGraph,
    eta: float,
    sigma: float,
    *,
    sweeps: int = 600,
    burn_in: int = 100,
    seed: int = 0,
) -> FloatArray:
    """Mean directions (n, 1) of the sampled angles, each sample turned to the mean so far."""
    rng = np.random.default_rng(seed)
    assert graph.angles is not None
    distance = wrap(TWO_PI * np.arange(_FINE) / _FINE)
    kernel = np.log(eta + (1.0 - eta) * law_density(distance, sigma, np.inf))
    prior = np.log(angle_density(graph.angles[:, 0], np.ones(graph.num_nodes)))
    prior = np.repeat(prior, _CELLS // len(prior))
    grid = np.arange(_CELLS) * (_FINE // _CELLS)
    arcs = arcs_of(graph)
    angles, total = graph.angles[:, 0].copy(), np.zeros(graph.num_nodes, dtype=complex)
    for sweep in range(sweeps):
        for node in rng.permutation(graph.num_nodes):
            # An arc has θ[head] = θ[tail] + shift: seen from the tail, the head votes.
            own = slice(arcs.first[node], arcs.first[node + 1])
            vote = angles[arcs.head[own]] - arcs.shift[own]
            place = np.rint(vote / TWO_PI * _FINE).astype(np.int64)
            log_mass = kernel[(grid - place[:, None]) % _FINE].sum(axis=0) + prior
            mass = np.cumsum(np.exp(log_mass - log_mass.max()))
            cell = np.searchsorted(mass, rng.random() * mass[-1])
            angles[node] = TWO_PI / _CELLS * (cell + rng.uniform(-0.5, 0.5))
        if sweep >= burn_in:
            sample = np.exp(1j * angles)
            turn = np.angle(np.vdot(sample, total)) if total.any() else 0.0
            total += sample * np.exp(1j * turn)
    return np.angle(total)[:, None]
