"""The reference of a pose graph without false closures: the optimum of its least squares.

Recorded pose graphs have no true poses. What false closures destroy is measured against the optimum
of the graph without them: of the headings alone for methods that see headings only, of the poses
(GTSAM's Levenberg–Marquardt) for methods that estimate poses.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from benchmarks.pose_gtsam import optimum
from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.methods import SpectralRN
from gnnsync.pose_graph import PoseGraph
from gnnsync.topology import minimum_spanning_edges, parent_edges, spanning_forest
from gnnsync.typing import FloatArray

# Gauss–Newton on headings ends when none moves by more than this, in radians.
_TOLERANCE = 1e-10
_MOST_STEPS = 100


def heading_optimum(graph: MeasurementGraph) -> FloatArray:
    """Headings (n,) with the least Σ w r², r = wrap(θ_src - θ_dst - offset), by Gauss–Newton.

    Started from odometry and from the leading eigenvector; the better result is kept.
    """
    starts = [odometry_headings(graph), SpectralRN()(graph).angles[:, 0]]
    found = [_descend(graph, start) for start in starts]
    return min(found, key=lambda theta: _cost(graph, theta))


def odometry_headings(graph: MeasurementGraph) -> FloatArray:
    """Headings (n,) along the trusted edges; along others only where these leave a gap."""
    poses = PoseGraph(
        graph, np.zeros((graph.num_edges, 2)), np.tile(np.eye(3), (graph.num_edges, 1, 1))
    )
    return odometry_poses(poses)[:, 2]


def odometry_poses(graph: PoseGraph) -> FloatArray:
    """Poses (n, 3) along the trusted edges; along others only where these leave a gap."""
    rotations = graph.rotations
    order = np.argsort(~rotations.edge_trusted, kind="stable")
    tree = minimum_spanning_edges(rotations.edge_index, rotations.num_nodes, order)
    visit, parent = spanning_forest(rotations.edge_index[:, tree], rotations.num_nodes)
    edge = parent_edges(rotations.edge_index[:, tree], parent)
    place, heading = np.zeros(graph.num_poses, complex), np.zeros(graph.num_poses)
    step = graph.translation @ np.array([1.0, 1j])
    turn = graph.measured_heading
    for node in visit[parent[visit] >= 0].tolist():
        e, above = tree[edge[node]], parent[node]
        if rotations.src[e] == node:
            heading[node] = heading[above] + turn[e]
            place[node] = place[above] + np.exp(1j * heading[above]) * step[e]
        else:
            heading[node] = heading[above] - turn[e]
            place[node] = place[above] - np.exp(1j * heading[node]) * step[e]
    return np.stack([place.real, place.imag, wrap(heading)], axis=1)


def pose_optimum(graph: PoseGraph, headings: FloatArray) -> FloatArray:
    """Poses (n, 3) with the least ½ Σ rᵀ Ω r: GTSAM's Levenberg–Marquardt from two starts.

    The starts are odometry, and `headings` (n,) with the positions that are best for them.
    """
    starts = [odometry_poses(graph), linear_positions(graph, headings)]
    found = [optimum(graph, start) for start in starts]
    return min(found, key=lambda result: result.cost).poses


def linear_positions(graph: PoseGraph, headings: FloatArray) -> FloatArray:
    """Poses (n, 3) with these headings and the positions of least squares."""
    rotations, n = graph.rotations, graph.num_poses
    i, j = rotations.dst, rotations.src
    c, s = np.cos(headings[i]), np.sin(headings[i])
    turned = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
    step = np.einsum("eab,eb->ea", turned, graph.translation)
    weight = turned @ graph.information[:, :2, :2] @ turned.transpose(0, 2, 1)
    one = np.ones(len(i))
    edge = np.arange(len(i))
    incidence = sp.coo_array(
        (np.concatenate([one, -one]), (np.tile(edge, 2), np.concatenate([j, i]))), (len(i), n)
    )
    both = sp.kron(incidence, np.eye(2)).tocsr()
    blocks = sp.bsr_array((weight, edge, np.arange(len(i) + 1)))
    normal = (both.T @ blocks @ both).tocsc()[2:, 2:]
    right = (both.T @ (blocks @ step.ravel()))[2:]
    position = np.concatenate([np.zeros(2), splu(normal).solve(right)])
    return np.column_stack([position.reshape(n, 2), headings])


def _descend(graph: MeasurementGraph, theta: FloatArray) -> FloatArray:
    """Gauss–Newton: every residual is unwrapped at the present headings, then one linear solve."""
    n, m = graph.num_nodes, graph.num_edges
    one, edge = np.ones(m), np.arange(m)
    incidence = sp.coo_array(
        (np.concatenate([one, -one]), (np.tile(edge, 2), graph.edge_index.ravel())), (m, n)
    ).tocsr()
    weighted = sp.diags_array(graph.edge_weight) @ incidence
    factor = splu((incidence.T @ weighted).tocsc()[1:, 1:])
    for _ in range(_MOST_STEPS):
        move = np.zeros(n)
        move[1:] = factor.solve((weighted.T @ graph.residual(theta))[1:])
        theta = theta - move
        if np.abs(move).max() < _TOLERANCE:
            break
    return wrap(theta)


def _cost(graph: MeasurementGraph, theta: FloatArray) -> float:
    return float((graph.edge_weight * graph.residual(theta) ** 2).sum())
