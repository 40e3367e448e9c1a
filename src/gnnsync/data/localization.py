"""Sensor network localization: recover a map from noisy, rotated patches of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnnsync.data.base import Networks
from gnnsync.data.known_patches import PatchFit, fit_patches
from gnnsync.data.lazy import lightning_names
from gnnsync.data.maps import Map, PatchPair
from gnnsync.data.patch_limits import PatchLimit, patch_limit
from gnnsync.data.patches import (
    Patches,
    add_noise,
    align_arithmetic,
    align_circular,
    nearest_neighbour_patches,
)
from gnnsync.data.points import PointFile, PointSource
from gnnsync.data.priors import Prior
from gnnsync.data.procrustes import WEIGHTS, measure_offsets
from gnnsync.errors import check_bool, check_choice, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.metrics import angular_mse, average_normalized_error
from gnnsync.positions import rigid_motion
from gnnsync.solution import Solution
from gnnsync.typing import FloatArray, IntArray

log = logging.getLogger(__name__)

__getattr__ = lightning_names(__name__, "LocalizationDataModule")

ORIENTATIONS = ("random", "upper")
# The figure of two patches shows common and own points alike at these fractions of overlap; most
# maps have such a pair among their first edges.
_OVERLAP_SHOWN, _PAIRS_LOOKED_AT = (0.3, 0.6), 10_000


class PatchNetworks(Networks):
    """Offsets between overlapping patches: each point with its nearest neighbours is a patch.

    The paper's construction: patches of `neighbours` points (the centre is one of them), normal
    noise of η times the standard deviation of the x and of the y coordinates anew in every patch,
    a rotation about the origin by an angle from the prior, and for every two patches with at
    least `min_overlap` common points the rotation that Procrustes alignment finds.

    One network seed feeds independent streams for the angles, the noise and the orientation, so
    that networks of one seed at different η share their angles and the shape of their noise.

    Args:
        points: gives the cloud (n, 2); see `gnnsync.data.points`.
        angles: prior of the true angles; see `gnnsync.data.priors`.
        eta: noise level η.
        neighbours: number of points in a patch, its centre included.
        min_overlap: least number of common points for an edge.
        weights: `none`, `overlap` or `precision`; see `measure_offsets`.
        centre: move the centre of mass of the cloud to the origin, about which patches turn.
        orientation: `random` stores each offset either way with equal chance, `upper` always from
            the patch of the lower number, as the paper does.
        seeds: one network per seed.
        path: a file of points in place of `points`, see `gnnsync.data.points.PointFile`.
        array: name of the array in a `.mat` file.
        known_patches: whether `reconstruct` also fits the patches themselves from the angles of a
            solution, see `fit`: some seconds per solution, columns `mse_known_patches`,
            `ane_known_patches` and the bound `mse_known_patches_limit`.
    """

    def __init__(
        self,
        points: PointSource,
        angles: Prior,
        eta: float = 0.0,
        neighbours: int = 50,
        min_overlap: int = 6,
        weights: str = "none",
        centre: bool = True,
        orientation: str = "random",
        seeds: Sequence[int] = (10, 20, 30, 40, 50),
        path: str | None = None,
        array: str | None = None,
        known_patches: bool = False,
    ) -> None:
        super().__init__(k=1, seeds=seeds)
        self.point_source = points if path is None else PointFile(path, array)
        self.angles = angles
        self.eta = check_real("eta", eta, 0)
        self.neighbours = check_integer("neighbours", neighbours, 3)
        self.min_overlap = check_integer("min_overlap", min_overlap, 2)
        self.weights = check_choice("weights", weights, WEIGHTS)
        self.centre = check_bool("centre", centre)
        self.orientation = check_choice("orientation", orientation, ORIENTATIONS)
        self.known_patches = check_bool("known_patches", known_patches)
        self._points: FloatArray | None = None
        self._limit: PatchLimit | None = None
        self._exact: Patches | None = None
        if isinstance(self.point_source, PointFile):  # a wrong file is refused before any work
            self._points = self._placed(self.point_source())

    @classmethod
    def from_file(
        cls, path: str, angles: Prior, array: str | None = None, **options: Any
    ) -> PatchNetworks:
        """The same on points from a file; see `gnnsync.data.points.PointFile`."""
        return cls(PointFile(path, array), angles, **options)

    @property
    def points(self) -> FloatArray:
        """The cloud (n, 2), with its centre of mass at the origin if `centre`."""
        if self._points is None:
            self._points = self._placed(self.point_source())
        return self._points

    def _placed(self, points: FloatArray) -> FloatArray:
        points = np.asarray(points, dtype=np.float64)
        return points - points.mean(axis=0) if self.centre else points

    @property
    def exact_patches(self) -> Patches:
        """The patches before noise and rotation."""
        if self._exact is None:
            self._exact = nearest_neighbour_patches(self.points, self.neighbours)
        return self._exact

    def patches(self, seed: int) -> tuple[Patches, Patches, FloatArray]:
        """Noisy patches, the same rotated, and the angles (n,) of the network of this seed."""
        for_angles, for_noise, _ = np.random.default_rng(seed).spawn(3)
        angles = self.angles(len(self.points), 1, for_angles)[:, 0]
        noisy = add_noise(self.exact_patches, self.points, self.eta, for_noise)
        return noisy, noisy.rotated(angles), angles

    def make_graph(self, seed: int) -> MeasurementGraph:
        """Offsets between the overlapping patches of this seed."""
        _, rotated, angles = self.patches(seed)
        graph = measure_offsets(rotated, self.min_overlap, self.weights)
        if not graph.is_connected:
            log.warning(
                "the patches fall into %d components: raise neighbours (data.neighbours) or lower "
                "min_overlap (data.min_overlap) to join them",
                graph.num_components,
            )
        index, offset = graph.edge_index, graph.offset
        if self.orientation == "random":
            rng = np.random.default_rng(seed).spawn(3)[2]
            reverse = rng.random(graph.num_edges) < 0.5
            index = np.where(reverse, index[::-1], index)
            offset = np.where(reverse, -offset, offset)
        return MeasurementGraph(
            index, offset, graph.num_nodes, weight=graph.weight, angles=angles[:, None]
        )

    def describe(self) -> dict[str, Any]:
        """Cloud, prior and parameters."""
        return {
            "graph": getattr(self.point_source, "name", type(self.point_source).__name__),
            "angles": type(self.angles).__name__,
            "n": len(self.points),
            "eta": self.eta,
            "k": 1,
            "neighbours": self.neighbours,
            "min_overlap": self.min_overlap,
            "weights": self.weights,
            "centre": self.centre,
            "orientation": self.orientation,
        }

    def recover(self, network: int, solution: Solution, *, circular: bool = True) -> FloatArray:
        """The map (n, 2): patches turned back by the estimated angles, averaged per point.

        The estimate is first shifted to the truth by the circular mean of the differences, or, as
        the paper does, by their arithmetic mean.
        """
        _, rotated, truth = self.patches(self.seeds[network])
        align = align_circular if circular else align_arithmetic
        return rotated.stitch(align(solution.angles[:, 0], truth))

    def fit(self, network: int, solution: Solution, **options: Any) -> PatchFit:
        """Angles and points that fit the patches themselves best, from the angles of a solution.

        Patches are taken as turned and shifted, as for the offsets, though their shift is 0:
        nothing rests on the point about which they turn. `options` are those of `fit_patches`.
        """
        _, rotated, _ = self.patches(self.seeds[network])
        return fit_patches(rotated, solution.angles[:, 0], **options)

    @property
    def limit(self) -> PatchLimit:
        """Least errors of angles and points if the patches are known; see `patch_limit`."""
        if self._limit is None:
            self._limit = patch_limit(self.exact_patches, self.eta * self.points.std(axis=0))
        return self._limit

    def _known_patches(self, network: int, solution: Solution) -> dict[str, float]:
        """Errors of `fit` and their bound."""
        found = self.fit(network, solution)
        truth = self.graphs[network].angles
        assert truth is not None
        turn, shift = rigid_motion(found.points, self.points)
        errors = {
            "mse_known_patches": angular_mse(found.angles[:, None], truth),
            "ane_known_patches": average_normalized_error(
                found.points @ turn.T + shift, self.points
            ),
        }
        if self.eta > 0:
            errors["mse_known_patches_limit"] = self.limit.mse
        return errors

    def reconstruct(self, network: int, solution: Solution) -> Map:
        """The recovered map, and two example patches at each stage."""
        noisy, rotated, truth = self.patches(self.seeds[network])
        angles = solution.angles[:, 0]
        aligned = align_circular(angles, truth)
        pair = _example_pair(self.graphs[network], self.exact_patches)
        return Map(
            self.points,
            rotated.stitch(aligned),
            rotated.stitch(align_arithmetic(angles, truth)),
            PatchPair(
                self.exact_patches.member[pair],
                noisy.position[pair],
                rotated.position[pair],
                rotated.rotated(-aligned).position[pair],
            ),
            title=f"η = {self.eta:g}",
            further=self._known_patches(network, solution) if self.known_patches else {},
        )


def _example_pair(graph: MeasurementGraph, patches: Patches) -> IntArray:
    """Two patches that overlap by about half: the first such edge, else the first edge."""
    for pair in graph.edge_index.T[:_PAIRS_LOOKED_AT]:
        common = len(np.intersect1d(patches.member[pair[0]], patches.member[pair[1]]))
        if _OVERLAP_SHOWN[0] <= common / patches.size <= _OVERLAP_SHOWN[1]:
            return pair
    return graph.edge_index[:, 0] if graph.num_edges else np.array([0, 1])
