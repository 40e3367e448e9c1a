"""Solution: what every method returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnsync.angles import reduce_angle
from gnnsync.graph import MeasurementGraph
from gnnsync.metrics import estimate_outliers
from gnnsync.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Radians within which a node's angle counts as right.
NODE_TOLERANCE = 0.25
# Confidence from which a node counts as sure.
SURE = 0.95
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)


@dataclass(frozen=True, eq=False)
class Solution:
    """Estimated angles and how they came about.

    Angles are comparable within a connected component only: each component, and each of the k
    sets, is known up to one rotation.

    Args:
        angles: (n, k) in [0, 2π).
        edge_confidence: (m,) in [0, 1], how far each measurement is believed.
        edge_group: (m,) which of the k sets explains each edge best; all 0 for k = 1.
        component: (n,) connected component of each node.
        converged: whether the method met its own stopping criterion.
        iterations: how many iterations it took.
        stop_reason: why it stopped, in a few words.
        seconds: wall time.
        diagnostics: further figures by name.
        node_confidence: (n,) in [0, 1], the probability that a node's angles (of all k sets) are
            within `NODE_TOLERANCE` of the truth, up to the common rotation of its component; None
            if the method does not estimate it.
    """

    angles: FloatArray
    edge_confidence: FloatArray
    edge_group: IntArray
    component: IntArray
    converged: bool = True
    iterations: int = 0
    stop_reason: str = ""
    seconds: float = 0.0
    diagnostics: dict[str, float] = field(default_factory=dict)
    node_confidence: FloatArray | None = None

    @classmethod
    def from_angles(
        cls,
        graph: MeasurementGraph,
        angles: FloatArray,
        *,
        edge_confidence: FloatArray | None = None,
        **fields: Any,
    ) -> Solution:
        """Complete a Solution from angles (n,) or (n, k).

        An edge belongs to the set with the least residual M; unless the method knows better, its
        confidence falls from 1 at M = 0 to 0 at M = π as (1 + cos M)/2.
        """
        angles = reduce_angle(angles[:, None] if angles.ndim == 1 else angles)
        residual = np.abs(graph.residual(angles))
        group = residual.argmin(axis=1)
        if edge_confidence is None:
            edge_confidence = (1.0 + np.cos(residual.min(axis=1))) / 2.0
        return cls(angles, edge_confidence, group, graph.components, **fields)

    @property
    def k(self) -> int:
        """Number of sets of angles."""
        return self.angles.shape[1]

    def residual(self, graph: MeasurementGraph) -> FloatArray:
        """What each edge of `graph` (m,) disagrees by with the set it belongs to, in [-π, π)."""
        return np.take_along_axis(
            graph.residual(self.angles), self.edge_group[:, None], axis=1
        ).ravel()

    def plot(self, graph: MeasurementGraph | None = None) -> Figure:
        """A picture of the angles and of the trust in the edges; with `graph`, of residuals too.

        Returns a Matplotlib figure: save it with `figure.savefig("solution.png")`.
        """
        from gnnsync.plots.solution import solution_figure

        return solution_figure(self, graph)

    def replace(self, **changes: Any) -> Solution:
        """The same solution with some fields changed."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        n, k = self.angles.shape
        return (
            f"Solution(n={n}, k={k}, converged={self.converged}, iterations={self.iterations}, "
            f"seconds={self.seconds:.3g})"
        )


def summarize(graph: MeasurementGraph, solution: Solution) -> dict[str, Any]:
    """Counts, quantiles of |residual| (radians), outlier share and noise, how the method ended."""
    residual = np.abs(solution.residual(graph))
    share, noise = estimate_outliers(residual)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "components": graph.num_components,
        "k": solution.k,
        "residual_quantiles": {
            f"{level:g}": float(np.quantile(residual, level)) if len(residual) else 0.0
            for level in QUANTILES
        },
        "outlier_share": share,
        "inlier_noise": noise,
        "nodes_sure": _sure(solution),
        "converged": bool(solution.converged),
        "iterations": int(solution.iterations),
        "stop_reason": solution.stop_reason,
        "seconds_solve": float(solution.seconds),
    }


def _sure(solution: Solution) -> float | None:
    """Share of nodes whose angles are right with probability 0.95; None if nobody says."""
    confidence = solution.node_confidence
    return None if confidence is None else float((confidence >= SURE).mean())
