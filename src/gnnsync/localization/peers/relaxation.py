"""Semidefinite relaxation of the distances (SDP), for small networks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.errors import GraphError, check_bool, check_integer, check_real
from gnnsync.localization.peers.components import Placed, locate_components
from gnnsync.localization.peers.majorisation import Majorisation
from gnnsync.localization.repair.scaling import path_lengths
from gnnsync.positions import Positions
from gnnsync.typing import FloatArray, IntArray

# Of the solver; with noise the points come no nearer to the truth beyond this.
_ACCURACY, _MOST_ITERATIONS = 1e-5, 10_000


@dataclass(frozen=True)
class Relaxation:
    r"""Semidefinite relaxation (Biswas and Ye 2004), solved by CVXPY, an optional package.

    For the matrix of inner products :math:`Y_{ij} = x_i \cdot x_j` of centred points

    .. math:: \min_{Y \succeq 0,\; Y1 = 0}
        \frac{1}{m} \sum_e d_e^{-2} |Y_{ii} + Y_{jj} - 2Y_{ij} - d_e^2|
        - \lambda\, \mathrm{tr}\, Y / T,

    where the distances between anchors are constraints. The true Y has rank 2, which the relaxation
    leaves out; the points are given by the two largest eigenvalues of Y. With noise Y has a higher
    rank and the points are crowded towards the middle; the second term holds them apart (Biswas,
    Liang, Toh, Wang and Ye 2006). T is its value where all distances are lengths of shortest paths.

    Args:
        refined: whether stress majorisation from that map follows, in place of the gradient search
            of the same authors.
        spread: λ; small enough, it leaves an exact answer exact.
        max_points: the largest network taken; each iteration takes n³ time, and thousands are
            needed.
        majorisation: weights and stopping rule of the refinement.
    """

    refined: bool = True
    spread: float = 0.01
    max_points: int = 150
    majorisation: Majorisation = field(default_factory=Majorisation)

    def __post_init__(self) -> None:
        check_bool("refined", self.refined)
        check_real("spread", self.spread, 0)
        check_integer("max_points", self.max_points, 2)

    def __call__(self, network: DistanceNetwork, *, seed: int = 0) -> Positions:
        """Positions of the points, up to a motion of each component without anchors."""
        largest = int(np.bincount(network.component).max())
        if largest > self.max_points:
            raise GraphError(
                f"the semidefinite relaxation takes at most {self.max_points} connected points: "
                f"the network has {largest}"
            )
        require_cvxpy()
        return locate_components(network, self._locate, seed)

    def _locate(self, network: DistanceNetwork, rng: np.random.Generator) -> Placed:
        points, converged = relaxed_points(network, self.spread)
        if not self.refined:
            return Placed(points, converged=converged)
        fits = self.majorisation(network, points[None])
        return Placed(
            fits.points[0], int(fits.iterations[0]), converged and bool(fits.converged[0])
        )


def relaxed_points(network: DistanceNetwork, spread: float) -> tuple[FloatArray, bool]:
    """Points (n, 2) of the relaxation, and whether the solver met its tolerance."""
    cp = require_cvxpy()
    # In units of a typical distance the numbers are near 1, as the tolerances of solvers expect.
    unit = float(np.sqrt(np.mean(network.distance**2)))
    inner = cp.Variable((network.num_points,) * 2, PSD=True)

    def squared(pairs: IntArray) -> Any:
        i, j = pairs
        return cp.diag(inner)[i] + cp.diag(inner)[j] - 2.0 * inner[i, j]

    constraints = [cp.sum(inner, axis=1) == np.zeros(network.num_points)]
    a, b = np.triu_indices(network.num_anchors, 1)
    if len(a):
        known = ((network.anchor_place[a] - network.anchor_place[b]) / unit) ** 2
        constraints.append(squared(network.anchor_index[np.stack([a, b])]) == known.sum(axis=1))
    target = (network.distance / unit) ** 2
    misfit = cp.sum(cp.abs(cp.multiply(1.0 / target, squared(network.pairs)) - 1.0))
    longest = float(np.square(path_lengths(network) / unit).mean()) * network.num_points / 2.0
    gain = spread / longest * cp.trace(inner)
    problem = cp.Problem(cp.Minimize(misfit / network.num_edges - gain), constraints)
    problem.solve(solver=cp.SCS, eps_abs=_ACCURACY, eps_rel=_ACCURACY, max_iters=_MOST_ITERATIONS)
    if inner.value is None:
        raise GraphError(f"the semidefinite relaxation failed: {problem.status}")
    value, vector = np.linalg.eigh(inner.value)
    points = unit * vector[:, -2:] * np.sqrt(np.maximum(value[-2:], 0.0))
    return points, problem.status == cp.OPTIMAL


def require_cvxpy() -> Any:
    """The package, or one line that says that it is missing."""
    try:
        # An optional package that takes a second to load.
        import cvxpy
    except ImportError:
        raise GraphError("the semidefinite relaxation needs CVXPY: pip install cvxpy") from None
    return cvxpy
