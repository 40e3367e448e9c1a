"""PoseGraph: measured relative poses in the plane, and the poses estimated from them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gnnsync.angles import circular_distance, wrap
from gnnsync.errors import GraphError, check_array
from gnnsync.graph import MeasurementGraph
from gnnsync.solution import Solution
from gnnsync.typing import BoolArray, FloatArray, IntArray
from gnnsync.units import RADIANS, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Relative size of a negative eigenvalue, or of an asymmetry, that is rounding of a file's digits.
_ROUNDING = 1e-6
# A stated heading may differ from the offset of the graph by this much, in radians: rounding.
_SAME_ANGLE = 1e-9
# Numbers beyond this have squares and products that overflow; no map has such coordinates.
_LARGEST_NUMBER = 1e100
# Whole numbers below this, and their differences, fit in 64 bits.
_LARGEST_NAME = 2**62


@dataclass(frozen=True, eq=False)
class PoseGraph:
    """n poses (x, y, θ) and m measured relative poses.

    Edge e joins i = `rotations.dst[e]` to j = `rotations.src[e]` and measures pose j in the frame
    of pose i: R(θ_i)ᵀ (p_j - p_i) ≈ `translation[e]` and θ_j - θ_i ≈ `heading[e]`. Immutable.

    Args:
        rotations: the measured headings as a graph of offsets: src = j, dst = i, offset = dθ; its
            `trusted` edges are the odometry.
        translation: (m, 2) position of j seen from i.
        information: (m, 3, 3) inverse covariance of (dx, dy, dθ), symmetric positive semidefinite.
        heading: (m,) dθ as a file states it, not reduced to [0, 2π); from the offsets by default.
        initial: (n, 3) initial guess of the poses; NaN for a pose that has none.
        fixed: names of the poses that are held fixed; only the first in a connected component
            is, others there move with the measurements (`solve_poses` warns of them).
    """

    rotations: MeasurementGraph
    translation: FloatArray
    information: FloatArray
    heading: FloatArray | None = None
    initial: FloatArray | None = None
    fixed: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        n, m = self.num_poses, self.num_edges
        self._set("translation", check_array("translation", self.translation, (m, 2)))
        self._set("information", check_array("information", self.information, (m, 3, 3)))
        _check_size("translation", self.translation)
        _check_size("information", self.information)
        wrong = indefinite(self.information)
        if wrong is not None:
            raise GraphError(f"information[{wrong}] is not symmetric positive semidefinite")
        offset = self.rotations.offset
        heading = wrap(offset) if self.heading is None else self.heading
        self._set("heading", check_array("heading", heading, (m,)))
        _check_size("heading", self.measured_heading)
        differs = circular_distance(self.measured_heading, offset) > _SAME_ANGLE
        if differs.any():
            e = int(np.argmax(differs))
            raise GraphError(
                f"heading[{e}] is {self.measured_heading[e]:g} and offset[{e}] of the rotations "
                f"{offset[e]:g}: must agree mod 2π"
            )
        if self.initial is not None:
            initial = np.asarray(self.initial, dtype=np.float64)
            absent = np.isnan(initial)
            _check_size("initial", check_array("initial", np.where(absent, 0.0, initial), (n, 3)))
            if (absent.any(axis=1) != absent.all(axis=1)).any():
                raise GraphError("initial is NaN in a part of a row: must be whole or all NaN")
            self._set("initial", initial)
        known = set(self.rotations.names)
        for name in self.fixed:
            if name not in known:
                raise GraphError(f"fixed has {name!r}: must be the name of a pose")

    def _set(self, name: str, value: FloatArray) -> None:
        copy = np.array(value, order="C")
        copy.flags.writeable = False
        object.__setattr__(self, name, copy)

    @property
    def num_poses(self) -> int:
        """Number n of poses."""
        return self.rotations.num_nodes

    @property
    def num_edges(self) -> int:
        """Number m of measurements."""
        return self.rotations.num_edges

    @property
    def measured_heading(self) -> FloatArray:
        """Measured θ_j - θ_i (m,) in radians."""
        assert self.heading is not None
        return self.heading

    @property
    def closures(self) -> BoolArray:
        """Edges (m,) that are not trusted: loop closures, and odometry that is not trusted."""
        return ~self.rotations.edge_trusted

    def error(self, poses: FloatArray) -> FloatArray:
        """Predicted less measured relative pose (m, 3), in the frame of the measured pose j.

        (R(a)ᵀ (R(θ_i)ᵀ (p_j - p_i) - t), θ_j - θ_i - a) for a measurement (t, a): what the program
        g2o takes as the residual.

        Args:
            poses: (n, 3).
        """
        i, j = self.rotations.dst, self.rotations.src
        step = rotate(-poses[i, 2], poses[j, :2] - poses[i, :2]) - self.translation
        angle = wrap(poses[j, 2] - poses[i, 2] - self.measured_heading)
        return np.column_stack([rotate(-self.measured_heading, step), angle])

    def keep_edges(self, kept: IntArray | BoolArray) -> PoseGraph:
        """The graph on all its poses with these edges only, by number or by mask."""
        return replace(
            self,
            rotations=self.rotations.keep_edges(kept),
            translation=self.translation[kept],
            information=self.information[kept],
            heading=self.measured_heading[kept],
        )

    def add_edges(
        self,
        start: IntArray,
        end: IntArray,
        measured: ArrayLike,
        information: ArrayLike,
    ) -> PoseGraph:
        """The graph with further measurements at the end, none of them trusted.

        Args:
            start: (a,) numbers of the poses i.
            end: (a,) numbers of the poses j.
            measured: (a, 3) pose (dx, dy, dθ) of j seen from i.
            information: (a, 3, 3).
        """
        a = len(start)
        pose = check_array("measured", measured, (a, 3))
        more = check_array("information", information, (a, 3, 3))
        old = self.rotations
        changes: dict[str, Any] = {
            "edge_index": np.concatenate([old.edge_index, np.stack([end, start])], axis=1),
            "offset": np.concatenate([old.offset, pose[:, 2]]),
        }
        if old.weight is not None:
            changes["weight"] = np.concatenate([old.weight, more[:, 2, 2]])
        if old.trusted is not None:
            changes["trusted"] = np.concatenate([old.trusted, np.zeros(a, bool)])
        return replace(
            self,
            rotations=old.replace(**changes),
            translation=np.concatenate([self.translation, pose[:, :2]]),
            information=np.concatenate([self.information, more]),
            heading=np.concatenate([self.measured_heading, pose[:, 2]]),
        )

    def replace(self, **changes: Any) -> PoseGraph:
        """A copy with some fields changed, validated again."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        trusted = int(self.rotations.edge_trusted.sum())
        return f"PoseGraph(poses={self.num_poses}, edges={self.num_edges}, trusted={trusted})"


@dataclass(frozen=True, eq=False)
class PoseSolution:
    """Estimated poses, and which measurements they rest on.

    Poses are comparable within a connected component only; the first pose of a component keeps
    its initial place (the origin if it has none).

    Args:
        poses: (n, 3) x, y, θ with θ in [-π, π).
        headings: the solution for the headings alone, from which the poses were computed.
        edge_confidence: (m,) probability that each measurement is an inlier; of one that no other
            checks (it is on no cycle of accepted ones), the probability before any is seen: .999
            if it is trusted, else the share of inliers; NaN if it is on no cycle at all and not
            trusted.
        accepted: (m,) measurements with a confidence of at least 1/2, and those of less without
            which the graph would fall apart; the others have no influence on the poses.
        cost: ½ Σ rᵀ Ω r over the accepted measurements, with the stated information Ω.
        information_scale: factors by which the stated information of odometry and of closures
            has to be multiplied to agree with the residuals.
        converged: whether the accepted measurements came to rest, and the last optimisation met
            its tolerance.
        iterations: steps of Gauss–Newton in total.
        stop_reason: why the solver stopped, in a few words.
        seconds: wall time.
    """

    poses: FloatArray
    headings: Solution
    edge_confidence: FloatArray
    accepted: BoolArray
    cost: float
    information_scale: tuple[float, float] = (1.0, 1.0)
    converged: bool = True
    iterations: int = 0
    stop_reason: str = ""
    seconds: float = 0.0

    def plot(self, graph: PoseGraph) -> Figure:
        """A Matplotlib figure of the trajectory with accepted and rejected closures."""
        # Matplotlib is slow to import, and only this method needs it.
        from gnnsync.plots.trajectory import trajectory_figure

        return trajectory_figure(self, graph)

    def html(
        self,
        graph: PoseGraph,
        *,
        title: str = "Poses",
        summary: str | None = None,
        command: str = "",
        unit: Unit = RADIANS,
    ) -> str:
        """One self-contained HTML page: summary, map, sortable tables of poses and edges.

        Args:
            graph: the measurements.
            title: heading of the page.
            summary: text of several lines; by default the figures of `summarize_poses`.
            command: what made the page.
            unit: of the headings.
        """
        # As in `plot`.
        from gnnsync.plots.pose_page import pose_page

        if summary is None:
            figures = summarize_poses(graph, self)
            summary = "\n".join(f"{name:<18} {value}" for name, value in figures.items())
        return pose_page(self, graph, summary, title=title, command=command, unit=unit)

    def __repr__(self) -> str:
        rejected = int((~self.accepted).sum())
        return (
            f"PoseSolution(poses={len(self.poses)}, cost={self.cost:.6g}, rejected={rejected}, "
            f"converged={self.converged}, seconds={self.seconds:.3g})"
        )


def summarize_poses(graph: PoseGraph, solution: PoseSolution) -> dict[str, Any]:
    """Numbers that describe a solution: counts, cost, closures, scales, and how it ended.

    `closures_accepted` and `closures_rejected` count the measurements that are not trusted,
    `trusted_rejected` the trusted ones that others contradict.
    """
    closures, accepted = graph.closures, solution.accepted
    return {
        "nodes": graph.num_poses,
        "edges": graph.num_edges,
        "components": graph.rotations.num_components,
        "trusted": int((~closures).sum()),
        "trusted_rejected": int((~closures & ~accepted).sum()),
        "closures_accepted": int((closures & accepted).sum()),
        "closures_rejected": int((closures & ~accepted).sum()),
        "cost": float(solution.cost),
        "information_scale": {
            "trusted": solution.information_scale[0],
            "closures": solution.information_scale[1],
        },
        "converged": bool(solution.converged),
        "iterations": int(solution.iterations),
        "stop_reason": solution.stop_reason,
        "seconds_solve": float(solution.seconds),
    }


def rotate(angle: FloatArray, vectors: FloatArray) -> FloatArray:
    """Vectors (m, 2), each turned by its angle (m,)."""
    c, s = np.cos(angle), np.sin(angle)
    x, y = vectors.T
    return np.column_stack([c * x - s * y, s * x + c * y])


def odometry_edges(graph: MeasurementGraph) -> BoolArray:
    """Edges (m,) between consecutive whole-number node names, |i - j| = 1: the odometry.

    Of several edges between the same two nodes only the first counts.
    """
    whole = [isinstance(name, int) and abs(name) < _LARGEST_NAME for name in graph.names]
    number = [name if ok else 0 for name, ok in zip(graph.names, whole, strict=True)]
    ends = np.array(number, dtype=np.int64)[graph.edge_index]
    consecutive = np.array(whole)[graph.edge_index].all(axis=0) & (np.abs(ends[0] - ends[1]) == 1)
    edges = np.flatnonzero(consecutive)
    first = edges[np.unique(ends.min(axis=0)[edges], return_index=True)[1]]
    found = np.zeros(graph.num_edges, bool)
    found[first] = True
    return found


def indefinite(information: FloatArray) -> int | None:
    """The first of the matrices (m, 3, 3) that is not symmetric positive semidefinite, or None."""
    size = np.abs(information).max(axis=(1, 2), initial=0.0)
    asymmetry = np.abs(information - information.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    # In units of its size, so that the eigenvalues of huge entries do not overflow.
    unit = np.where(size > 0.0, size, 1.0)[:, None, None]
    least = np.linalg.eigvalsh(information / unit)[:, 0]
    wrong = (asymmetry > _ROUNDING * size) | (least < -_ROUNDING)
    return int(np.argmax(wrong)) if wrong.any() else None


def _check_size(name: str, values: FloatArray) -> None:
    """Refuse numbers too large to be computed with; the message names the edge (or the pose)."""
    huge = np.abs(values) > _LARGEST_NUMBER
    if huge.any():
        place = tuple(np.argwhere(huge)[0].tolist())
        raise GraphError(
            f"{name}[{', '.join(map(str, place))}] is {values[place]:g}: must be at most "
            f"{_LARGEST_NUMBER:g} in size"
        )
