"""Limits of any method: spectral threshold and band, random guessing, information limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import i0e, i1e

from gnnsync.errors import GraphError, ParameterError, check_integer, check_real
from gnnsync.graph import MeasurementGraph
from gnnsync.linalg.laplacian import least_squares_shift
from gnnsync.linalg.operator import EdgeOperator
from gnnsync.topology import bridges, component_labels
from gnnsync.typing import FloatArray, IntArray


@dataclass(frozen=True)
class InformationLimit:
    """The band in which the best possible MSE lies when inliers are exact.

    A cycle sums to 0 mod 2π only if all its edges are inliers of one group (or with probability 0).
    An oracle that knows the inliers can synchronize the nodes that they connect; cycles of inliers
    certify it without that knowledge.

    Args:
        connected: S, fraction of nodes in the largest inlier component, mean over groups.
        certified: B, the same after the bridges of the inlier graph are deleted.
    """

    connected: float
    certified: float

    @property
    def oracle(self) -> float:
        """4(1 - S): no method does better, except by chance on disconnected nodes."""
        return 4.0 * (1.0 - self.connected)

    @property
    def certifiable(self) -> float:
        """4(1 - B): the MSE that can be certified."""
        return 4.0 * (1.0 - self.certified)


def spectral_threshold(degree: float, k: int = 1) -> float:
    """The outlier fraction η up to which eigenvectors carry information: d((1-η)/k)² = 1.

    Singer (2011), Romanov and Gavish (2018). `degree` is the mean degree d, (n-1)p for an
    Erdős–Rényi graph. 0 if d is too small for any η.
    """
    check_real("degree", degree, 0, open_low=True)
    check_integer("k", k, 1)
    return max(1.0 - k / np.sqrt(degree), 0.0)


def spectral_curve(degree: float, eta: ArrayLike, k: int = 1) -> FloatArray:
    """MSE 4(1 - ρ(γ)) of the spectral method, γ = max(d((1-η)/k)² - 1, 0), for each η."""
    return 4.0 * (1.0 - overlap(_excess(degree, eta, k)))


def spectral_band(degree: float, eta: ArrayLike, k: int = 1) -> tuple[FloatArray, FloatArray]:
    """Least and greatest MSE expected of the spectral method: 4(1 - ρ(γ/η')), 4(1 - ρ(γ)).

    γ assumes the largest noise of an entry of H, variance 1. Inliers contribute less: the variance
    of the noise is the share η' = 1 - (1-η)/k of the edges that do not measure the group.
    """
    excess = _excess(degree, eta, k)
    share = 1.0 - (1.0 - np.asarray(eta, dtype=np.float64)) / k
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(share > 0, excess / share, np.inf)
    return 4.0 * (1.0 - overlap(least)), 4.0 * (1.0 - overlap(excess))


def overlap(gamma: ArrayLike) -> FloatArray:
    """ρ(γ) = ½√(πγ)·e^{-γ/2}·[I₀(γ/2) + I₁(γ/2)]: mean of Re phase(√γ + complex normal noise)."""
    gamma = np.asarray(gamma, dtype=np.float64)
    finite = np.where(np.isfinite(gamma), gamma, 0.0)
    rho = 0.5 * np.sqrt(np.pi * finite) * (i0e(finite / 2) + i1e(finite / 2))
    return np.where(np.isinf(gamma), 1.0, np.minimum(rho, 1.0))


def random_guess_mse(n: int) -> float:
    """4(1 - √(π/4n)): uniform angles, aligned with the truth by the MSE's own rotation."""
    return 4.0 * (1.0 - np.sqrt(np.pi / (4.0 * check_integer("n", n, 1))))


def information_limit(degree: float, eta: float, k: int = 1) -> InformationLimit:
    """The limit of an Erdős–Rényi graph of mean degree d, as n → ∞.

    With c = d(1-η)/k inliers per node and group, S = 1 - e^{-cS} is the share of the giant
    component, and B = 1 - e^{-cS}(1 + cS) that of nodes with two edges into it.
    """
    check_real("degree", degree, 0)
    check_real("eta", eta, 0, 1)
    check_integer("k", k, 1)
    c = degree * (1.0 - eta) / k
    if c <= 1.0:
        return InformationLimit(0.0, 0.0)
    # s + e^{-cs} - 1 < 0 for 0 < s < 2(c-1)/c²: the bracket leaves out the root at 0.
    share = float(brentq(lambda s: s + np.expm1(-c * s), (c - 1.0) / c**2, 1.0))
    return InformationLimit(share, float(1.0 - np.exp(-c * share) * (1.0 + c * share)))


def instance_limit(graph: MeasurementGraph) -> InformationLimit:
    """The limit of one graph with known `group` (m,), the true group of each edge."""
    group, k = _truth(graph)
    connected, certified = [], []
    for side in range(k):
        inliers = graph.edge_index[:, group == side]
        connected.append(_largest_share(inliers, graph.num_nodes))
        safe = inliers[:, ~bridges(inliers, graph.num_nodes)]
        certified.append(_largest_share(safe, graph.num_nodes))
    return InformationLimit(float(np.mean(connected)), float(np.mean(certified)))


def least_squares_oracle(graph: MeasurementGraph) -> float:
    """MSE of least squares on the true inliers; needs the true angles and `group`.

    4(1 - S) with exact inliers; with noise on them, the error that remains. Nodes outside the
    largest inlier component of a group count as unknown. Residuals are taken at the truth, where
    least squares is linear as long as the inlier noise is well below π.
    """
    group, k = _truth(graph)
    if graph.angles is None:
        raise GraphError("the graph has no angles: the least-squares oracle needs the truth")
    mse = []
    for side in range(k):
        inlier = (group == side).astype(np.float64)
        error = -graph.residual(graph.angles[:, side])
        shift = least_squares_shift(EdgeOperator(graph), inlier * graph.edge_weight, error)
        label = component_labels(graph.edge_index[:, group == side], graph.num_nodes)
        largest = label == np.bincount(label).argmax()
        mse.append(4.0 * (1.0 - abs(np.exp(1j * shift[largest]).sum()) / graph.num_nodes))
    return float(np.mean(mse))


def _largest_share(edge_index: IntArray, num_nodes: int) -> float:
    """Share of nodes in the largest component; 0 without edges."""
    if not edge_index.shape[1]:
        return 0.0
    return float(np.bincount(component_labels(edge_index, num_nodes)).max() / num_nodes)


def _excess(degree: float, eta: ArrayLike, k: int) -> FloatArray:
    """γ = max(d((1-η)/k)² - 1, 0) for each η."""
    check_real("degree", degree, 0)
    check_integer("k", k, 1)
    eta = np.asarray(eta, dtype=np.float64)
    if not ((eta >= 0) & (eta <= 1)).all():
        raise ParameterError("eta", eta.tolist(), "in [0, 1]")
    return np.maximum(degree * ((1.0 - eta) / k) ** 2 - 1.0, 0.0)


def _truth(graph: MeasurementGraph) -> tuple[IntArray, int]:
    """The true group (m,) of each edge, and k."""
    if graph.group is None:
        raise GraphError("the graph has no group: limits per instance need the true inliers")
    if graph.angles is not None:
        return graph.group, graph.angles.shape[1]
    return graph.group, max(int(graph.group.max(initial=0)), 0) + 1
