"""Levenberg–Marquardt on the poses of a graph, and the positions for given headings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnnsync.methods.poses.normal_equations import NormalEquations
from gnnsync.methods.poses.residual import RelativePoses
from gnnsync.pose_graph import rotate
from gnnsync.typing import BoolArray, FloatArray
from gnnsync.work import time_is_up

# Damping after the first step that fails, its factor for each further one, and the largest tried.
_FIRST_DAMPING, _FACTOR, _MOST_DAMPING = 1e-6, 10.0, 1e8


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where Levenberg–Marquardt ended.

    Args:
        poses: (n, 3).
        cost: ½ Σ w rᵀ Ω r there; never higher than at the start.
        iterations: steps taken.
        converged: whether the cost fell by less than the tolerance in the last step.
    """

    poses: FloatArray
    cost: float
    iterations: int
    converged: bool


def optimise(
    edges: RelativePoses,
    poses: FloatArray,
    weight: FloatArray,
    system: NormalEquations,
    *,
    tol: float,
    max_iterations: int,
) -> Optimum:
    """Minimise ½ Σ w_e r_eᵀ Ω_e r_e over the poses that are not held.

    Gauss–Newton steps as long as they reduce the cost; a step that does not is repeated with the
    diagonal of the system enlarged (Marquardt's damping).

    Args:
        edges: m measurements.
        poses: (n, 3) where to begin.
        weight: (m,) w ≥ 0.
        system: normal equations of these edges, left linearised near the optimum.
        tol: stop when a step reduces the cost by less than this fraction.
        max_iterations: most steps.
    """
    information = edges.information * weight[:, None, None]
    cost, damping = edges.cost(poses, weight), 0.0
    for step in range(1, max_iterations + 1):
        system.linearise(poses, information)
        force = np.einsum("eab,eb->ea", information, edges.residual(poses))
        right = -system.gradient(force)
        while True:
            system.factorise(damping)
            moved = poses + system.solve(right)
            reached = edges.cost(moved, weight)
            if reached <= cost:
                break
            damping = max(_FACTOR * damping, _FIRST_DAMPING)
            if damping > _MOST_DAMPING:  # no direction leads down: rounding only
                return Optimum(poses, cost, step, True)
        fall = cost - reached
        poses, cost = moved, reached
        damping = 0.0 if damping <= _FIRST_DAMPING else damping / _FACTOR
        if fall <= tol * cost:
            return Optimum(poses, cost, step, True)
        if time_is_up():
            return Optimum(poses, cost, step, False)
    return Optimum(poses, cost, max_iterations, False)


def place_poses(
    edges: RelativePoses, poses: FloatArray, weight: FloatArray, held: BoolArray
) -> FloatArray:
    """Positions for the given headings: weighted linear least squares.

    With the headings fixed, p_j - p_i = R(θ_i) t_e is linear in the positions; the information
    about t_e is rotated into the common frame.

    Args:
        edges: m measurements.
        poses: (n, 3) headings, and positions of the poses that are held.
        weight: (m,) confidence in each measurement.
        held: (n,) poses that keep their place.
    """
    turn = np.zeros((len(edges), 3, 3))
    # The residual of an edge is in the frame of the measured pose j.
    angle = poses[edges.start, 2] + edges.heading
    c, s = np.cos(angle), np.sin(angle)
    turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -s, s, c
    information = turn @ (edges.information * weight[:, None, None]) @ turn.transpose(0, 2, 1)
    step = rotate(poses[edges.start, 2], edges.translation)
    error = np.zeros((len(edges), 3))
    error[:, :2] = poses[edges.end, :2] - poses[edges.start, :2] - step
    force = np.einsum("eab,eb->ea", information, error)
    # Headings have no error to correct; a unit of information keeps the system regular.
    information[:, 2, 2] = 1.0
    forward = np.tile(np.eye(3), (len(edges), 1, 1))
    system = NormalEquations(edges, held)
    system.assemble(-forward, forward, information)
    system.factorise()
    moved = system.solve(-system.gradient(force))
    return np.column_stack([poses[:, :2] + moved[:, :2], poses[:, 2]])
