"""Stress majorisation on the measured pairs (SMACOF), several starts at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import ParameterError, check_choice, check_integer, check_real
from gnnsync.linalg.factor import LaplacianFactor
from gnnsync.typing import FloatArray, IntArray

WEIGHTS = ("equal", "relative", "stated")


@dataclass(frozen=True)
class Majorisation:
    r"""Minimises the stress :math:`S(X) = \sum_e w_e (|x_i - x_j| - d_e)^2` from given starts.

    By majorisation (de Leeuw 1977; Gansner, Koren and North 2004): with r_e = w_e d_e/|x_i - x_j|,

    .. math:: L_w X_{next} = L_{r(X)} X,

    where L_w is the Laplacian of the graph with weights w. S never rises. L_w is factorised once,
    sparse; each step solves two systems per start.

    Args:
        weights: `equal`: w = 1; `relative`: w = 1/d², for errors proportional to the distance;
            `stated`: w = 1/σ² of the network.
        max_iterations: most steps.
        tolerance: a start is finished when a step lowers S by less than this part of Σ w d².
    """

    weights: str = "equal"
    max_iterations: int = 3000
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)
        check_integer("max_iterations", self.max_iterations, 1)
        check_real("tolerance", self.tolerance, 0)

    def __call__(self, network: DistanceNetwork, starts: FloatArray) -> Fits:
        """The fits from starts (s, n, 2), in a network of one component."""
        weight = self.edge_weights(network)
        return _Steps(network, weight).run(starts, self.max_iterations, self.tolerance)

    def edge_weights(self, network: DistanceNetwork) -> FloatArray:
        """w (m,)."""
        if self.weights == "equal":
            return np.ones(network.num_edges)
        if self.weights == "relative":
            return 1.0 / network.distance**2
        if network.deviation is None:
            raise ParameterError("weights", self.weights, "equal or relative: no deviations stated")
        return 1.0 / network.deviation**2


@dataclass(frozen=True, eq=False)
class Fits:
    """Stress majorisation from s starts.

    Args:
        points: (s, n, 2).
        stress: (s,) S of each.
        iterations: (s,) steps of each.
        converged: (s,) whether each met the tolerance.
    """

    points: FloatArray
    stress: FloatArray
    iterations: IntArray
    converged: FloatArray

    @property
    def best(self) -> int:
        """The start that ended at the least stress."""
        return int(np.argmin(self.stress))


class _Steps:
    """Majorisation of one network, with the Laplacian of its weights (m,) factorised."""

    def __init__(self, network: DistanceNetwork, weight: FloatArray) -> None:
        self.pairs, self.distance, self.weight = network.pairs, network.distance, weight
        n, m = network.num_points, network.num_edges
        self.factor = LaplacianFactor(network.pairs, np.zeros(n, np.int64), weight)
        rows, columns = network.pairs.ravel(), np.tile(np.arange(m), 2)
        sign = np.repeat([1.0, -1.0], m)
        self.incidence = sp.csr_array((sign, (rows, columns)), shape=(n, m))

    def run(self, starts: FloatArray, max_iterations: int, tolerance: float) -> Fits:
        points = np.array(starts, dtype=np.float64)
        s = len(points)
        stress, iterations = np.full(s, np.inf), np.zeros(s, dtype=np.int64)
        converged, active = np.zeros(s, dtype=bool), np.arange(s)
        least = tolerance * float(self.weight @ self.distance**2)
        for step in range(max_iterations + 1):
            apart, length, now = self._lengths(points[active])
            converged[active] = stress[active] - now <= least
            stress[active], iterations[active] = now, step
            going = ~converged[active]
            active = active[going]
            if not len(active) or step == max_iterations:
                break
            points[active] = self._step(apart[:, going], length[:, going])
        return Fits(points, stress, iterations, converged)

    def _lengths(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """x_i - x_j (m, s, 2), its length (m, s), and the stress (s,), of points (s, n, 2)."""
        rows = np.ascontiguousarray(points.transpose(1, 0, 2))
        apart = rows[self.pairs[0]] - rows[self.pairs[1]]
        length = np.hypot(apart[..., 0], apart[..., 1])
        return apart, length, self.weight @ (length - self.distance[:, None]) ** 2

    def _step(self, apart: FloatArray, length: FloatArray) -> FloatArray:
        """The next points (s, n, 2)."""
        pull = (self.weight * self.distance)[:, None] / np.where(length > 0.0, length, np.inf)
        flow = (pull[..., None] * apart).reshape(len(apart), -1)
        right = self.incidence @ flow
        solved = np.stack([self.factor.solve(column) for column in right.T], axis=1)
        return solved.reshape(len(solved), -1, 2).transpose(1, 0, 2)
