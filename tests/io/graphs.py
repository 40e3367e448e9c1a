"""Comparing graphs and messages in the tests of readers and writers."""

import numpy as np

from gnnsync.angles import circular_distance


def named_edges(graph):
    names = graph.node_names or tuple(range(graph.num_nodes))
    return [(names[i], names[j]) for i, j in graph.edge_index.T.tolist()]


def assert_same(one, other, tolerance=0.0):
    assert named_edges(one) == named_edges(other)
    assert one.num_nodes == other.num_nodes
    assert circular_distance(one.offset, other.offset).max() <= tolerance
    for name in ("weight", "group"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        assert first is None or np.array_equal(first, second)


def assert_one_line(message, name):
    """An error message is one short line that states the file."""
    assert name in message
    assert len(message.splitlines()) == 1
    assert len(message) < 400
