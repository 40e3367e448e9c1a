import numpy as np
import pytest

from gnnsync.localization.patches.embedding import StressEmbedding
from gnnsync.localization.patches.rigid import RigidNeighbourhoods
from gnnsync.localization.patches.semidefinite import SemidefiniteEmbedding
from gnnsync.positions import rigid_motion
from tests.distances import disc_network

pytest.importorskip("cvxpy")


def test_exact_distances_give_exact_patches():
    network = disc_network(n=25, degree=10.0)
    chosen = RigidNeighbourhoods(max_size=12, rounds=0, coverage=1)(network)
    found = SemidefiniteEmbedding(iterations=25)(network, chosen)
    assert len(found) == len(chosen) > 1
    for a in range(len(found)):
        true = network.points[found.members(a)]
        place = found.position[found.indptr[a] : found.indptr[a + 1]]
        turn, shift = rigid_motion(place, true)
        np.testing.assert_allclose(place @ turn.T + shift, true, atol=1e-6)


def test_the_start_is_the_relaxation():
    network = disc_network(n=25, degree=10.0, eta=0.1)
    chosen = RigidNeighbourhoods(max_size=12, rounds=0, coverage=1)(network)
    scaled, relaxed = (
        step(iterations=0)(network, chosen).position
        for step in (StressEmbedding, SemidefiniteEmbedding)
    )
    assert scaled.shape == relaxed.shape or len(scaled) != len(relaxed)
    assert not np.array_equal(scaled, relaxed)
