import numpy as np
import pytest

from gnnsync.angles import circular_distance
from gnnsync.methods.anchoring.contraction import contract


def test_exact_offsets_stay_exact(make_multigraph):
    graph = make_multigraph(0, n=12, m=40, connected=True)
    truth = graph.angles[:, 0]
    known = np.where(np.arange(12) % 3 == 0, truth, np.nan)
    small = contract(graph, known)
    assert small.graph.num_nodes == 12 - 4 + 1
    inner = np.isfinite(known)[graph.edge_index].all(axis=0)
    assert small.graph.num_edges == graph.num_edges - inner.sum()
    reduced = small.reduce(truth)
    assert np.abs(small.graph.residual(reduced)).max() < 1e-12
    # Any common rotation of the contracted angles comes back to the known ones.
    expanded = small.expand(reduced + 1.0)
    assert circular_distance(expanded, truth).max() < 1e-12
    assert np.array_equal(expanded[::3], known[::3])


def test_components_without_anchors_are_not_rotated(make_multigraph):
    graph = make_multigraph(0, n=6, m=0)
    graph = graph.replace(edge_index=[[0, 2], [1, 3]], offset=[1.0, 0.5], angles=None)
    small = contract(graph, np.array([2.0, *[np.nan] * 5]))
    angles = np.arange(6.0)
    assert small.expand(angles)[2:] == pytest.approx(angles[2:])
    assert small.expand(angles)[0] == 2.0
