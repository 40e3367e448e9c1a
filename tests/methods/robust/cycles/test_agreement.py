"""Agreement of angles on the circle."""

import numpy as np

from gnnsync.methods.robust.cycles.agreement import largest_agreements, required_agreement


def test_agreements_on_the_circle():
    place = np.array([7, 7, 7, 9, 9])
    angle = np.array([0.001, 2 * np.pi - 0.001, 3.0, 1.0, 2.0])
    where, mean, count, total = largest_agreements(place, angle, 0.01)
    assert where.tolist() == [7, 9]
    assert count.tolist() == [2, 1]
    assert total.tolist() == [3, 2]
    assert abs(np.angle(np.exp(1j * mean[0]))) < 1e-9
    same_origin = largest_agreements(place, angle, 0.01, np.array([4, 4, 5, 6, 6]))
    assert same_origin[2].tolist() == [1, 1]


def test_more_agreement_is_required_where_chance_is_likely():
    assert required_agreement(np.array([50]), 1e-8)[0] == 2
    assert required_agreement(np.array([50]), 0.05)[0] > 4
