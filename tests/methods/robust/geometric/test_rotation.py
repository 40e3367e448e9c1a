"""Rotations of regions and branches."""

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.angles import wrap
from gnnsync.data.measurement import erdos_renyi, random_geometric
from gnnsync.methods.robust.geometric.regions import find_regions
from gnnsync.methods.robust.geometric.rotation import RegionRotation, best_rotation, rotate_regions
from gnnsync.methods.robust.noise.local_search import local_search
from gnnsync.methods.robust.noise.mixture import fit_mixture
from gnnsync.metrics import angular_mse
from tests.methods.networks import SHAPES, observed


def rng():
    return np.random.default_rng(0)


def geometric(k=1, **options):
    return observed(
        random_geometric(200, 0.1, 2), **{"eta": 0.3, "inlier_noise": 0.05} | options, k=k
    )


def left_half(graph):
    """A third of the nodes: those on one side of the slowest wave over the graph."""
    first = find_regions(graph, np.ones(graph.num_edges), rng())[:2]
    return min(first, key=len)


def test_a_rotated_region_is_rotated_back_as_a_whole_only():
    graph = geometric()
    nodes = left_half(graph)
    rotated = graph.angles.copy()
    rotated[nodes] += 2.0
    stuck = local_search(graph, rotated)
    assert angular_mse(stuck.angles, graph.angles) > 0.5
    freed = rotate_regions(graph, stuck, rng())
    assert freed.evidence > stuck.evidence
    assert angular_mse(freed.angles, graph.angles) < 0.02


def test_exchanged_groups_are_exchanged_back():
    graph = geometric(k=2, eta=0.1, seed=1)
    nodes = left_half(graph)
    changed = graph.angles.copy()
    changed[nodes] = changed[nodes][:, ::-1] + [0.7, -1.1]
    rotation = best_rotation(graph, fit_mixture(graph, changed, move=False), nodes)
    assert rotation.into.tolist() == [1, 0]
    assert wrap(rotation.by - [-0.7, 1.1]) == pytest.approx([0.0, 0.0], abs=0.05)
    assert angular_mse(rotation.applied(changed), graph.angles) < 1e-3


def test_a_right_fit_is_returned_as_it_is():
    graph = geometric()
    fit = local_search(graph, graph.angles)
    assert rotate_regions(graph, fit, rng()) is fit


def test_edge_direction_and_common_rotation_do_not_matter():
    graph = geometric()
    nodes = left_half(graph)
    start = graph.angles.copy()
    start[nodes] += 2.0
    flip = rng().random(graph.num_edges) < 0.5
    back = graph.replace(
        edge_index=np.where(flip, graph.edge_index[::-1], graph.edge_index),
        offset=np.where(flip, -graph.offset, graph.offset),
    )
    one = best_rotation(graph, fit_mixture(graph, start, move=False), nodes)
    two = best_rotation(back, fit_mixture(back, wrap(start + 1.0), move=False), nodes)
    assert one.by == pytest.approx(two.by, abs=1e-9)
    assert one.gain == pytest.approx(two.gain, rel=1e-3)
    assert wrap(one.by + 2.0) == pytest.approx([0.0], abs=0.05)


def test_a_region_without_boundary_is_not_rotated():
    graph = geometric()
    rotation = best_rotation(graph, local_search(graph, graph.angles), np.arange(graph.num_nodes))
    assert isinstance(rotation, RegionRotation)
    assert rotation.gain == 0.0


def test_several_regions_at_once():
    """Four dense parts in a ring, two opposite ones rotated: one attempt corrects both."""
    part = erdos_renyi(25, 0.5, 1)
    gen = rng()
    joints = [
        np.stack([25 * i + gen.permutation(25)[:12], 25 * ((i + 1) % 4) + gen.permutation(25)[:12]])
        for i in range(4)
    ]
    index = np.concatenate([*(part + 25 * i for i in range(4)), *joints], axis=1)
    angles = gen.uniform(0, 6, 100)
    noise = 0.05 * gen.standard_normal(index.shape[1])
    outlier = gen.random(index.shape[1]) < 0.2
    noise = np.where(outlier, gen.uniform(-3, 3, len(outlier)), noise)
    offset = angles[index[0]] - angles[index[1]] + noise
    graph = MeasurementGraph(index, offset, 100, angles=angles)
    rotated = graph.angles.copy()
    rotated[:25] += 2.0
    rotated[50:75] -= 1.5
    fit = fit_mixture(graph, rotated, max_iterations=5)
    assert angular_mse(fit.angles, graph.angles) > 0.5
    assert angular_mse(rotate_regions(graph, fit, rng()).angles, graph.angles) < 0.01


@pytest.mark.parametrize("shape", ["path", "cycle", "star", "tree"])
def test_thin_graphs(shape):
    graph = observed(SHAPES[shape], inlier_noise=0.1)
    fit = local_search(graph, graph.angles)
    assert rotate_regions(graph, fit, rng()).evidence >= fit.evidence
