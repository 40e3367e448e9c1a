"""Solution: what every method returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gnnsync.angles import reduce_angle
from gnnsync.graph import MeasurementGraph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Radians within which a node's angle counts as right.
NODE_TOLERANCE = 0.25


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

    angles: NDArray[np.float64]
    edge_confidence: NDArray[np.float64]
    edge_group: NDArray[np.int64]
    component: NDArray[np.int64]
    converged: bool = True
    iterations: int = 0
    stop_reason: str = ""
    seconds: float = 0.0
    diagnostics: dict[str, float] = field(default_factory=dict)
    node_confidence: NDArray[np.float64] | None = None

    @classmethod
    def from_angles(
        cls,
        graph: MeasurementGraph,
        angles: NDArray[np.float64],
        *,
        edge_confidence: NDArray[np.float64] | None = None,
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

    def residual(self, graph: MeasurementGraph) -> NDArray[np.float64]:
        """What each edge of `graph` (m,) disagrees by with the set it belongs to, in [-π, π)."""
        return np.take_along_axis(
            graph.residual(self.angles), self.edge_group[:, None], axis=1
        ).ravel()

    def plot(self, graph: MeasurementGraph | None = None) -> Figure:
        """A picture of the angles and of the trust in the edges; with `graph`, of residuals too.

        Returns a Matplotlib figure: save it with `figure.savefig("solution.png")`.
        """
        from gnnsync.pictures.solution import solution_figure

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
