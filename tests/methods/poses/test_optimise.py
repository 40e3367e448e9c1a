from itertools import pairwise

import numpy as np
import pytest

from gnnsync.methods.poses.normal_equations import NormalEquations
from gnnsync.methods.poses.optimise import optimise, place_poses
from gnnsync.methods.poses.residual import RelativePoses
from tests.methods.poses.worlds import manhattan


def run(edges, poses, held, **options):
    ones = np.ones(len(edges))
    return optimise(edges, poses, ones, NormalEquations(edges, held), **options)


def first(n):
    return np.arange(n) == 0


def test_the_cost_never_rises_even_from_nonsense():
    graph, truth = manhattan(50, 7, per_visit=1.0)
    edges = RelativePoses.of(graph)
    for seed in range(5):
        start = 10 * np.random.default_rng(seed).normal(size=truth.shape)
        costs = [edges.cost(start)]
        for steps in (1, 2, 5, 50):
            found = run(edges, start, first(50), tol=1e-9, max_iterations=steps)
            assert found.cost == pytest.approx(edges.cost(found.poses))
            costs.append(found.cost)
        assert all(b <= a for a, b in pairwise(costs))


def test_the_optimum_is_stationary():
    graph, truth = manhattan(60, 8, per_visit=1.0)
    edges = RelativePoses.of(graph)
    found = run(edges, truth, first(60), tol=1e-12, max_iterations=50)
    assert found.converged
    assert found.cost < edges.cost(truth)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=truth.shape) * ~first(60)[:, None]
        assert edges.cost(found.poses + step) > found.cost


def test_positions_for_true_headings_are_the_least_squares_ones():
    graph, truth = manhattan(40, 9, noise=(0.2, 0.1, 0.0), per_visit=1.0)
    edges = RelativePoses.of(graph)
    start = np.column_stack([np.zeros((40, 2)), truth[:, 2]])
    found = place_poses(edges, start, np.ones(len(edges)), first(40))
    assert np.array_equal(found[:, 2], truth[:, 2])
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=truth.shape) * ~first(40)[:, None] * [1, 1, 0]
        assert edges.cost(found + step) > edges.cost(found)
