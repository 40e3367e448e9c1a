"""k-synchronization by iterative graph disentangling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.errors import check_integer
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.eigen import top_eigenvectors
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.methods.base import ClassicalMethod, Estimate
from gnnsync.methods.spectral import leading_angles

# An eigenvector entry below this part of the largest is rounding and has no angle.
_NO_ANGLE = 1e-10


@dataclass(frozen=True)
class SpectralDisentangled(ClassicalMethod):
    r"""Spectral method in turn with the assignment of edges to groups, until nothing changes.

    From the k leading eigenvectors of D⁻¹H, repeat (Cucuringu and Tyagi 2022): edge e joins the
    group :math:`\arg\min_l |\mathrm{wrap}(r_{s,l} - r_{t,l} - a_e)|`; the angles of group l become
    those of the leading eigenvector of its own edges. A node without edges in a group keeps its
    angle there. For k = 1 this is `spectral_rn`.

    Args:
        max_iterations: most rounds.
    """

    name = "spectral_disentangled"
    any_k = True

    max_iterations: int = 50

    def check(self) -> None:
        """Range of the parameter."""
        check_integer("max_iterations", self.max_iterations, 1)

    def estimate(self, graph: MeasurementGraph, k: int, rng: np.random.Generator) -> Estimate:
        """Angles (n, k)."""
        operator = EdgeOperator(graph)
        start = leading_angles(graph.hermitian, k, rng, graph.degree)
        if k == 1:
            return start
        angles = start.angles.copy()
        group = np.full(graph.num_edges, -1)
        changed, iterations = 1.0, 0
        while iterations < self.max_iterations:
            iterations += 1
            nearest = np.abs(graph.residual(angles)).argmin(axis=1)
            changed = float((nearest != group).mean())
            if changed == 0.0:
                break
            group = nearest
            for side in range(k):
                weight = graph.edge_weight * (group == side)
                if not weight.any():
                    continue
                matrix = operator.normalised(weight)
                vector = top_eigenvectors(matrix, 1, rng, bound=1.0)[1][:, 0]
                reached = np.abs(vector) > _NO_ANGLE * np.abs(vector).max()
                angles[reached, side] = np.angle(vector[reached])
        converged = changed == 0.0
        return Estimate(
            angles,
            converged,
            iterations,
            "no edge changed its group" if converged else "iteration limit",
            diagnostics={"edges_changed": changed},
        )
