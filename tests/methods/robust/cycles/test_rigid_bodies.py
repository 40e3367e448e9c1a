"""Rigid bodies of closed cycles."""

import numpy as np

from gnnsync import MeasurementGraph
from gnnsync.methods.robust.cycles.certificate import certify
from gnnsync.methods.robust.cycles.paths import arcs_of, closed_clusters, find_paths
from gnnsync.methods.robust.cycles.rigid_bodies import bodies_of_clusters
from tests.methods.networks import synthetic


def test_two_triangles_at_a_node_are_two_clusters():
    edges = np.array([[0, 1, 2, 2, 3, 4], [1, 2, 0, 3, 4, 2]])
    angles = np.array([0.3, 1.0, 2.5, 4.0, 5.5])
    graph = MeasurementGraph(edges, angles[edges[0]] - angles[edges[1]], 5)
    label, _ = closed_clusters(graph, find_paths(graph, arcs_of(graph), 1000), 1e-8)
    assert len(np.unique(label)) == 2
    bodies = bodies_of_clusters(graph, label)
    assert sorted(bodies.size) == [3, 3]
    # One group: the common node joins them.
    assert certify(graph, 1)[1].all()


def test_angles_of_a_body_satisfy_all_its_offsets():
    graph = synthetic(0.3, n=60, p=0.3)
    label = closed_clusters(graph, find_paths(graph, arcs_of(graph), 10**6), 1e-8)[0]
    bodies = bodies_of_clusters(graph, label)
    largest = int(bodies.size.argmax())
    angle = np.full(60, np.nan)
    angle[bodies.node[bodies.body == largest]] = bodies.angle[bodies.body == largest]
    inside = bodies.edge_body == largest
    assert inside.sum() > 100
    np.testing.assert_allclose(graph.residual(angle)[inside], 0.0, atol=1e-9)
