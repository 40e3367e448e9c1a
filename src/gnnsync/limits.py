"""What any method can reach: spectral threshold and band, random guessing, information limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.special import i0e, i1e

from gnnsync.errors import GraphError, ParameterError, check_integer, check_real
from gnnsync.graph import MeasurementGraph


@dataclass(frozen=True)
class InformationLimit:
    """The band in which the best possible MSE lies when inliers are exact.

    A cycle sums to 0 mod 2π only if all its edges are inliers of one group (but for chance of
    measure 0). Nodes joined by inliers can be synchronized by one who knows the inliers; nodes on
    inlier cycles can prove it.

    Args:
        connected: S, share of nodes in the largest inlier component, mean over groups.
        certified: B, the same after the bridges of the inlier graph are deleted.
    """

    connected: float
    certified: float

    @property
    def oracle(self) -> float:
        """4(1 - S): no method does better, but for luck on the nodes that are cut off."""
        return 4.0 * (1.0 - self.connected)

    @property
    def certifiable(self) -> float:
        """4(1 - B): what can be reached with proof."""
        return 4.0 * (1.0 - self.certified)


def spectral_threshold(degree: float, k: int = 1) -> float:
    """The outlier fraction η up to which eigenvectors carry information: d((1-η)/k)² = 1.

    Singer (2011), Romanov and Gavish (2018). `degree` is the mean degree d, (n-1)p for an
    Erdős–Rényi graph. 0 if d is too small for any η.
    """
    check_real("degree", degree, 0, open_low=True)
    check_integer("k", k, 1)
    return max(1.0 - k / np.sqrt(degree), 0.0)


def spectral_curve(degree: float, eta: ArrayLike, k: int = 1) -> NDArray[np.float64]:
    """MSE 4(1 - ρ(γ)) of the spectral method, γ = max(d((1-η)/k)² - 1, 0), for each η."""
    return 4.0 * (1.0 - overlap(_excess(degree, eta, k)))


def spectral_band(
    degree: float, eta: ArrayLike, k: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and greatest MSE expected of the spectral method: 4(1 - ρ(γ/η')), 4(1 - ρ(γ)).

    γ takes the noise of an entry of H at its largest, variance 1. An inlier contributes less: the
    variance of the noise is the share η' = 1 - (1-η)/k of the edges that do not measure the set.
    """
    excess = _excess(degree, eta, k)
    share = 1.0 - (1.0 - np.asarray(eta, dtype=np.float64)) / k
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(share > 0, excess / share, np.inf)
    return 4.0 * (1.0 - overlap(least)), 4.0 * (1.0 - overlap(excess))


def overlap(gamma: ArrayLike) -> NDArray[np.float64]:
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

    c = d(1-η)/k inliers per node and group; S = 1 - e^{-cS}, the share of the giant component;
    B = 1 - e^{-cS}(1 + cS), of its nodes with two ways into it.
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
    """The limit of one graph whose `group` (which edges are inliers of which set) is known."""
    group, k = _truth(graph)
    connected, certified = [], []
    for side in range(k):
        inliers = graph.edge_index[:, group == side]
        connected.append(_largest_share(inliers, graph.num_nodes))
        safe = inliers[:, ~bridges(inliers, graph.num_nodes)]
        certified.append(_largest_share(safe, graph.num_nodes))
    return InformationLimit(float(np.mean(connected)), float(np.mean(certified)))


def least_squares_oracle(graph: MeasurementGraph) -> float:
    """MSE of one who knows the inliers and solves their least squares; needs angles and group.

    With exact inliers this is 4(1 - S); with noise on them it is what remains. Nodes outside the
    largest inlier component of a set count as unknown. The least squares are linearised about the
    truth, which for inlier noise well below π is exact.
    """
    # Imported here: limits are read without the solvers otherwise.
    from gnnsync.methods.laplacian import least_squares_shift
    from gnnsync.methods.operator import EdgeOperator

    group, k = _truth(graph)
    if graph.angles is None:
        raise GraphError("the graph has no angles: the least-squares oracle needs the truth")
    mse = []
    for side in range(k):
        inlier = (group == side).astype(np.float64)
        error = -graph.residual(graph.angles[:, side])
        shift = least_squares_shift(EdgeOperator(graph), inlier * graph.edge_weight, error)
        label = _labels(graph.edge_index[:, group == side], graph.num_nodes)
        largest = label == np.bincount(label).argmax()
        mse.append(4.0 * (1.0 - abs(np.exp(1j * shift[largest]).sum()) / graph.num_nodes))
    return float(np.mean(mse))


def bridges(edge_index: NDArray[np.int64], num_nodes: int) -> NDArray[np.bool_]:
    """Which edges (m,) lie on no cycle, in O(n + m). Parallel edges form a cycle.

    On any spanning forest with preorder numbers, the tree edge above v is a bridge iff no other
    edge leaves the subtree of v, whose numbers are consecutive.
    """
    m = edge_index.shape[1]
    if not m:
        return np.zeros(0, dtype=bool)
    order, parent = _spanning_forest(edge_index, num_nodes)
    size, number = _preorder(order, parent)

    src, dst = edge_index
    down = parent[dst] == src
    child = np.where(down, dst, src)
    candidate = np.flatnonzero(down | (parent[src] == dst))
    # Of parallel edges to a child the first is the tree edge.
    tree = candidate[np.unique(child[candidate], return_index=True)[1]]
    other = np.ones(m, dtype=bool)
    other[tree] = False

    low, high = number.copy(), number.copy()
    a, b = edge_index[:, other]
    for here, there in ((a, b), (b, a)):
        np.minimum.at(low, here, number[there])
        np.maximum.at(high, here, number[there])
    lows, highs, parents = low.tolist(), high.tolist(), parent.tolist()
    for v in reversed(order.tolist()):
        p = parents[v]
        if p >= 0:
            if lows[v] < lows[p]:
                lows[p] = lows[v]
            if highs[v] > highs[p]:
                highs[p] = highs[v]
    below = child[tree]
    closed = (np.array(lows)[below] >= number[below]) & (
        np.array(highs)[below] < number[below] + size[below]
    )
    found = np.zeros(m, dtype=bool)
    found[tree[closed]] = True
    return found


def _spanning_forest(
    edge_index: NDArray[np.int64], num_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes in breadth-first order, and each one's parent (-1 at a root)."""
    # One extra node joined to a root in each component turns the forest into a single tree.
    _, roots = np.unique(_labels(edge_index, num_nodes), return_index=True)
    row = np.concatenate([edge_index[0], np.full(len(roots), num_nodes)])
    col = np.concatenate([edge_index[1], roots])
    joined = sp.coo_array((np.ones(len(row), np.int8), (row, col)), (num_nodes + 1,) * 2).tocsr()
    # Parallel edges add up in the sparse matrix, and in int8 might add up to 0.
    joined.data[:] = 1
    order, parent = breadth_first_order(joined, num_nodes, directed=False)
    parent = np.where(parent[:num_nodes] == num_nodes, -1, parent[:num_nodes])
    return order[1:].astype(np.int64), parent.astype(np.int64)


def _preorder(
    order: NDArray[np.int64], parent: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Subtree sizes and preorder numbers of a forest given in breadth-first order."""
    visit, above = order.tolist(), parent.tolist()
    size = [1] * len(above)
    for v in reversed(visit):
        if above[v] >= 0:
            size[above[v]] += size[v]
    number, free = [0] * len(above), [0] * len(above)
    next_root = 0
    for v in visit:
        p = above[v]
        if p < 0:
            number[v], next_root = next_root, next_root + size[v]
        else:
            number[v], free[p] = free[p], free[p] + size[v]
        free[v] = number[v] + 1
    return np.array(size), np.array(number)


def _labels(edge_index: NDArray[np.int64], num_nodes: int) -> NDArray[np.int32]:
    ones = np.ones(edge_index.shape[1])
    return connected_components(sp.coo_array((ones, tuple(edge_index)), (num_nodes,) * 2))[1]


def _largest_share(edge_index: NDArray[np.int64], num_nodes: int) -> float:
    """Share of nodes in the largest component; a single node is no component: 0."""
    if not edge_index.shape[1]:
        return 0.0
    return float(np.bincount(_labels(edge_index, num_nodes)).max() / num_nodes)


def _excess(degree: float, eta: ArrayLike, k: int) -> NDArray[np.float64]:
    check_real("degree", degree, 0)
    check_integer("k", k, 1)
    eta = np.asarray(eta, dtype=np.float64)
    if not ((eta >= 0) & (eta <= 1)).all():
        raise ParameterError("eta", eta.tolist(), "in [0, 1]")
    return np.maximum(degree * ((1.0 - eta) / k) ** 2 - 1.0, 0.0)


def _truth(graph: MeasurementGraph) -> tuple[NDArray[np.int64], int]:
    if graph.group is None:
        raise GraphError("the graph has no group: limits per instance need the true inliers")
    if graph.angles is not None:
        return graph.group, graph.angles.shape[1]
    return graph.group, max(int(graph.group.max(initial=0)), 0) + 1
