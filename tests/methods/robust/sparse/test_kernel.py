"""Series reduction to junctions and chains."""

from __future__ import annotations

import numpy as np
import pytest

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.sparse.kernel import series_kernel


def test_chains_add_up_offsets_and_noise_between_junctions() -> None:
    # Junctions 0 and 3 with three chains: 0-1-3, 0-2-3 and 0-3; node 4 hangs on a bridge.
    index = np.array([[0, 3, 0, 2, 3, 4], [1, 1, 2, 3, 0, 3]])
    offset = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    weight = np.array([1.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    trusted = np.array([True, False, False, False, False, False])
    graph = MeasurementGraph(index, offset, 5, weight=weight, trusted=trusted)
    kernel = series_kernel(graph)
    assert sorted(kernel.junctions.tolist()) == [0, 3]
    assert kernel.num_chains == 3
    assert kernel.chain[5] == -1
    first = kernel.chain[0]
    assert kernel.chain[1] == first
    sign = 1.0 if kernel.junctions[kernel.ends[0, first]] == 0 else -1.0
    # θ0 - θ1 = 0.1 and θ3 - θ1 = 0.2.
    assert np.mod(sign * kernel.offset[first], 2 * np.pi) == pytest.approx(2 * np.pi - 0.1)
    assert kernel.doubted[first] == 1
    relative = weight / weight.mean()
    assert kernel.variance[first] == pytest.approx(1 / relative[0] + 1 / relative[1])


def test_a_single_cycle_is_two_chains_and_a_tree_has_none() -> None:
    ring = MeasurementGraph([[0, 1, 2, 3], [1, 2, 3, 0]], np.full(4, 0.1), 4)
    kernel = series_kernel(ring)
    assert (kernel.num_nodes, kernel.num_chains) == (2, 2)
    assert kernel.doubted.sum() == 4
    assert sorted(np.bincount(kernel.chain).tolist()) == [2, 2]
    parallel = series_kernel(MeasurementGraph([[0, 0], [1, 1]], [0.0, 0.1], 2))
    assert (parallel.num_nodes, parallel.num_chains) == (2, 2)
    tree = series_kernel(MeasurementGraph([[0, 1], [1, 2]], [0.0, 0.1], 3))
    assert tree.num_chains == 0


def test_cycles_that_share_a_node_have_chains_of_their_own() -> None:
    # Two triangles at node 0: each chain from 0 to itself is divided.
    graph = MeasurementGraph([[0, 1, 2, 0, 3, 4], [1, 2, 0, 3, 4, 0]], np.zeros(6), 5)
    kernel = series_kernel(graph)
    assert (kernel.num_nodes, kernel.num_chains) == (3, 4)
    assert (kernel.ends[0] != kernel.ends[1]).all()
