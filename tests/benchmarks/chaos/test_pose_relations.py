"""Changes of a pose graph that mean nothing change no pose."""

import numpy as np
import pytest

from benchmarks.chaos.pose_relations import POSE_RELATIONS, laps, pose_deviation
from gnnsync import solve_poses


@pytest.fixture(scope="module")
def world():
    graph = laps(1, 0.2)
    return graph, solve_poses(graph).poses


# A measurement that is given twice counts as two, see docs/reliability.md.
@pytest.mark.parametrize("name", [name for name in POSE_RELATIONS if name != "doubled"])
def test_poses_do_not_change(name, world):
    graph, before = world
    assert max(pose_deviation(graph, POSE_RELATIONS[name], 3, before)) < 1e-6


def test_a_deviation_is_found(world):
    graph, before = world
    turned = before + np.array([0.0, 0.0, 0.01])
    turned[0] = before[0]
    found = pose_deviation(graph, POSE_RELATIONS["moved"], 3, turned)
    assert found[0] == pytest.approx(0.01, rel=1e-3)
    assert found[1] < 1e-6
