"""Branches of a spanning tree, and their rotations that other edges support."""

import networkx as nx
import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.data.measurement import random_geometric
from gnnsync.methods.auto import Auto
from gnnsync.methods.irls import IRLS
from gnnsync.methods.robust.geometric.branches import most_probable_tree, supported_rotations
from gnnsync.methods.robust.geometric.rotation import branch_rotations
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.metrics import angular_mse
from tests.methods.networks import observed


def tracks(n=300, closures=240, eta=0.1, sigma=0.02, seed=0):
    """A path over a grid with loop closures, some of them wrong: a 2D pose graph."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(n)))
    # To and fro, row by row; closures join neighbouring rows.
    row, column = np.divmod(np.arange(n), side)
    column = np.where(row % 2, side - 1 - column, column)
    at = {(r, c): i for i, (r, c) in enumerate(zip(row.tolist(), column.tolist(), strict=True))}
    above = [(i, at[r + 1, c]) for (r, c), i in at.items() if (r + 1, c) in at]
    chosen = rng.permutation([pair for pair in above if abs(pair[0] - pair[1]) > 1])[:closures]
    index = np.concatenate([np.stack([np.arange(n - 1), np.arange(1, n)]), chosen.T], axis=1)
    angles = rng.uniform(0, 2 * np.pi, n)
    error = sigma * rng.standard_normal(index.shape[1])
    wrong = (np.arange(index.shape[1]) >= n - 1) & (rng.random(index.shape[1]) < eta)
    error = np.where(wrong, rng.uniform(-3, 3, len(wrong)), error)
    return MeasurementGraph(index, angles[index[0]] - angles[index[1]] + error, n, angles=angles)


def test_the_most_probable_tree_is_a_maximum_spanning_tree():
    graph = observed(random_geometric(60, 0.2, 1))
    probability = np.random.default_rng(0).random(graph.num_edges)
    tree = most_probable_tree(graph, probability)
    other = nx.Graph()
    other.add_weighted_edges_from(
        zip(*graph.edge_index.tolist(), probability.tolist(), strict=True)
    )
    best = nx.maximum_spanning_tree(other).size(weight="weight")
    assert probability[tree.edge[tree.edge >= 0]].sum() == pytest.approx(best)


def test_branches_are_the_components_below_an_edge():
    graph = observed(random_geometric(60, 0.2, 1))
    tree = most_probable_tree(graph, np.random.default_rng(0).random(graph.num_edges))
    whole = nx.Graph(graph.edge_index[:, tree.edge[tree.edge >= 0]].T.tolist())
    root = int(np.flatnonzero(tree.parent < 0)[0])
    for node in range(0, 60, 7):
        assert tree.depth[node] == nx.shortest_path_length(whole, root, node)
        if node == root:
            continue
        cut = whole.copy()
        cut.remove_edge(node, int(tree.parent[node]))
        assert set(tree.branch(node).tolist()) == nx.node_connected_component(cut, node)


def test_of_parallel_edges_the_more_probable_is_in_the_tree():
    index = np.array([[0, 1, 0], [1, 0, 1]])
    graph = MeasurementGraph(index, np.zeros(3), 2)
    tree = most_probable_tree(graph, np.array([0.1, 0.9, 0.5]))
    assert sorted(tree.edge.tolist()) == [-1, 1]


def test_every_crossing_edge_supports_the_rotation_that_satisfies_it():
    graph = observed(random_geometric(60, 0.2, 1), eta=0.2, inlier_noise=0.1)
    angles = np.random.default_rng(1).uniform(0, 6, 60)
    tree = most_probable_tree(graph, np.random.default_rng(0).random(graph.num_edges))
    branch, supported = supported_rotations(graph, tree, angles)
    for node in (3, 17, 40):
        inside = np.zeros(60, dtype=bool)
        inside[tree.branch(node)] = True
        crossing = np.flatnonzero(inside[graph.src] != inside[graph.dst])
        rotations = supported[branch == node]
        assert len(rotations) == len(crossing)
        for rotation in rotations:
            residual = graph.residual((angles + rotation * inside)[:, None])[crossing, 0]
            assert np.abs(residual).min() < 1e-9


def test_a_branch_attached_by_an_outlier_is_rotated():
    graph = tracks(eta=0.0)
    tree = most_probable_tree(graph, np.ones(graph.num_edges))
    node = int(np.argsort(np.abs(tree.size - 60), kind="stable")[0])
    angles = graph.angles.copy()
    angles[tree.branch(node)] += 1.3
    fit = fit_mixture(graph, angles, move=False)
    best = max(branch_rotations(graph, fit), key=lambda rotation: rotation.gain)
    assert angular_mse(best.applied(fit.angles), graph.angles) < angular_mse(angles, graph.angles)
    assert np.abs(wrap(best.by)) == pytest.approx([1.3], abs=0.1)


def test_pose_graph_with_wrong_loop_closures():
    errors = []
    for seed in range(3):
        graph = tracks(seed=seed)
        errors.append([angular_mse(m(graph).angles, graph.angles) for m in (Auto(), IRLS())])
    mine, irls = np.mean(errors, axis=0)
    assert mine < 0.1
    assert mine < irls
