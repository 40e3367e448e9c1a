"""Posterior mean angles for nodes that the measurements do not determine."""

from __future__ import annotations

import numpy as np

from gnnsync.angles import TWO_PI
from gnnsync.graph import MeasurementGraph
from gnnsync.methods.robust.noise.mixture import MixtureFit
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Grid points of the density of angles, several per width of the kernel (0.35 rad).
_GRID = 128
# Concentration of the von Mises kernel that smooths known angles to a density.
_KERNEL = 8.0
# A uniform density counts as much as this many known angles: beyond that the data prevail.
_UNIFORM_COUNT = 10.0
# Posterior probability from which a single prediction is taken as it is.
_DECIDED = 0.9


def two_core(graph: MeasurementGraph, fit: MixtureFit, group: int) -> BoolArray:
    """Nodes (n,) with at least two inlier edges to such nodes: the 2-core of the inlier graph.

    An edge is an inlier here if its membership exceeds one half. A node with one such edge fits it
    whatever its offset, and so does a tree of such nodes: outside the 2-core nothing is checked.
    """
    inlier = fit.membership[:, group] > 0.5
    src, dst = graph.src, graph.dst
    inside = np.ones(graph.num_nodes, dtype=bool)
    while True:
        alive = inlier & inside[src] & inside[dst]
        ends = np.concatenate([src[alive], dst[alive]])
        kept = np.bincount(ends, minlength=graph.num_nodes) >= 2
        if (kept == inside).all():
            return inside
        inside = kept


def angle_density(angles: FloatArray, weight: FloatArray) -> FloatArray:
    """Density (128,) of the nodes' angles on a grid, relative to uniform, from known angles (n,).

    Angles are often not spread evenly over the circle. Their density is estimated from the known
    ones, up to the common rotation, with von Mises kernels; a uniform density is mixed in, so that
    few known angles have little effect.
    """
    grid = TWO_PI * np.arange(_GRID) / _GRID
    count = np.bincount(cell_of(angles, _GRID), weights=weight, minlength=_GRID)
    kernel = np.exp(_KERNEL * (np.cos(grid) - 1.0))
    kernel /= kernel.mean()
    smooth = np.fft.irfft(np.fft.rfft(count) * np.fft.rfft(kernel), n=_GRID)
    return (np.maximum(smooth, 0.0) + _UNIFORM_COUNT) / (weight.sum() + _UNIFORM_COUNT)


def cell_of(angles: FloatArray, cells: int) -> IntArray:
    """The nearest of `cells` equally spaced points of the circle to each angle."""
    return np.rint(np.mod(angles, TWO_PI) / TWO_PI * cells).astype(np.int64) % cells


def place_open_nodes(graph: MeasurementGraph, fit: MixtureFit, known: BoolArray) -> FloatArray:
    r"""Angles (n, k) in which nodes not `known` (n, k) take their mean under the posterior.

    Given exact predictions :math:`c_e = θ_j ± a_e` of known neighbours, no two of which agree, and
    the density p of angles (relative to uniform), the posterior of an open node is p with added
    masses :math:`2π \frac{1-η}{η} p(c_e)` at the predictions. The mean direction of it is the
    estimate of least expected MSE; choosing one of the predictions has a much larger one.
    """
    angles = fit.angles.copy()
    for group in range(angles.shape[1]):
        inside = known[:, group]
        if not inside.all() and inside.any():
            placed = _posterior_means(graph, fit, angles[:, group], inside, group)
            angles[~inside, group] = placed[~inside]
    return angles


def _posterior_means(
    graph: MeasurementGraph, fit: MixtureFit, angles: FloatArray, inside: BoolArray, group: int
) -> FloatArray:
    """Posterior mean (n,) of nodes outside, from the predictions of the nodes `inside` (n,)."""
    n = graph.num_nodes
    density = angle_density(angles, inside.astype(np.float64))
    unexplained, odds = fit.unexplained(group), fit.odds(group)
    grid = np.exp(2j * np.pi * np.arange(_GRID) / _GRID)
    total = np.full(n, (density * grid).mean())
    mass_at, best, choice = np.ones(n), np.zeros(n), np.zeros(n)
    for node, neighbour, sign in ((graph.src, graph.dst, 1.0), (graph.dst, graph.src, -1.0)):
        use = inside[neighbour] & ~inside[node]
        prediction = angles[neighbour[use]] + sign * graph.offset[use]
        mass = odds * unexplained[use] * density[cell_of(prediction, _GRID)]
        np.add.at(total, node[use], mass * np.exp(1j * prediction))
        np.add.at(mass_at, node[use], mass)
        np.maximum.at(best, node[use], mass)
        leading = mass == best[node[use]]
        choice[node[use][leading]] = prediction[leading]
    # A nearly certain prediction is taken as it is, so that exact offsets give exact angles.
    decided = best > _DECIDED * mass_at
    return np.where(decided, choice, np.angle(total))
