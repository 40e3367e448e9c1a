"""Closures that are judged one by one."""

from __future__ import annotations

import numpy as np

from gnnsync.methods.robust.closures.core import admit_tight
from gnnsync.methods.robust.closures.problem import ClosureProblem
from gnnsync.methods.robust.closures.scales import Scales
from tests.methods.pose_chains import laps


def test_only_tight_predictions_are_judged() -> None:
    graph, outlier = laps(noise=0.02, false=40)
    problem = ClosureProblem.of(graph, np.ones(graph.num_edges))
    narrow, wide = (
        admit_tight(problem, problem.start(), Scales(0.02, 0.02), gate) for gate in (0.05, 0.5)
    )
    assert narrow.admitted is not None
    assert wide.admitted is not None
    assert narrow.admitted.sum() < wide.admitted.sum()
    believed = wide.probability[problem.closures] > 0.5
    assert (believed <= wide.admitted).all()
    wrong = np.abs(graph.residual(graph.angles[:, 0])) > 0.5
    assert not (believed & wrong[problem.closures]).any()
    assert outlier[problem.closures][believed].mean() < 0.1
