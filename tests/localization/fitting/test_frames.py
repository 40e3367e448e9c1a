import numpy as np

from gnnsync.localization.fitting.frames import anchored, held_anchors
from tests.distances import disc_network


def with_anchors(count):
    network = disc_network()
    anchors = np.arange(count)
    return network.replace(anchors=anchors, anchor_positions=network.points[anchors])


def test_three_anchors_are_held_and_fewer_are_not():
    assert held_anchors(with_anchors(3)).sum() == 3
    assert held_anchors(with_anchors(2)).sum() == 0


def test_a_map_goes_to_its_anchors():
    network = with_anchors(3)
    turned = network.points @ np.array([[0.0, 1.0], [1.0, 0.0]]) + 5.0
    np.testing.assert_allclose(anchored(network, turned), network.points, atol=1e-12)


def test_one_anchor_shifts_the_map():
    network = with_anchors(1)
    np.testing.assert_allclose(anchored(network, network.points + 3.0), network.points)


def test_without_anchors_a_map_stays():
    network = disc_network()
    assert (anchored(network, network.points + 1.0) == network.points + 1.0).all()
