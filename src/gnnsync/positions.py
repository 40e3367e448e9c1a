"""Positions: the points estimated from distances, and how near they are to the truth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError, ParameterError
from gnnsync.solution import Solution
from gnnsync.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Half axes of the ellipse that holds 95 % of a normal distribution of the plane, in standard
# deviations: P(x² + y² < r²) = 1 - exp(-r²/2).
ELLIPSE_95 = float(np.sqrt(-2.0 * np.log(0.05)))
# This many anchors fix a component in the plane: it is compared with the truth where it is.
_ANCHORS_THAT_FIX = 3


@dataclass(frozen=True, eq=False)
class Positions:
    """Estimated points of the plane.

    Points of one component are placed relative to each other, up to one rigid motion (with
    reflection) that its anchors, if it has any, determine.

    Args:
        points: (n, 2); NaN for a point without any position.
        covariance: (n, 2, 2) by the Cramér-Rao bound at the estimate; NaN where the point is not
            localizable.
        localizable: (n,) whether the distances determine the point, up to the rigid motion of its
            component.
        component: (n,) connected component.
        edge_confidence: (m,) weight in [0, 1] that the final refinement gives each distance.
        converged: whether the refinement met its stopping criterion.
        iterations: of the refinement.
        stop_reason: why it stopped, in a few words.
        seconds: wall time.
        diagnostics: further numbers and messages by name.
        rotations: the solution for the rotations of the patches; None if there are no patches.
    """

    points: FloatArray
    covariance: FloatArray
    localizable: BoolArray
    component: IntArray
    edge_confidence: FloatArray
    converged: bool = True
    iterations: int = 0
    stop_reason: str = ""
    seconds: float = 0.0
    diagnostics: dict[str, Any] = field(default_factory=dict)
    rotations: Solution | None = field(default=None, repr=False)

    @property
    def num_points(self) -> int:
        """Number n of points."""
        return len(self.points)

    @property
    def located(self) -> BoolArray:
        """Points (n,) that have a position."""
        return np.asarray(np.isfinite(self.points).all(axis=1))

    @property
    def ellipses(self) -> tuple[FloatArray, FloatArray]:
        """Half axes (n, 2) of the 95 % ellipses, the long one first, and its direction (n,).

        The direction is an angle in radians. NaN where the covariance is not finite.
        """
        known = np.asarray(np.isfinite(self.covariance).all(axis=(1, 2)))
        axes, direction = np.full((len(known), 2), np.nan), np.full(len(known), np.nan)
        value, vector = np.linalg.eigh(self.covariance[known])
        axes[known] = ELLIPSE_95 * np.sqrt(np.maximum(value[:, ::-1], 0.0))
        direction[known] = np.arctan2(vector[:, 1, 1], vector[:, 0, 1])
        return axes, direction

    def plot(self, network: DistanceNetwork, *, title: str = "") -> Figure:
        """A Matplotlib figure of the map with 95 % ellipses and the rejected distances.

        Where the network holds the truth, the map is moved onto it.
        """
        # Matplotlib is slow to import, and only this method needs it.
        from gnnsync.plots.positions import positions_figure

        if network.num_points != self.num_points or network.num_edges != len(self.edge_confidence):
            raise ParameterError("network", network, "the network that was located")
        shown = self
        if network.points is not None:
            shown = aligned_positions(self, network, self.localizable)
        return positions_figure(network, shown, title=title)

    def replace(self, **changes: Any) -> Positions:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        return (
            f"Positions(n={self.num_points}, localizable={int(self.localizable.sum())}, "
            f"converged={self.converged}, iterations={self.iterations}, "
            f"seconds={self.seconds:.3g})"
        )


def rigid_motion(
    points: FloatArray, target: FloatArray, weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""The orthogonal matrix Q and shift t that bring points (n, 2) nearest to a target.

    They minimise :math:`\sum_i w_i |Q p_i + t - q_i|^2` over rotations and reflections: Q = U Vᵀ of
    the singular value decomposition of Σ w (q - q̄)(p - p̄)ᵀ (Schönemann 1966).
    """
    own = np.ones(len(points)) if weight is None else weight
    share = own / own.sum()
    middle, goal = share @ points, share @ target
    left, _, right = np.linalg.svd((target - goal).T @ ((points - middle) * share[:, None]))
    turn = left @ right
    return turn, goal - turn @ middle


def aligned_points(
    points: FloatArray,
    network: DistanceNetwork,
    scored: BoolArray | None = None,
) -> FloatArray:
    """Positions (n, 2) after the rigid motion of each component that brings it nearest the truth.

    The motion, with reflection, is fitted over the points that are scored. A component with three
    or more anchors is left where it is.

    Args:
        points: (n, 2), NaN for points without position.
        network: holds the truth `points`, the components and the anchors.
        scored: (n,) points to fit the motion to; those with a position by default.
    """
    truth = true_points(network)
    chosen = _scored(points, scored)
    moved = np.array(points, dtype=np.float64)
    component = network.component
    anchors = np.bincount(component[network.anchor_index], minlength=network.num_components)
    order = np.argsort(component, kind="stable")
    bounds = np.searchsorted(component[order], np.arange(network.num_components + 1))
    for c in np.flatnonzero(anchors < _ANCHORS_THAT_FIX).tolist():
        own = order[bounds[c] : bounds[c + 1]]
        used = own[chosen[own]]
        if len(used):
            turn, shift = rigid_motion(points[used], truth[used])
            moved[own] = points[own] @ turn.T + shift
    return moved


def aligned_positions(
    positions: Positions, network: DistanceNetwork, scored: BoolArray | None = None
) -> Positions:
    """The positions after `aligned_points`, and their covariances turned with them."""
    moved = aligned_points(positions.points, network, scored)
    covariance = positions.covariance.copy()
    for c in range(network.num_components):
        own = np.flatnonzero(positions.located & (network.component == c))
        if len(own) > 1:
            turn, _ = rigid_motion(positions.points[own], moved[own])
            covariance[own] = turn @ covariance[own] @ turn.T
    return positions.replace(points=moved, covariance=covariance)


def position_rmse(
    points: FloatArray, network: DistanceNetwork, scored: BoolArray | None = None
) -> float:
    """Root mean square of |p̂_i - p_i| over the scored points, after `aligned_points`.

    NaN if no scored point has a position.
    """
    error = _errors(points, network, scored)
    return float(np.sqrt(np.mean(error**2))) if len(error) else float("nan")


def position_ane(
    points: FloatArray, network: DistanceNetwork, scored: BoolArray | None = None
) -> float:
    r"""Average normalised error :math:`\|P - \hat P\|_F / \|P - \bar P\|_F` of the scored points.

    After `aligned_points`; NaN if no scored point has a position.
    """
    error = _errors(points, network, scored)
    truth = true_points(network)[_scored(points, scored)]
    size = float(np.linalg.norm(truth - truth.mean(axis=0))) if len(truth) else 0.0
    return float(np.linalg.norm(error) / size) if size > 0.0 else float("nan")


def _errors(points: FloatArray, network: DistanceNetwork, scored: BoolArray | None) -> FloatArray:
    """|p̂_i - p_i| of the scored points that have a position."""
    chosen = _scored(points, scored)
    step = aligned_points(points, network, scored)[chosen] - true_points(network)[chosen]
    return np.asarray(np.hypot(step[:, 0], step[:, 1]))


def _scored(points: FloatArray, scored: BoolArray | None) -> BoolArray:
    """Points (n,) that have a position and are scored."""
    found = np.asarray(np.isfinite(points).all(axis=1))
    return found if scored is None else found & scored


def true_points(network: DistanceNetwork) -> FloatArray:
    """The truth (n, 2) of a network; an error if it does not hold it."""
    if network.points is None:
        raise GraphError("the network holds no true points: give them as `points`")
    return network.points
