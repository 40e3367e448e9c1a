"""SMACOF: multidimensional scaling of the measured pairs by stress majorisation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError, check_bool, check_integer
from gnnsync.localization.peers.components import Placed, locate_components
from gnnsync.localization.peers.majorisation import Majorisation
from gnnsync.localization.repair.scaling import check_size, scaled_paths
from gnnsync.positions import Positions
from gnnsync.typing import FloatArray


@dataclass(frozen=True)
class Smacof:
    """The least stress of several starts by majorisation (de Leeuw 1977).

    The stress of a sparse network has many local minima, in which parts of the map are folded over
    others. A random start nearly always ends in one; classical scaling of shortest paths is a
    better start.

    Args:
        random_starts: number of starts with points drawn uniformly in a square.
        path_start: whether classical scaling of shortest paths is a start as well; takes n²
            memory.
        majorisation: weights and stopping rule.
    """

    random_starts: int = 10
    path_start: bool = True
    majorisation: Majorisation = field(default_factory=Majorisation)

    def __post_init__(self) -> None:
        check_integer("random_starts", self.random_starts, 0)
        check_bool("path_start", self.path_start)
        if not self.random_starts and not self.path_start:
            raise ParameterError("random_starts", 0, "positive, if there is no path_start")

    def __call__(self, network: DistanceNetwork, *, seed: int = 0) -> Positions:
        """Positions of the points, up to a motion of each component without anchors."""
        if self.path_start:
            check_size("SMACOF from shortest paths", network)
        return locate_components(network, self._locate, seed)

    def _locate(self, network: DistanceNetwork, rng: np.random.Generator) -> Placed:
        starts = [_random_square(network, rng) for _ in range(self.random_starts)]
        if self.path_start:
            starts.append(scaled_paths(network))
        fits = self.majorisation(network, np.stack(starts))
        best = fits.best
        return Placed(fits.points[best], int(fits.iterations[best]), bool(fits.converged[best]))


def _random_square(network: DistanceNetwork, rng: np.random.Generator) -> FloatArray:
    """Points (n, 2) uniform in a square in which they would have this mean degree.

    A point has about k = n π r²/a² neighbours within the radius r in a square of side a, at a mean
    distance of 2r/3.
    """
    n, m = network.num_points, network.num_edges
    radius = 1.5 * float(network.distance.mean())
    return radius * np.sqrt(np.pi * n / (2.0 * m / n)) * rng.random((n, 2))
