"""Localization from distances: noisy distances between points of the plane as a data set."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnsync.data.base import Networks
from gnnsync.data.distance_laws import NOISE, add_gross_errors, disc_graph, noisy_distances
from gnnsync.data.lazy import lightning_names
from gnnsync.data.located import LocatedMap, References
from gnnsync.data.points import PointFile, PointSource
from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError, check_choice, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from gnnsync.localization.base import PatchMeasurements
    from gnnsync.localization.pipeline import Localization

log = logging.getLogger(__name__)

__getattr__ = lightning_names(__name__, "DistanceDataModule")

DEVIATION = ("unknown", "known")


@dataclass(frozen=True, eq=False)
class _Disc:
    """The points, and all pairs of them within the radius."""

    points: FloatArray
    pairs: IntArray
    distance: FloatArray
    radius: float


class DistanceNetworks(Networks):
    """Noisy distances between near points, and the rotations of the patches made of them.

    All pairs of points nearer than a radius are measured; the radius is chosen for the mean degree.
    The steps of `localization` before the rotations make patches of the distances: their rotations
    are the measurement graph that a method solves. The steps after it turn its angles into a map.

    One network seed feeds independent streams for the noise, the gross errors and the anchors, so
    that networks of one seed at different η share points, graph and the shape of their noise.

    Args:
        points: gives the cloud (n, 2); see `gnnsync.data.points` and `gnnsync.data.shapes`.
        localization: the pipeline; its own method for the rotations is not used.
        degree: mean number of distances of a point.
        noise: law of the noise: `uniform`, `normal` or `additive`; see `noisy_distances`.
        eta: noise level η, the largest relative error of uniform noise.
        outliers: share of gross errors, distances that are too long.
        outlier_bias: least and largest bias of a gross error, in units of the radius.
        anchors: points of known position, drawn at random: a number, or a share if less than 1.
        deviation: whether the standard deviations of the distances are `known` to the pipeline.
        peers: other methods by name, each called with a network and a seed; their errors and
            seconds are columns of the row.
        seeds: one network per seed.
        path: a file of points in place of `points`, see `gnnsync.data.points.PointFile`.
        array: name of the array in a `.mat` file.
    """

    def __init__(
        self,
        points: PointSource,
        localization: Localization,
        degree: float = 12.0,
        noise: str = "uniform",
        eta: float = 0.1,
        outliers: float = 0.0,
        outlier_bias: Sequence[float] = (0.5, 2.0),
        anchors: float = 0,
        deviation: str = "unknown",
        peers: Mapping[str, Any] | None = None,
        seeds: Sequence[int] = (10, 20, 30, 40, 50),
        path: str | None = None,
        array: str | None = None,
    ) -> None:
        super().__init__(k=1, seeds=seeds)
        self.point_source = points if path is None else PointFile(path, array)
        self.localization = localization
        self.degree = check_real("degree", degree, 0, open_low=True)
        self.noise = check_choice("noise", noise, NOISE)
        self.eta = check_real("eta", eta, 0, 1, open_high=True)
        self.outliers = check_real("outliers", outliers, 0, 1, open_high=True)
        self.outlier_bias = _bounds(outlier_bias)
        self.anchors = check_real("anchors", anchors, 0)
        if self.anchors >= 1 and self.anchors != round(self.anchors):
            raise ParameterError("anchors", anchors, "a share below 1, or a whole number")
        self.deviation = check_choice("deviation", deviation, DEVIATION)
        self.peers = dict(peers or {})
        self._made: _Disc | None = None
        self._measured: dict[int, tuple[DistanceNetwork, PatchMeasurements]] = {}
        self._references: dict[int, References] = {}
        if isinstance(self.point_source, PointFile):  # a wrong file is refused before any work
            self._disc()

    @property
    def points(self) -> FloatArray:
        """The cloud (n, 2)."""
        return self._disc().points

    @property
    def radius(self) -> float:
        """Distance within which all pairs of points are measured."""
        return self._disc().radius

    def _disc(self) -> _Disc:
        if self._made is None:
            points = np.asarray(self.point_source(), dtype=np.float64)
            if self.anchors > len(points):
                raise ParameterError("anchors", self.anchors, f"at most {len(points)}, all points")
            self._made = _Disc(points, *disc_graph(points, self.degree))
        return self._made

    def network(self, seed: int) -> DistanceNetwork:
        """The distances of this seed, with the truth."""
        return self._drawn(seed)[0]

    def _drawn(self, seed: int) -> tuple[DistanceNetwork, FloatArray]:
        """The distances of this seed, and the standard deviations (m,) of their noise."""
        disc = self._disc()
        for_noise, for_errors, for_anchors = np.random.default_rng(seed).spawn(3)
        measured, deviation = noisy_distances(disc.distance, self.noise, self.eta, for_noise)
        measured, outlier = add_gross_errors(
            measured, self.outliers, self.outlier_bias, disc.radius, for_errors
        )
        n = len(disc.points)
        count = round(self.anchors if self.anchors >= 1 else self.anchors * n)
        anchors = for_anchors.permutation(n)[:count]
        known = self.deviation == "known" and self.eta > 0
        network = DistanceNetwork(
            disc.pairs,
            measured,
            n,
            deviation=deviation if known else None,
            anchors=anchors,
            anchor_positions=disc.points[anchors],
            points=disc.points,
            outlier=outlier,
        )
        return network, deviation

    def measurements(self, seed: int) -> tuple[DistanceNetwork, PatchMeasurements]:
        """The distances of this seed, and the patches made of them."""
        if seed not in self._measured:
            network = self.network(seed)
            self._measured[seed] = network, self.localization.measure(network, seed=seed)
        return self._measured[seed]

    def make_graph(self, seed: int) -> MeasurementGraph:
        """The rotations of the patches of this seed."""
        network, found = self.measurements(seed)
        if network.num_components > 1:
            log.warning(
                "the distances fall into %d components, each of which is placed by itself: raise "
                "degree (data.degree) to join them",
                network.num_components,
            )
        return found.graph

    def describe(self) -> dict[str, Any]:
        """Cloud, radius and parameters."""
        disc = self._disc()
        return {
            "graph": getattr(self.point_source, "name", type(self.point_source).__name__),
            "n": len(disc.points),
            "edges": len(disc.distance),
            "degree": self.degree,
            "radius": disc.radius,
            "noise": self.noise,
            "eta": self.eta,
            "outliers": self.outliers,
            "anchors": self.anchors,
            "deviation": self.deviation,
            "k": 1,
        }

    def reconstruct(self, network: int, solution: Solution) -> LocatedMap:
        """The map that the rotations of a solution give, beside what is possible at all."""
        seed = self.seeds[network]
        distances, found = self.measurements(seed)
        positions = self.localization.assemble(distances, found, solution, seed=seed)
        return LocatedMap(
            distances,
            positions,
            self.references(seed),
            reflections_wrong=found.diagnostics.get("reflections_wrong"),
            title=f"η = {self.eta:g}",
        )

    def references(self, seed: int) -> References:
        """Bound, refinement from the truth and peers on the network of this seed."""
        if seed not in self._references:
            network, deviation = self._drawn(seed)
            refinement = self.localization.refinement
            self._references[seed] = References.of(network, deviation, refinement, self.peers, seed)
        return self._references[seed]


def _bounds(bias: Sequence[float]) -> tuple[float, float]:
    allowed = "two numbers, 0 <= least <= largest"
    if isinstance(bias, str) or not isinstance(bias, Sequence) or len(bias) != 2:
        raise ParameterError("outlier_bias", bias, allowed)
    low, high = (check_real("outlier_bias", value, 0) for value in bias)
    if low > high:
        raise ParameterError("outlier_bias", list(bias), allowed)
    return low, high
