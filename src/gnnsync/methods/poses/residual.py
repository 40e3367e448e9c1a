"""Residuals of measured relative poses in SE(2), and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gnnsync.angles import wrap
from gnnsync.pose_graph import PoseGraph
from gnnsync.typing import BoolArray, FloatArray, IntArray

# Below this half angle (radians) the series of h·cot(h) is exact to rounding.
_SMALL = 1e-4
# Least eigenvalue of an information matrix that is to be inverted, relative to its trace.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class RelativePoses:
    r"""m measurements z_e = (t, a) of pose j = `end[e]` in the frame of pose i = `start[e]`.

    The residual is the logarithm of the relative error, as GTSAM's `BetweenFactorPose2` has it:

    .. math:: r_e = \log\bigl(z_e^{-1} x_i^{-1} x_j\bigr) = (V(\delta)^{-1} u, \delta), \quad
        u = R(a)^T (R(\theta_i)^T (p_j - p_i) - t), \quad \delta = \theta_j - \theta_i - a,

    with :math:`V(\delta)^{-1} = [[h \cot h, h], [-h, h \cot h]]` and :math:`h = \delta/2`. (The
    program g2o takes (u, δ) itself; near the optimum the two differ in second order.)

    Args:
        start: (m,) poses i.
        end: (m,) poses j.
        translation: (m, 2) t.
        heading: (m,) a.
        information: (m, 3, 3) Ω.
        num_poses: n.
    """

    start: IntArray
    end: IntArray
    translation: FloatArray
    heading: FloatArray
    information: FloatArray
    num_poses: int

    @classmethod
    def of(cls, graph: PoseGraph) -> RelativePoses:
        """All measurements of a pose graph."""
        return cls(
            graph.rotations.dst,
            graph.rotations.src,
            graph.translation,
            graph.measured_heading,
            graph.information,
            graph.num_poses,
        )

    def part(self, edges: IntArray | BoolArray) -> RelativePoses:
        """Some of the measurements, by number or by mask."""
        return RelativePoses(
            self.start[edges],
            self.end[edges],
            self.translation[edges],
            self.heading[edges],
            self.information[edges],
            self.num_poses,
        )

    def __len__(self) -> int:
        return len(self.start)

    def residual(self, poses: FloatArray) -> FloatArray:
        """Residuals r (m, 3) at poses (n, 3)."""
        u, v, delta = self._errors(poses)
        half = delta / 2.0
        along, _ = _half_cotangent(half)
        return np.stack([along * u + half * v, along * v - half * u, delta], axis=1)

    def jacobians(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives (m, 3, 3) of r in pose i and in pose j."""
        u, v, delta = self._errors(poses)
        half = delta / 2.0
        along, slope = _half_cotangent(half)
        logarithm = np.zeros((len(self), 3, 3))
        logarithm[:, 0, 0] = logarithm[:, 1, 1] = along
        logarithm[:, 0, 1], logarithm[:, 1, 0] = half, -half
        logarithm[:, 0, 2], logarithm[:, 1, 2] = slope * u + v / 2.0, slope * v - u / 2.0
        logarithm[:, 2, 2] = 1.0
        angle = poses[self.start, 2] + self.heading
        c, s = np.cos(angle), np.sin(angle)
        x, y = (poses[self.end, :2] - poses[self.start, :2]).T
        at_end = np.zeros((len(self), 3, 3))
        at_end[:, 0, 0], at_end[:, 0, 1], at_end[:, 1, 0], at_end[:, 1, 1] = c, s, -s, c
        at_end[:, 2, 2] = 1.0
        at_start = -at_end
        at_start[:, 0, 2], at_start[:, 1, 2] = c * y - s * x, -c * x - s * y
        return logarithm @ at_start, logarithm @ at_end

    def squares(self, poses: FloatArray) -> FloatArray:
        """rᵀ Ω r (m,)."""
        r = self.residual(poses)
        return np.einsum("ea,eab,eb->e", r, self.information, r)

    def cost(self, poses: FloatArray, weight: FloatArray | float = 1.0) -> float:
        """½ Σ w rᵀ Ω r."""
        return 0.5 * float((weight * self.squares(poses)).sum())

    def definite(self) -> RelativePoses:
        """The same with information matrices that can be inverted.

        A direction without any information, or with a negative one that is rounding of a file's
        digits, gets a little, relative to the others.
        """
        information = 0.5 * (self.information + self.information.transpose(0, 2, 1))
        size = np.trace(information, axis1=1, axis2=2)
        least = _LEAST * np.where(size > 0.0, size, 1.0)
        value, axes = np.linalg.eigh(information)
        low = value[:, 0] < least
        value, axes = np.maximum(value[low], least[low, None]), axes[low]
        information[low] = (axes * value[:, None, :]) @ axes.transpose(0, 2, 1)
        return replace(self, information=information)

    def _errors(self, poses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(u, v, δ): the measured pose of j from its predicted one, before the logarithm."""
        i, j = self.start, self.end
        x, y = (poses[j, :2] - poses[i, :2]).T
        c, s = np.cos(poses[i, 2]), np.sin(poses[i, 2])
        a, b = c * x + s * y - self.translation[:, 0], c * y - s * x - self.translation[:, 1]
        c, s = np.cos(self.heading), np.sin(self.heading)
        return c * a + s * b, c * b - s * a, wrap(poses[j, 2] - poses[i, 2] - self.heading)


def _half_cotangent(half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """h·cot(h) and its derivative in 2h."""
    small = np.abs(half) < _SMALL
    h = np.where(small, 1.0, half)
    value = np.where(small, 1.0 - half**2 / 3.0, h / np.tan(h))
    slope = np.where(small, -half / 3.0, 0.5 / np.tan(h) - 0.5 * h / np.sin(h) ** 2)
    return value, slope
