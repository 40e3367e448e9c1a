"""Where to put the nodes that the measurements leave open."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.typing import BoolArray, FloatArray

_GRID = 128
# Concentration of the kernel with which known angles are smoothed to a density.
_KERNEL = 8.0
# Known angles that a uniform density counts for: the estimate follows the data beyond that.
_UNIFORM_COUNT = 10.0
# Posterior probability from which a single vote decides.
_DECIDED = 0.9


def certified(graph: MeasurementGraph, fit: MixtureFit, group: int) -> BoolArray:
    """Nodes (n,) held by at least two believed edges to such nodes: the 2-core of those edges.

    A node with one believed edge fits it whatever its offset; so does a tree of such nodes.
    """
    believed = fit.membership[:, group] > 0.5
    src, dst = graph.src, graph.dst
    inside = np.ones(graph.num_nodes, dtype=bool)
    while True:
        alive = believed & inside[src] & inside[dst]
        ends = np.concatenate([src[alive], dst[alive]])
        held = np.bincount(ends, minlength=graph.num_nodes) >= 2
        if (held == inside).all():
            return inside
        inside = held


def angle_density(angles: FloatArray, weight: FloatArray) -> FloatArray:
    """Density (128,) of the nodes' angles on a grid, relative to uniform, from known ones (n,).

    Angles are often not spread evenly. How they are is learned from those that are known, up to
    the common rotation; a uniform density is mixed in, so that few known angles say little.
    """
    grid = TWO_PI * np.arange(_GRID) / _GRID
    count = np.bincount(
        np.rint(np.mod(angles, TWO_PI) / TWO_PI * _GRID).astype(np.int64) % _GRID,
        weights=weight,
        minlength=_GRID,
    )
    kernel = np.exp(_KERNEL * (np.cos(grid) - 1.0))
    kernel /= kernel.mean()
    smooth = np.fft.irfft(np.fft.rfft(count) * np.fft.rfft(kernel), n=_GRID)
    return (np.maximum(smooth, 0.0) + _UNIFORM_COUNT) / (weight.sum() + _UNIFORM_COUNT)


def place_open_nodes(graph: MeasurementGraph, fit: MixtureFit, known: BoolArray) -> FloatArray:
    r"""Angles (n, k) in which nodes not `known` (n, k) take their mean under the posterior.

    Given exact votes :math:`c_e = θ_j ± a_e` of known neighbours, no two of which agree, and the
    density p of angles (relative to uniform), the posterior of an open node is p with added masses
    :math:`2π \frac{1-η}{η} p(c_e)` at the votes. The mean direction of it is the estimate of least
    expected MSE; a guess of one of the votes has a much larger one.
    """
    angles = fit.angles.copy()
    grid = np.exp(2j * np.pi * np.arange(_GRID) / _GRID)
    for group in range(angles.shape[1]):
        inside = known[:, group]
        if inside.all() or not inside.any():
            continue
        density = angle_density(angles[:, group], inside.astype(np.float64))
        free = 1.0 - (fit.membership.sum(axis=1) - fit.membership[:, group])
        odds = fit.share[group] / max(fit.eta, 1e-3)
        total = np.full(graph.num_nodes, (density * grid).mean())
        mass_at, best = np.ones(graph.num_nodes), np.zeros(graph.num_nodes)
        choice = np.zeros(graph.num_nodes)
        for node, voter, sign in ((graph.src, graph.dst, 1.0), (graph.dst, graph.src, -1.0)):
            use = inside[voter] & ~inside[node]
            vote = angles[voter[use], group] + sign * graph.offset[use]
            cell = np.rint(np.mod(vote, TWO_PI) / TWO_PI * _GRID).astype(np.int64) % _GRID
            mass = odds * free[use] * density[cell]
            np.add.at(total, node[use], mass * np.exp(1j * vote))
            np.add.at(mass_at, node[use], mass)
            np.maximum.at(best, node[use], mass)
            leading = mass == best[node[use]]
            choice[node[use][leading]] = vote[leading]
        # A vote all but certain is taken as it is, so that exact offsets give exact angles.
        decided = best > _DECIDED * mass_at
        placed = np.where(decided, choice, np.angle(total))
        angles[~inside, group] = placed[~inside]
    return angles
