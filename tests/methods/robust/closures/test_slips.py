"""Odometry that is wrong in one place."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync.methods.robust.closures.fit import ClosureFit
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales
from gnnsync.methods.robust.closures.slips import find_slip, turned
from tests.methods.pose_chains import laps


def slipped(turn: float) -> tuple[ClosureProblem, ClosureFit, np.ndarray]:
    """Odometry that turns after pose 100, every closure across it rejected."""
    graph, _ = laps(noise=0.005)
    offset = graph.offset.copy()
    offset[100] += turn
    problem = ClosureProblem.of(graph.replace(offset=offset), np.ones(graph.num_edges))
    angles = problem.start()
    fits = (np.abs(problem.residual(angles)) < 0.3).astype(float)
    return problem, ClosureFit(angles, fits, Scales(0.005, 0.005)), graph.angles[:, 0]


def test_the_place_and_the_turn_are_found() -> None:
    problem, fit, truth = slipped(1.2)
    slip = find_slip(problem, fit)
    assert slip is not None
    assert abs(slip.edge - 100) <= 5
    assert slip.turn == pytest.approx(-1.2, abs=0.1)
    error = np.exp(1j * (turned(problem, fit.angles, slip) - truth))
    assert (np.abs(np.angle(error / error[0])) < 0.3).mean() > 0.95


def test_sound_odometry_has_no_slip() -> None:
    problem, fit, _ = slipped(0.0)
    assert find_slip(problem, fit) is None
