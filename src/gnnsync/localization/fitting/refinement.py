"""The last step: positions fitted to all distances, with gross errors left out."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import check_array, check_integer, check_real
from gnnsync.localization.fitting.fit import Fit, fit_points, lengths
from gnnsync.localization.fitting.frames import anchored, held_anchors
from gnnsync.position_limits import position_bound
from gnnsync.positions import Positions
from gnnsync.typing import FloatArray
from gnnsync.work import iteration_limit

# A distance of less confidence says nothing about whether its points are localizable.
_LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class RobustRefinement:
    """Maximum likelihood with a class of gross errors, by sparse Newton steps.

    The noise is a mixture of normal errors, whose deviation is stated, constant or proportional to
    the distance, and gross errors of either sign, see `DistanceNoise`; all its parameters are
    estimated with the positions. Anchors of a component with at least three of them are held;
    elsewhere the component is moved onto its anchors at the end.

    Args:
        iterations: most Newton steps.
        tolerance: it has converged when no coordinate changes by more, relative to the median
            distance.
    """

    iterations: int = 300
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        check_integer("iterations", self.iterations, 0)
        check_real("tolerance", self.tolerance, 0, open_low=True)

    def __call__(self, network: DistanceNetwork, points: FloatArray, *, seed: int = 0) -> Positions:
        """Positions near `points` (n, 2) with covariances; NaN marks points without start."""
        start = time.perf_counter()
        fit = self.fit(network, points)
        return located(network, fit, time.perf_counter() - start)

    def fit(self, network: DistanceNetwork, points: FloatArray) -> Fit:
        """The positions alone, in the frame of the anchors."""
        place = np.asarray(points, dtype=np.float64)
        check_array("points", place[np.isfinite(place).all(axis=1)])
        place = anchored(network, place)
        held = held_anchors(network)
        return fit_points(network, place, held, self.iterations, self.tolerance, shaped=True)


def located(network: DistanceNetwork, fit: Fit, seconds: float) -> Positions:
    """What a fit says of the points: positions, covariances, and which are localizable."""
    place = anchored(network, fit.points)
    deviation = np.full(network.num_edges, np.inf)
    good = fit.used & (fit.confidence >= _LEAST_CONFIDENCE)
    diagnostics: dict[str, object] = {}
    if fit.noise is not None:
        length = lengths(place, network)[fit.used]
        deviation[fit.used] = fit.noise.sigma * fit.noise.scale(length)
        diagnostics = {
            "sigma": fit.noise.sigma,
            "noise_power": fit.noise.power if network.deviation is None else None,
            "gross_errors": float((1.0 - fit.confidence[fit.used]).mean()),
            "log_likelihood": fit.log_likelihood(network),
        }
    deviation[~good] = np.inf
    bound = position_bound(network, place, deviation)
    placed = np.isfinite(place).all(axis=1)
    covariance = np.where(bound.finite[:, None, None], bound.covariance, np.nan)
    stopped = "small step" if fit.converged else iteration_limit(fit.iterations)
    return Positions(
        points=place,
        covariance=covariance,
        localizable=bound.localizable & placed,
        component=network.component,
        edge_confidence=fit.confidence,
        converged=fit.converged,
        iterations=fit.iterations,
        stop_reason=stopped,
        seconds=seconds,
        diagnostics=diagnostics,
    )
