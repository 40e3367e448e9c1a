"""False closures: kinds, laws, and what stays as it was."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.data.false_closures import (
    HEADING_NOISE,
    KINDS,
    LOCAL_STEPS,
    POSITION_NOISE,
    add_false_closures,
)
from gnnsync.errors import GraphError, ParameterError
from gnnsync.pose_graph import PoseGraph, odometry_edges

N = 400


def pose_graph(n=N):
    """Odometry straight ahead and a closure of larger information every 40 poses."""
    start = np.concatenate([np.arange(n - 1), np.arange(0, n - 60, 40)])
    end = np.concatenate([np.arange(1, n), np.arange(50, n - 10, 40)])
    m = len(start)
    weight = np.where(np.arange(m) < n - 1, 100.0, 400.0 + np.arange(m))
    rotations = MeasurementGraph(
        np.stack([end, start]), np.zeros(m), n, weight=weight, group=np.zeros(m, int)
    )
    rotations = rotations.replace(trusted=odometry_edges(rotations))
    information = weight[:, None, None] * np.diag([0.5, 0.5, 1.0])
    translation = np.stack([(end - start).astype(float), np.zeros(m)], axis=1)
    return PoseGraph(rotations.replace(group=None), translation, information)


def steps(graph, mask):
    return np.abs(np.subtract(*graph.edge_index[:, mask]))


def test_what_was_there_stays(rng):
    poses = pose_graph()
    graph, mask = add_false_closures(poses, 30, "random", rng)
    assert (mask.sum(), len(mask)) == (30, poses.num_edges + 30)
    kept = graph.keep_edges(~mask)
    np.testing.assert_array_equal(kept.rotations.edge_index, poses.rotations.edge_index)
    np.testing.assert_array_equal(kept.translation, poses.translation)
    assert not graph.rotations.trusted[mask].any()
    closures = poses.information[poses.closures]
    for added in graph.information[mask]:
        np.testing.assert_array_equal(added, closures[len(closures) // 2])


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_new_and_of_their_kind(kind, rng):
    poses = pose_graph()
    graph, mask = add_false_closures(poses.rotations, 40, kind, rng)
    pairs = np.sort(graph.edge_index, axis=0).T
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    apart = steps(graph, mask)
    assert apart.min() >= 2
    if kind.startswith("local"):
        assert apart.max() <= LOCAL_STEPS
    else:
        assert apart.max() > LOCAL_STEPS
    begun = (np.diff(graph.dst[mask]) != 1) | (np.diff(apart) != 0)
    runs = 1 + int(begun.sum())
    expected = {"grouped": 6, "random_grouped": 12, "local_grouped": 12}
    assert runs <= expected.get(kind, 40)
    assert (runs > 20) == (not kind.endswith("grouped"))


def test_the_same_for_poses_and_their_rotations():
    poses = pose_graph()
    (one, _), (two, _) = (
        add_false_closures(g, 20, "random", np.random.default_rng(3))
        for g in (poses, poses.rotations)
    )
    np.testing.assert_array_equal(one.rotations.edge_index, two.edge_index)
    np.testing.assert_allclose(one.rotations.offset, two.offset)
    np.testing.assert_array_equal(one.rotations.weight, two.weight)


def test_laws_of_the_measured_pose(rng):
    graph, mask = add_false_closures(pose_graph(), 3000, "random", rng)
    assert graph.translation[mask].std(axis=0) == pytest.approx(POSITION_NOISE, rel=0.05)
    assert wrap(graph.measured_heading[mask]).std() == pytest.approx(HEADING_NOISE, rel=0.05)
    graph, mask = add_false_closures(pose_graph(), 3000, "random", rng, heading="uniform")
    assert abs(np.exp(1j * graph.measured_heading[mask]).mean()) < 0.05
    # The distance of two uniform poses is N/3 on average.
    assert steps(graph.rotations, mask).mean() == pytest.approx(N / 3, rel=0.1)


def test_names_give_the_order_of_the_trajectory(rng):
    poses = pose_graph()
    order = rng.permutation(N)
    shuffled = poses.rotations.replace(
        edge_index=np.argsort(order)[poses.rotations.edge_index], node_names=tuple(order.tolist())
    )
    graph, mask = add_false_closures(shuffled, 50, "local", rng)
    names = np.array(graph.names)[graph.edge_index[:, mask]]
    assert np.abs(names[0] - names[1]).max() <= LOCAL_STEPS


def test_truth_of_a_graph_without_weights(rng):
    graph = MeasurementGraph([[0, 1, 2], [1, 2, 3]], [0.0] * 3, 4, group=[0, 0, 0])
    more, mask = add_false_closures(graph, 2, "random", rng)
    assert more.weight is None
    assert more.trusted is None
    np.testing.assert_array_equal(more.group, np.where(mask, -1, 0))
    none, mask = add_false_closures(graph, 0, "grouped", rng)
    assert (none.num_edges, mask.sum()) == (3, 0)


def test_errors_name_the_remedy(rng):
    graph = MeasurementGraph([[0, 1, 2], [1, 2, 3]], [0.0] * 3, 4)
    with pytest.raises(GraphError, match="no room for 4 further random closures: add fewer"):
        add_false_closures(graph, 4, "random", rng)
    with pytest.raises(ParameterError, match="kind = 'near': must be one of random, local"):
        add_false_closures(graph, 1, "near", rng)
    with pytest.raises(ParameterError, match="heading"):
        add_false_closures(graph, 1, "local", rng, heading="laplace")
    with pytest.raises(GraphError, match="has no edges"):
        add_false_closures(MeasurementGraph(np.zeros((2, 0)), [], 9), 1, "local", rng)
