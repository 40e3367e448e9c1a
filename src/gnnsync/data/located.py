"""A map that was located from distances, beside what is possible on the same distances."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.position_limits import position_bound
from gnnsync.positions import ELLIPSE_95, Positions, aligned_positions, position_ane, position_rmse
from gnnsync.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnnsync.localization.base import Refinement

Peer = Callable[..., Positions]
"""Locates a network: peer(network, seed=...)."""


@dataclass(frozen=True, eq=False)
class References:
    """What is possible on a network whose truth is known, and what others reach.

    Args:
        scored: (n,) points that the distances without gross errors determine; the errors named
            `localizable` are those of these points.
        columns: figures by the name of their column.
    """

    scored: BoolArray
    columns: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        network: DistanceNetwork,
        deviation: FloatArray,
        refinement: Refinement,
        peers: Mapping[str, Peer],
        seed: int,
    ) -> References:
        """Cramér-Rao bound, the refinement started from the truth, and the peers.

        - `rmse_limit`: bound by normal noise of the same variance, without gross errors.
        - `rmse_from_truth`: the refinement from the true points, which does not know the gross
          errors; `rmse_from_truth_clean`: the same without them, if there are any.
        - `rmse_PEER` and `seconds_PEER` for each peer.

        Args:
            network: holds the truth.
            deviation: (m,) true standard deviations of the noise.
            refinement: the last step of the pipeline.
            peers: other methods by name.
            seed: of the refinement and the peers.
        """
        assert network.points is not None
        outlier = np.zeros(network.num_edges, bool) if network.outlier is None else network.outlier
        clean = network.keep_edges(~outlier)
        # Without noise the bound is 0; the deviation serves to find the points that have one.
        exact = not deviation.any()
        spread = np.ones(clean.num_edges) if exact else deviation[~outlier]
        bound = position_bound(clean, network.points, spread)
        scored = bound.scored
        columns = {"rmse_limit": 0.0 if exact else bound.rmse()}
        starts = {"rmse_from_truth": network}
        if outlier.any():
            starts["rmse_from_truth_clean"] = clean
        for name, used in starts.items():
            best = refinement(used, network.points, seed=seed)
            columns[name] = position_rmse(best.points, network, scored)
        for name, peer in peers.items():
            start = time.perf_counter()
            found = peer(network, seed=seed)
            columns[f"seconds_{name}"] = time.perf_counter() - start
            columns[f"rmse_{name}"] = position_rmse(found.points, network, scored)
        return cls(scored, columns)


@dataclass(frozen=True, eq=False)
class LocatedMap:
    """Positions that a solution of the rotations gives, and the truth.

    Args:
        network: the distances, with the truth.
        positions: what was located.
        references: what is possible on these distances.
        reflections_wrong: number of patches with a wrong reflection, if known.
        title: of the figures.
    """

    network: DistanceNetwork
    positions: Positions
    references: References
    reflections_wrong: int | None = None
    title: str = ""

    def columns(self) -> dict[str, Any]:
        """Errors of the map, and those that are possible."""
        points, network, scored = self.positions.points, self.network, self.references.scored
        return {
            "rmse": position_rmse(points, network),
            "ane": position_ane(points, network),
            "rmse_localizable": position_rmse(points, network, scored),
            "ane_localizable": position_ane(points, network, scored),
            "localizable": float(scored.mean()),
            "localizable_found": float(self.positions.localizable.mean()),
            "reflections_wrong": self.reflections_wrong,
            "ellipses_held": self.ellipses_held,
            "seconds_map": self.positions.seconds,
            **self.references.columns,
        }

    @property
    def aligned(self) -> Positions:
        """The positions where they are nearest to the truth."""
        return aligned_positions(self.positions, self.network, self.references.scored)

    @property
    def ellipses_held(self) -> float:
        """Share of the points with a 95 % ellipse whose true position is inside it."""
        assert self.network.points is not None
        found = self.aligned
        variance = found.covariance
        known = np.isfinite(variance).all(axis=(1, 2)) & found.located
        known &= np.linalg.det(np.where(known[:, None, None], variance, 0.0)) > 0.0
        if not known.any():
            return float("nan")
        error = (found.points - self.network.points)[known]
        solved = np.linalg.solve(variance[known], error[:, :, None])[:, :, 0]
        return float(((error * solved).sum(axis=1) <= ELLIPSE_95**2).mean())

    def arrays(self) -> dict[str, Any]:
        """True and located points, covariances, and which points are localizable."""
        return {
            "points": self.network.points,
            "recovered": self.aligned.points,
            "covariance": self.aligned.covariance,
            "localizable": self.positions.localizable,
        }

    def figures(self) -> dict[str, Figure]:
        """The map with its error ellipses, and the error of each point beside its bound."""
        # Matplotlib takes half a second to load, and only figures need it.
        from gnnsync.plots.positions import error_figure, positions_figure

        return {
            "map": positions_figure(self.network, self.aligned, title=self.title),
            "error": error_figure(self.network, self.aligned),
        }
