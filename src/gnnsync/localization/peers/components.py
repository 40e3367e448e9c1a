"""What the peers share: components are located one by one and moved onto their anchors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.positions import Positions, rigid_motion
from gnnsync.rigidity import localizable_points
from gnnsync.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Placed:
    """A component with its points (n, 2) up to a motion.

    Args:
        points: (n, 2).
        iterations: of the solver.
        converged: whether it met its tolerance.
    """

    points: FloatArray
    iterations: int = 0
    converged: bool = True


Locate = Callable[[DistanceNetwork, np.random.Generator], Placed]
"""Places a connected network of at least two points, with random numbers of its own."""


def locate_components(
    network: DistanceNetwork,
    locate: Callable[[DistanceNetwork, np.random.Generator], Placed],
    seed: int,
) -> Positions:
    """Positions of all points, each component located by `locate` and then moved onto its anchors.

    The motion, with reflection, is the one that fits its anchors best; a point without distances
    is at the origin, or at its anchor. Peers state neither covariances nor confidences.

    Args:
        network: any number of components.
        locate: places one component.
        seed: of the random numbers.
    """
    start = time.perf_counter()
    n, count = network.num_points, network.num_components
    points, iterations, converged = np.zeros((n, 2)), 0, True
    streams = np.random.default_rng(seed).spawn(count)
    order = np.argsort(network.component, kind="stable")
    cuts = np.flatnonzero(np.diff(network.component[order])) + 1
    for own, rng in zip(np.split(order, cuts), streams, strict=True):
        part, _ = network.subnetwork(own)
        if len(own) > 1:
            placed = locate(part, rng)
            points[own] = placed.points
            iterations, converged = max(iterations, placed.iterations), converged & placed.converged
        if part.num_anchors:
            turn, shift = rigid_motion(points[own][part.anchor_index], part.anchor_place)
            points[own] = points[own] @ turn.T + shift
    return Positions(
        points=points,
        covariance=np.full((n, 2, 2), np.nan),
        localizable=localizable_points(network.pairs, n, network.anchor_index),
        component=network.component,
        edge_confidence=np.ones(network.num_edges),
        converged=converged,
        iterations=iterations,
        stop_reason="tolerance reached" if converged else "most iterations reached",
        seconds=time.perf_counter() - start,
    )
