"""Positions of the points of each patch from a semidefinite relaxation, for comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError, check_real
from gnnsync.localization.base import LocalPatches
from gnnsync.localization.patches.embedding import StressEmbedding
from gnnsync.localization.peers.relaxation import relaxed_points, require_cvxpy
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.work import check_time


@dataclass(frozen=True)
class SemidefiniteEmbedding(StressEmbedding):
    """A semidefinite relaxation of each patch, then the fit of `StressEmbedding`.

    The local step of ASAP (Cucuringu, Lipman and Singer 2012), with the relaxation of
    `gnnsync.localization.peers.Relaxation`. It needs CVXPY, an optional package, and a patch of 40
    points takes seconds where scaling takes a millisecond.

    Args:
        iterations: Gauss-Newton steps of the fit.
        largest_deviation: patches whose deviation is more than this multiple of the median are
            dropped.
        spread: weight of the term that holds the points apart.
    """

    spread: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("spread", self.spread, 0)

    def __call__(
        self, network: DistanceNetwork, patches: LocalPatches, *, seed: int = 0
    ) -> LocalPatches:
        """The patches with positions and deviations."""
        require_cvxpy()
        return super().__call__(network, patches, seed=seed)

    def start(
        self, network: DistanceNetwork, members: IntArray, valid: BoolArray, measured: FloatArray
    ) -> FloatArray:
        """Positions (b, k, 2); by scaling where the solver finds none."""
        place = super().start(network, members, valid, measured)
        free = network.replace(anchors=None, anchor_positions=None)
        for a in range(len(members)):
            check_time()
            own = members[a, valid[a]]
            part, _ = free.subnetwork(own)
            try:
                place[a, valid[a]] = relaxed_points(part, self.spread)[0]
            except GraphError:
                continue
        return np.asarray(place)
