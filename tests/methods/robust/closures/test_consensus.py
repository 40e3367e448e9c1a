"""Closures that support one another."""

from __future__ import annotations

import numpy as np

from gnnsync.methods.robust.closures.consensus import reach_consensus
from gnnsync.methods.robust.closures.core import admit_tight
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales
from tests.methods.pose_chains import laps


def test_closures_across_a_drifting_stretch_are_believed_together() -> None:
    """No prediction is tight, and half of the closures are false."""
    graph, outlier = laps(laps=2, length=150, noise=0.03, closures=40, false=40)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    core = admit_tight(problem, problem.start(), Scales(0.03, 0.03), 0.08)
    assert core.admitted is not None
    assert core.admitted.mean() < 0.5
    believed = (reach_consensus(problem, core) > 0.5)[problem.closures]
    false = outlier[problem.closures]
    assert believed[~false].mean() > 0.95
    # Predictions are wide: some false closures fit them by chance.
    assert believed[false].mean() < 0.3


def test_nothing_is_left_to_decide() -> None:
    graph, _ = laps(noise=0.001)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    core = admit_tight(problem, problem.start(), Scales(0.001, 0.001), 0.2)
    np.testing.assert_array_equal(reach_consensus(problem, core), core.probability)
