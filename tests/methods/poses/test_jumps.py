import numpy as np
import pytest

from gnnsync.methods.poses.closures import Selection
from gnnsync.methods.poses.jumps import find_jump
from gnnsync.methods.poses.residual import RelativePoses
from gnnsync.pose_graph import rotate
from tests.methods.poses.worlds import manhattan


def broken(place, turn, shift):
    """A graph without noise, and its poses if all after `place` are moved rigidly."""
    graph, truth = manhattan(200, 3, noise=(0, 0, 0), per_visit=1.0)
    poses = truth.copy()
    later = np.arange(200) > place
    poses[later, :2] = rotate(np.full(later.sum(), turn), poses[later, :2]) + shift
    poses[later, 2] += turn
    active = np.abs(graph.error(poses)).max(axis=1) < 1e-6
    trusted = graph.rotations.edge_trusted
    found = Selection(poses, active | trusted, np.zeros(len(active)), (1.0, 1.0), 0.0, 0, True)
    return RelativePoses.of(graph), trusted, found, truth


@pytest.mark.parametrize(("place", "turn", "shift"), [(90, 0.0, [0, 6.0]), (60, 2.5, [3.0, -1.0])])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_jump_is_found_and_undone(place, turn, shift, reverse):
    edges, trusted, found, truth = broken(place, turn, shift)
    if reverse:
        back = edges.part(np.arange(len(edges)))
        step = -rotate(-back.heading, back.translation)
        edges = RelativePoses(
            back.end, back.start, step, -back.heading, back.information, back.num_poses
        )
    jump = find_jump(edges, trusted, found)
    assert jump is not None
    assert not jump.active[jump.edge]
    # Closures pin the place down to a stretch of a few poses.
    assert abs(int(np.flatnonzero(trusted).searchsorted(jump.edge)) - place) < 10
    away = np.abs(np.arange(200) - place) >= 10
    assert np.abs(jump.poses - truth)[away, :2].max() < 1e-8


def test_without_rejected_closures_or_a_chain_there_is_none():
    edges, trusted, found, truth = broken(90, 0.0, [0, 0])
    assert find_jump(edges, trusted, found) is None
    edges, trusted, found, _ = broken(90, 0.0, [0, 6.0])
    assert find_jump(edges, np.zeros_like(trusted), found) is None
    shuffled = np.random.default_rng(0).permutation(200)
    other = RelativePoses(
        shuffled[edges.start],
        shuffled[edges.end],
        edges.translation,
        edges.heading,
        edges.information,
        200,
    )
    assert find_jump(other, trusted, found) is None
    assert len(truth) == 200
