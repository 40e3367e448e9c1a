import logging

import numpy as np

from gnnsync.distance_network import DistanceNetwork
from gnnsync.io.distances.anchor_conflicts import warn_of_conflicts


def warnings_of(caplog, places, chosen=(0, 2)):
    """Warnings of anchors on the line a - b - c - d, whose distances are 1, and e apart from it."""
    pairs, names = np.array([[0, 1, 2], [1, 2, 3]]), ("a", "b", "c", "d", "e")
    network = DistanceNetwork(
        pairs, np.ones(3), 5, anchors=chosen, anchor_positions=places, names=names
    )
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        warn_of_conflicts(network)
    return [record.getMessage() for record in caplog.records]


def test_anchors_farther_apart_than_a_path_are_named(caplog):
    assert warnings_of(caplog, [(0.0, 0.0), (30.0, 40.0)]) == [
        "the anchors contradict the distances: a and c are 50 apart, but a path of distances "
        "between them is only 2 long: correct their positions"
    ]


def test_the_worst_pair_is_named_once(caplog):
    (text,) = warnings_of(caplog, [(0.0, 0.0), (9.0, 0.0), (90.0, 0.0)], (0, 1, 3))
    assert "b and d are 81 apart" in text


def test_anchors_that_agree_or_cannot_be_compared_are_not_named(caplog):
    assert warnings_of(caplog, [(0.0, 0.0), (2.4, 0.0)]) == []
    assert warnings_of(caplog, [(0.0, 0.0), (0.1, 0.0)]) == []
    assert warnings_of(caplog, [(0.0, 0.0), (900.0, 0.0)], (0, 4)) == []
    assert warnings_of(caplog, [(0.0, 0.0)], (0,)) == []
