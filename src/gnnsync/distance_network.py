"""DistanceNetwork: measured distances between points of the plane, and points known beforehand."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gnnsync.errors import (
    GraphError,
    check_array,
    check_flags,
    check_integer,
    check_names,
    check_whole_array,
)
from gnnsync.topology import component_labels, distinct, numbered_by_appearance
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Pairs of points are numbered by 64 bits.
_MOST_POINTS = 2**31 - 1
# Numbers beyond this have squares and products that overflow; no map has such coordinates.
_LARGEST_NUMBER = 1e100
# Distances below this fraction of the largest have squares that are lost beside it.
_LEAST_FRACTION = 1e-12


@dataclass(frozen=True, eq=False)
class DistanceNetwork:
    """n points of the plane with unknown positions and m measured distances between them.

    Edge e measures |p_i - p_j| ≈ `distance[e]` for (i, j) = column e of `pairs`. Immutable: the
    arrays are copied and made read-only.

    Args:
        pairs: (2, m) numbers of the points, each unordered pair at most once.
        distance: (m,) positive and finite.
        num_points: number of points n.
        deviation: (m,) standard deviation of each distance, positive; None if unknown.
        anchors: (a,) numbers of the points whose positions are known; none by default.
        anchor_positions: (a, 2) their positions.
        points: (n, 2) true positions, if known.
        outlier: (m,) true gross errors, if known.
        names: n distinct names; the numbers of the points if not given.
    """

    pairs: IntArray
    distance: FloatArray
    num_points: int
    deviation: FloatArray | None = None
    anchors: IntArray | None = None
    anchor_positions: FloatArray | None = None
    points: FloatArray | None = None
    outlier: BoolArray | None = None
    names: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        n = check_integer("num_points", self.num_points, 1, _MOST_POINTS)
        object.__setattr__(self, "num_points", n)
        if self.names is not None:
            names = check_names(self.names)
            if len(names) != n:
                raise GraphError(f"names has {len(names)} entries: must have {n}")
            object.__setattr__(self, "names", names)
        self._set("pairs", check_whole_array("pairs", self.pairs))
        if self.pairs.ndim != 2 or len(self.pairs) != 2:
            raise GraphError(f"pairs has shape {self.pairs.shape}: must be (2, m)")
        m = self.num_edges
        self._check_pairs()
        self._set("distance", check_array("distance", self.distance, (m,)))
        self._check_positive("distance", self.distance, _SAME_PLACE)
        self._check_range()
        if self.deviation is not None:
            self._set("deviation", check_array("deviation", self.deviation, (m,)))
            self._check_positive("deviation", self.deviation, "leave the column out if unknown")
        self._check_anchors()
        if self.points is not None:
            self._set("points", check_array("points", self.points, (n, 2)))
            self._check_size("points", self.points)
        if self.outlier is not None:
            self._set("outlier", check_flags("outlier", self.outlier, m))

    def _set(self, name: str, value: NDArray[Any]) -> None:
        object.__setattr__(self, name, _read_only(np.array(value, order="C")))

    def _check_pairs(self) -> None:
        pairs, n = self.pairs, self.num_points
        outside = ((pairs < 0) | (pairs >= n)).any(axis=0)
        if outside.any():
            e = int(np.argmax(outside))
            ends = tuple(pairs[:, e].tolist())
            raise GraphError(f"pair {e} is {ends}: numbers of points must be in 0..{n - 1}")
        same = pairs[0] == pairs[1]
        if same.any():
            e = int(np.argmax(same))
            raise GraphError(
                f"pair {e} joins point {self.name(int(pairs[0, e]))!r} to itself: remove it"
            )
        key = pairs.min(axis=0) * n + pairs.max(axis=0)
        if len(distinct(key)) < len(key):
            order = np.argsort(key, kind="stable")
            e = int(order[1:][np.diff(key[order]) == 0].min())
            raise GraphError(
                f"pair {e} ({self._ends(e)}) is given twice: merge its distances, for example to "
                "their mean"
            )

    def _check_positive(self, field: str, value: FloatArray, remedy: str) -> None:
        if (value <= 0).any():
            e = int(np.argmax(value <= 0))
            raise GraphError(
                f"{field}[{e}] ({self._ends(e)}) is {value[e]:g}: must be positive; {remedy}"
            )

    def _check_range(self) -> None:
        self._check_size("distance", self.distance)
        least = _LEAST_FRACTION * self.distance.max(initial=0.0)
        if (self.distance < least).any():
            e = int(np.argmin(self.distance))
            raise GraphError(
                f"distance[{e}] ({self._ends(e)}) is {self.distance[e]:g}, nothing beside the "
                f"largest, {self.distance.max():g}; {_SAME_PLACE}"
            )

    def _check_size(self, field: str, value: FloatArray) -> None:
        huge = np.abs(value) > _LARGEST_NUMBER
        if huge.any():
            place = tuple(np.argwhere(huge)[0].tolist())
            raise GraphError(
                f"{field}[{', '.join(map(str, place))}] is {value[place]:g}: must be at most "
                f"{_LARGEST_NUMBER:g} in size"
            )

    def _check_anchors(self) -> None:
        if (self.anchors is None) != (self.anchor_positions is None):
            raise GraphError("anchors and anchor_positions must be given together")
        given = np.zeros(0, np.int64) if self.anchors is None else self.anchors
        where = np.zeros((0, 2)) if self.anchor_positions is None else self.anchor_positions
        self._set("anchors", check_whole_array("anchors", given))
        anchors, n = self.anchors, self.num_points
        assert anchors is not None
        if anchors.ndim != 1:
            raise GraphError(f"anchors has shape {anchors.shape}: must be (a,)")
        outside = (anchors < 0) | (anchors >= n)
        if outside.any():
            a = int(np.argmax(outside))
            raise GraphError(f"anchors[{a}] is {anchors[a]}: must be in 0..{n - 1}")
        if len(distinct(anchors)) < len(anchors):
            order = np.argsort(anchors, kind="stable")
            twice = int(anchors[order][1:][np.diff(anchors[order]) == 0][0])
            raise GraphError(f"anchors has point {self.name(twice)!r} twice: give it once")
        place = check_array("anchor_positions", where, (len(anchors), 2))
        self._check_size("anchor_positions", place)
        self._set("anchor_positions", place)
        _, first = np.unique(place, axis=0, return_index=True)
        if len(first) < len(place):
            again = int(np.setdiff1d(np.arange(len(place)), first)[0])
            other = int(np.flatnonzero((place == place[again]).all(axis=1))[0])
            raise GraphError(
                f"anchors {self.name(int(anchors[other]))!r} and "
                f"{self.name(int(anchors[again]))!r} are at one place: correct one of them"
            )

    # --- derived quantities ------------------------------------------------------------------

    @property
    def num_edges(self) -> int:
        """Number m of distances."""
        return self.pairs.shape[1]

    @property
    def num_anchors(self) -> int:
        """Number a of anchors."""
        return len(self.anchor_index)

    @property
    def anchor_index(self) -> IntArray:
        """Numbers (a,) of the anchors: `anchors`, which is never None after construction."""
        assert self.anchors is not None
        return self.anchors

    @property
    def anchor_place(self) -> FloatArray:
        """Positions (a, 2) of the anchors: `anchor_positions`, never None after construction."""
        assert self.anchor_positions is not None
        return self.anchor_positions

    @property
    def point_names(self) -> Sequence[Hashable]:
        """Names of the n points: `names`, or the numbers of the points if there are none."""
        return self.names or range(self.num_points)

    def name(self, i: int) -> Hashable:
        """Name of point i."""
        return self.point_names[i]

    def _ends(self, e: int) -> str:
        i, j = self.pairs[:, e].tolist()
        return f"{self.name(i)} - {self.name(j)}"

    @cached_property
    def component(self) -> IntArray:
        """Connected component (n,) of each point, numbered by first appearance."""
        labels = component_labels(self.pairs, self.num_points)
        return _read_only(numbered_by_appearance(labels))

    @property
    def num_components(self) -> int:
        """Number of connected components, points without distances included."""
        return int(self.component.max()) + 1

    @cached_property
    def degree(self) -> IntArray:
        """Number (n,) of distances at each point."""
        return _read_only(np.bincount(self.pairs.ravel(), minlength=self.num_points))

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """Symmetric (n, n) matrix of the distances; sorted indices."""
        i, j = self.pairs
        value = np.concatenate([self.distance, self.distance])
        index = (np.concatenate([i, j]), np.concatenate([j, i]))
        matrix = sp.coo_array((value, index), shape=(self.num_points,) * 2).tocsr()
        matrix.sort_indices()
        return matrix

    # --- copies ------------------------------------------------------------------------------

    def keep_edges(self, kept: IntArray | BoolArray) -> DistanceNetwork:
        """The network on all its points with these distances only, by number or by mask."""
        return replace(
            self,
            pairs=self.pairs[:, kept],
            distance=self.distance[kept],
            deviation=None if self.deviation is None else self.deviation[kept],
            outlier=None if self.outlier is None else self.outlier[kept],
        )

    def subnetwork(self, chosen: IntArray) -> tuple[DistanceNetwork, IntArray]:
        """The network on these points, numbered in that order, and the numbers of its distances."""
        number = np.full(self.num_points, -1)
        number[chosen] = np.arange(len(chosen))
        index = number[self.pairs]
        kept = np.flatnonzero((index >= 0).all(axis=0))
        here = number[self.anchor_index]
        part = DistanceNetwork(
            pairs=index[:, kept],
            distance=self.distance[kept],
            num_points=len(chosen),
            deviation=None if self.deviation is None else self.deviation[kept],
            anchors=here[here >= 0],
            anchor_positions=self.anchor_place[here >= 0],
            points=None if self.points is None else self.points[chosen],
            outlier=None if self.outlier is None else self.outlier[kept],
            names=tuple(self.name(int(i)) for i in chosen),
        )
        return part, kept

    def residual(self, points: ArrayLike) -> FloatArray:
        """|p_i - p_j| - distance (m,) of positions (n, 2); NaN where a point has none."""
        place = np.asarray(points, dtype=np.float64)
        step = place[self.pairs[0]] - place[self.pairs[1]]
        return np.asarray(np.hypot(step[:, 0], step[:, 1]) - self.distance)

    def replace(self, **changes: Any) -> DistanceNetwork:
        """A copy with some fields changed, validated again."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        return (
            f"DistanceNetwork(num_points={self.num_points}, num_edges={self.num_edges}, "
            f"anchors={self.num_anchors})"
        )


_SAME_PLACE = "two points at one place are one point, merge them"


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
