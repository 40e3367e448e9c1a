"""The Cramér-Rao bound of a network of distances: the least error that any estimate can have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import qdldl
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError, check_array, check_real
from gnnsync.linalg.selected_inverse import InverseEntries
from gnnsync.positions import true_points
from gnnsync.rigidity.localizability import Frames, network_frames
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Added to the diagonal of the information, relative to it, so that no pivot is 0.
_SMALLEST_PIVOT = 1e-15
# A pivot below this part of its diagonal entry is rounding: the positions are special, such as
# points on one line, and some movement has no information. Then variances beyond this multiple of
# that from a point's own distances are infinite.
_SINGULAR, _INFINITE = 1e-13, 1e10


@dataclass(frozen=True, eq=False)
class PositionBound:
    """Least covariance of the positions of n points.

    Args:
        covariance: (n, 2, 2) of each point, after the best motion of its component onto the truth
            (over the scored points) or, in a component with three or more anchors, of its absolute
            position; inf on the diagonal and NaN beside it where there is no bound.
        finite: (n,) points with a bound: those that the distances keep rigid with the frame of
            their component, which is its largest globally rigid body or its anchors.
        localizable: (n,) points that the distances determine, not only among nearby positions; see
            `gnnsync.rigidity.localizable_points`.
        scored: (n,) points over which the motion is fitted: the localizable ones with a bound.
    """

    covariance: FloatArray
    finite: BoolArray
    localizable: BoolArray
    scored: BoolArray

    @property
    def deviation(self) -> FloatArray:
        """Least root mean square error (n,) of each point; inf where there is no bound."""
        return np.sqrt(np.trace(self.covariance, axis1=1, axis2=2))

    def rmse(self, points: BoolArray | None = None) -> float:
        """Least root mean square error over some points (n,), by default the scored ones."""
        chosen = self.scored if points is None else points
        error = self.deviation[chosen]
        return float(np.sqrt(np.mean(error**2))) if len(error) else float("nan")

    def __repr__(self) -> str:
        return (
            f"PositionBound(points={len(self.finite)}, finite={int(self.finite.sum())}, "
            f"localizable={int(self.localizable.sum())}, rmse={self.rmse():.4g})"
        )


def multiplicative_deviation(distance: ArrayLike, eta: float) -> FloatArray:
    r"""Standard deviation η d/√3 (m,) of distances d(1 + ηu), u uniform in [-1, 1].

    With it `position_bound` is the bound for normal noise of the same variance. It leaves out two
    things: that the variance tells of the distance as well, which adds 2/d² to the information
    3/(η²d²) of each (2 % at η = .17, 6 % at η = .3), and that uniform noise has sharp
    ends, so that with many distances for each unknown an estimate could do better.
    """
    return check_real("eta", eta, 0) / np.sqrt(3.0) * np.asarray(distance, dtype=np.float64)


def position_bound(
    network: DistanceNetwork,
    points: ArrayLike | None = None,
    deviation: ArrayLike | None = None,
    scored: BoolArray | None = None,
) -> PositionBound:
    r"""Cramér-Rao bound of the positions for independent normal errors of the distances.

    The Fisher information of the 2n coordinates is

    .. math:: F = \sum_{e = ij} \sigma_e^{-2}\, (b_e b_e^T) \otimes (u_e u_e^T),

    with b_e = 1 at i and -1 at j, and u_e the unit vector from j to i. Anchors have no rows in F.
    Without them F has the three motions N (2n, 3) of each component as a kernel, and the bound on
    the error after the best motion onto the truth over the points S is P Z Pᵀ, with Z any inverse
    of F with three coordinates held, and

    .. math:: P = I - N (N_S^T N_S)^{-1} N_S^T,

    for S = all points the pseudo-inverse of F (Ash and Moses, IEEE Trans. Signal Process. 56,
    2008). Only the 2 × 2 blocks of Z are computed, from the sparse factor of F, in memory
    proportional to it.

    Args:
        network: n points, m distances; its anchors are exact.
        points: (n, 2) where the bound is taken; the truth of the network by default.
        deviation: (m,) standard deviation σ of each distance, inf for one without information; that
            of the network by default.
        scored: (n,) points over which motions are fitted, where they have a bound; the localizable
            ones by default.
    """
    place = true_points(network) if points is None else np.asarray(points, dtype=np.float64)
    sigma = network.deviation if deviation is None else np.asarray(deviation, dtype=np.float64)
    if sigma is None:
        raise ParameterError("deviation", None, "given, or a column of the network")
    used = np.isfinite(sigma) & np.isfinite(place[network.pairs]).all(axis=(0, 2))
    check_array("deviation", sigma[used])
    if (sigma[used] <= 0).any():
        raise ParameterError("deviation", float(sigma[used].min()), "positive")
    pairs = network.pairs[:, used]
    frames = network_frames(pairs, network.num_points, network.anchor_index)
    inside = frames.rigid & np.isfinite(place).all(axis=1)
    held = _held_coordinates(place, frames, inside, network.anchor_index)
    inner = inside[pairs].all(axis=0)
    inverse = _Inverse(pairs[:, inner], sigma[used][inner], place, inside[:, None] & ~held)
    loose = np.bincount(frames.component, inverse.is_singular, len(place))[frames.component]
    most = np.bincount(frames.component, inside, len(place))[frames.component] / 2
    # If the held points are among those that can move, all others seem to.
    finite = inside & ~inverse.is_singular & (loose <= most)
    chosen = (frames.localizable if scored is None else np.asarray(scored, dtype=bool)) & finite
    covariance = np.full((network.num_points, 2, 2), np.nan)
    covariance[:, [0, 1], [0, 1]] = np.inf
    covariance[finite] = _aligned(inverse, place, frames, finite, chosen)[finite]
    return PositionBound(covariance, finite, frames.localizable, chosen)


class _Inverse:
    """Z = F⁻¹ on the coordinates that are free (n, 2), 0 on the others.

    `blocks` (n, 2, 2) are those on the diagonal. `is_singular` (n,) marks points that can
    move without any change of the distances, to first order.
    """

    def __init__(
        self, pairs: IntArray, sigma: FloatArray, place: FloatArray, free: BoolArray
    ) -> None:
        n, size = len(place), int(free.sum())
        self._free, number = free, np.full((n, 2), -1)
        number[free] = np.arange(size)
        step = place[pairs[0]] - place[pairs[1]]
        length = np.hypot(step[:, 0], step[:, 1])
        step /= (np.where(length > 0.0, length, np.inf) * sigma)[:, None]
        outer = step[:, :, None] * step[:, None, :]
        own = np.zeros((n, 2, 2))
        for a, b in np.ndindex(2, 2):
            for end in pairs:
                own[:, a, b] += np.bincount(end, outer[:, a, b], n)
        i, j = np.sort(pairs, axis=0)
        every = np.arange(n)
        first, second = np.concatenate([i, every]), np.concatenate([j, every])
        value = np.concatenate([-outer, own])
        row = np.broadcast_to(number[first][:, :, None], value.shape)
        column = np.broadcast_to(number[second][:, None, :], value.shape)
        kept = (row >= 0) & (row <= column)
        diagonal = np.arange(size)
        weight = np.trace(own, axis1=1, axis2=2)
        least = _SMALLEST_PIVOT * np.where(weight > 0.0, weight, weight.max(initial=0.0) or 1.0)
        entries = np.concatenate([value[kept], np.broadcast_to(least[:, None], (n, 2))[free]])
        where = (
            np.concatenate([row[kept], diagonal]),
            np.concatenate([column[kept], diagonal]),
        )
        self.blocks, self._solver = np.zeros((n, 2, 2)), None
        self.is_singular = np.zeros(n, dtype=bool)
        if size:
            # `qdldl` reads the class with the older interface.
            matrix = sp.csc_matrix((entries, where), shape=(size, size))
            self._solver = qdldl.Solver(matrix, upper=True)
            self._fill_blocks(number, own)

    def __matmul__(self, right: FloatArray) -> FloatArray:
        """Z times `right` (n, 2, columns)."""
        found = np.zeros_like(right)
        if self._solver is not None:
            for c in range(right.shape[2]):
                found[:, :, c][self._free] = self._solver.solve(right[:, :, c][self._free])
        return found

    def _fill_blocks(self, number: IntArray, information: FloatArray) -> None:
        assert self._solver is not None
        inverse = InverseEntries(self._solver)
        self.blocks = inverse.at(number[:, :, None], number[:, None, :])
        own = np.trace(information, axis1=1, axis2=2)
        pivots = inverse.pivots[inverse.place]
        if (pivots <= _SINGULAR * np.stack([own, own], axis=1)[self._free]).any():
            self.is_singular = np.trace(self.blocks, axis1=1, axis2=2) * own > _INFINITE


def _held_coordinates(
    place: FloatArray, frames: Frames, inside: BoolArray, anchors: IntArray
) -> BoolArray:
    """Coordinates (n, 2) that are known or held, so that no motion of a component is left.

    Anchors, where there are two of them. Elsewhere one point, and of the point farthest from it the
    coordinate that turns most, both localizable if any are.
    """
    held = np.zeros((len(place), 2), dtype=bool)
    known = anchors[inside[anchors]]
    count = np.bincount(frames.component[known], minlength=len(place))
    held[known[count[frames.component[known]] >= 2]] = True
    loose = np.flatnonzero(inside & (count[frames.component] < 2))
    order = loose[np.argsort(frames.component[loose], kind="stable")]
    cuts = np.flatnonzero(np.diff(frames.component[order])) + 1
    for part in np.split(order, cuts) if len(order) else []:
        sure = part[frames.localizable[part]]
        own = sure if len(sure) >= 2 else part
        step = place[own] - place[own].mean(axis=0)
        first = int(np.argmin(np.hypot(step[:, 0], step[:, 1])))
        step = np.abs(place[own] - place[own[first]])
        far = int(np.argmax(np.hypot(step[:, 0], step[:, 1])))
        held[own[first]] = True
        held[own[far], int(step[far, 0] >= step[far, 1])] = True
    return held


def _aligned(
    inverse: _Inverse, place: FloatArray, frames: Frames, finite: BoolArray, chosen: BoolArray
) -> FloatArray:
    """Diagonal blocks (n, 2, 2) of P Z Pᵀ, or of Z in components that their anchors fix.

    A component without a chosen point is fitted over all its points.
    """
    n, component = len(place), frames.component
    none = np.bincount(component[chosen], minlength=n)[component] == 0
    fitted = np.where(none, finite, chosen) & ~frames.fixed
    count = np.maximum(np.bincount(component[fitted], minlength=n), 1.0)
    centred = np.where(finite[:, None], place, 0.0)
    middle = [np.bincount(component[fitted], centred[fitted, a], n) / count for a in range(2)]
    centred = centred - np.stack(middle, axis=1)[component]
    # The motions: two shifts and a turn, orthogonal over the fitted points of each component.
    motion = np.zeros((n, 2, 3))
    motion[:, 0, 0] = motion[:, 1, 1] = 1.0
    motion[:, 0, 2], motion[:, 1, 2] = -centred[:, 1], centred[:, 0]
    motion[~finite | frames.fixed] = 0.0
    over = np.where(fitted[:, None, None], motion, 0.0)
    size = np.zeros((n, 3))
    np.add.at(size, component, (over**2).sum(axis=1))
    share = motion / np.where(size > 0.0, size, 1.0)[component][:, None, :]
    response = inverse @ over
    middle_block = np.zeros((n, 3, 3))
    np.add.at(middle_block, component, over.transpose(0, 2, 1) @ response)
    cross = share @ response.transpose(0, 2, 1)
    both = share @ middle_block[component] @ share.transpose(0, 2, 1)
    return np.asarray(inverse.blocks - cross - cross.transpose(0, 2, 1) + both)
