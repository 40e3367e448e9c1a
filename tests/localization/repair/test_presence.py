import numpy as np

from gnnsync.localization.repair.presence import point_reach, two_steps_apart
from tests.distances import complete_network, disc_network


def test_reach_is_a_high_quantile_of_the_distances():
    network = disc_network()
    reach = point_reach(network)
    ends = [network.distance[(network.pairs == i).any(axis=0)] for i in range(60)]
    assert all(np.median(d) <= r <= d.max() for d, r in zip(ends, reach, strict=True))


def test_two_steps_apart_on_a_path():
    network = complete_network([[0, 0], [1, 0], [2, 0.0], [3, 1]]).keep_edges(
        np.array([True, False, False, True, False, True])
    )
    assert two_steps_apart(network).T.tolist() == [[0, 2], [1, 3]]
