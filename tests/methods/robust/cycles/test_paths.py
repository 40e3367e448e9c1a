"""Short paths and the cycles that they close."""

import numpy as np
import pytest

from gnnsync.data.measurement import random_geometric
from gnnsync.methods.robust.cycles.paths import arcs_of, closed_clusters, cycle_noise, find_paths
from tests.methods.networks import synthetic


def test_clusters_hold_one_group_each():
    graph = synthetic(0.2, k=2, n=250, p=0.06, pairs=random_geometric)
    label, _ = closed_clusters(graph, find_paths(graph, arcs_of(graph), 10**7), 1e-8)
    for cluster in np.unique(label[label >= 0]):
        assert len(np.unique(graph.group[label == cluster])) == 1


def test_noise_level_is_read_off_cycles():
    graph = synthetic(0.0, 0.05, n=80)
    paths = find_paths(graph, arcs_of(graph), 10**6)
    assert cycle_noise(paths) == pytest.approx(0.05, rel=0.6)
    exact = synthetic(0.7, n=80)
    assert cycle_noise(find_paths(exact, arcs_of(exact), 10**6)) < 1e-8


def test_path_limit_is_kept():
    graph = synthetic(0.0, n=60)
    assert len(find_paths(graph, arcs_of(graph), 10).total) == graph.num_edges
