import numpy as np
import pytest

from gnnsync import DistanceNetwork, Positions
from gnnsync.errors import GraphError
from gnnsync.positions import aligned_points, position_ane, position_rmse, rigid_motion

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=(6, 2))
MIRROR = np.array([[0.6, 0.8], [0.8, -0.6]])


def network(**changes):
    """Two components: points 0 to 3, and 4 and 5."""
    pairs = np.array([[0, 0, 0, 1, 1, 2, 4], [1, 2, 3, 2, 3, 3, 5]])
    step = TRUTH[pairs[0]] - TRUTH[pairs[1]]
    given = {"pairs": pairs, "distance": np.hypot(*step.T), "num_points": 6, "points": TRUTH}
    return DistanceNetwork(**(given | changes))


def test_a_motion_with_reflection_is_found():
    turn, shift = rigid_motion(TRUTH @ MIRROR.T + [3, 4], TRUTH)
    assert turn == pytest.approx(MIRROR)
    assert (TRUTH @ MIRROR.T + [3, 4]) @ turn.T + shift == pytest.approx(TRUTH)


def test_weights_decide_which_points_are_fitted():
    moved = TRUTH.copy()
    moved[0] += 5
    turn, shift = rigid_motion(moved, TRUTH, np.array([0, 1, 1, 1, 1, 1.0]))
    assert moved[1:] @ turn.T + shift == pytest.approx(TRUTH[1:])


def test_each_component_is_moved_on_its_own():
    points = TRUTH.copy()
    points[:4] = points[:4] @ MIRROR.T + 7
    points[4:] -= 2
    assert aligned_points(points, network()) == pytest.approx(TRUTH)
    assert position_rmse(points, network()) == pytest.approx(0, abs=1e-12)
    assert position_ane(points, network()) == pytest.approx(0, abs=1e-12)


def test_points_without_position_and_points_not_scored_do_not_count():
    points = TRUTH @ MIRROR.T
    points[0] = np.nan
    points[1] += 100
    scored = np.array([1, 0, 1, 1, 1, 1], bool)
    assert position_rmse(points, network(), scored) == pytest.approx(0, abs=1e-12)
    assert position_rmse(points, network()) > 1
    assert np.isnan(position_rmse(np.full((6, 2), np.nan), network()))
    assert np.isnan(position_ane(np.full((6, 2), np.nan), network()))


def test_a_component_with_three_anchors_is_not_moved():
    fixed = network(anchors=[0, 1, 2], anchor_positions=TRUTH[:3])
    points = TRUTH + np.array([3.0, 0.0])
    rmse = np.sqrt(4 / 6) * 3
    assert position_rmse(points, fixed) == pytest.approx(rmse)
    spread = np.linalg.norm(TRUTH - TRUTH.mean(axis=0))
    assert position_ane(points, fixed) == pytest.approx(np.sqrt(6) * rmse / spread)


def test_the_error_of_an_unknown_truth_is_refused():
    with pytest.raises(GraphError, match="holds no true points"):
        position_rmse(TRUTH, network(points=None))


def test_a_solution_says_which_points_it_holds():
    points = TRUTH.copy()
    points[5] = np.nan
    covariance = np.zeros((6, 2, 2))
    found = Positions(points, covariance, np.ones(6, bool), np.zeros(6, int), np.ones(7))
    assert found.located.tolist() == [True] * 5 + [False]
    assert repr(found).startswith("Positions(n=6, localizable=6, converged=True")
    assert found.replace(iterations=3).iterations == 3
