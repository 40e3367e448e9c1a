"""MDS-MAP: classical scaling of shortest paths."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import check_bool
from gnnsync.localization.peers.components import Placed, locate_components
from gnnsync.localization.peers.majorisation import Majorisation
from gnnsync.localization.repair.scaling import check_size, scaled_paths
from gnnsync.positions import Positions


@dataclass(frozen=True)
class MDSMap:
    """Classical scaling of shortest paths (Shang, Ruml, Zhang and Fromherz 2003).

    A path is longer than the straight line, most of all around a hole; the map is bent by that,
    even without noise.

    Args:
        refined: whether stress majorisation from that map follows, MDS-MAP(C,R).
        majorisation: weights and stopping rule of it.
    """

    refined: bool = False
    majorisation: Majorisation = field(default_factory=Majorisation)

    def __post_init__(self) -> None:
        check_bool("refined", self.refined)

    def __call__(self, network: DistanceNetwork, *, seed: int = 0) -> Positions:
        """Positions of the points, up to a motion of each component without anchors."""
        check_size("MDS-MAP", network)
        return locate_components(network, self._locate, seed)

    def _locate(self, network: DistanceNetwork, rng: np.random.Generator) -> Placed:
        points = scaled_paths(network)
        if not self.refined:
            return Placed(points)
        fits = self.majorisation(network, points[None])
        return Placed(fits.points[0], int(fits.iterations[0]), bool(fits.converged[0]))
