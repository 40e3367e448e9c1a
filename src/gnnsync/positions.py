"""Positions: the points estimated from distances, and how near they are to the truth."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError
from gnnsync.solution import Solution
from gnnsync.typing import BoolArray, FloatArray, IntArray

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
