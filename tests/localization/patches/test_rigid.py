import numpy as np
import pytest

from gnnsync.errors import ParameterError
from gnnsync.localization.patches.rigid import RigidNeighbourhoods
from gnnsync.rigidity import Rigidity
from tests.distances import complete_network, disc_network


@pytest.mark.parametrize("rounds", [0, 2])
def test_patches_are_globally_rigid(rounds):
    network = disc_network(degree=8.0)
    patches = RigidNeighbourhoods(rounds=rounds, coverage=0)(network)
    assert len(patches) > 30
    for a in range(len(patches)):
        own = patches.members(a)
        assert len(set(own.tolist())) == len(own)
        part, _ = network.subnetwork(own)
        assert Rigidity(part.pairs, len(own)).is_globally_rigid


def test_patches_grow_to_the_largest_size():
    network = disc_network(degree=6.0)
    bodies, grown = (
        np.diff(RigidNeighbourhoods(max_size=14, rounds=r)(network).indptr) for r in (0, 3)
    )
    assert grown.max() == max(14, bodies.max())
    assert grown.mean() > bodies.mean()


def test_coverage_keeps_all_points_of_any_patch():
    network = disc_network()
    all_patches, some = (RigidNeighbourhoods(coverage=c, rounds=0)(network) for c in (0, 2))
    assert len(some) < len(all_patches)
    assert set(some.member.tolist()) == set(all_patches.member.tolist())


def test_what_is_no_patch_is_counted():
    triangle = complete_network([[0, 0], [1, 0], [0, 1]])
    patches = RigidNeighbourhoods()(triangle)
    assert len(patches) == 0
    assert patches.dropped == {"fewer than three distances": 3}
    square = complete_network([[0, 0], [1, 0], [0, 1], [1.1, 1.2]])
    patches = RigidNeighbourhoods()(square)
    assert patches.dropped == {"fewer than 5 points": 4}


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="max_size"):
        RigidNeighbourhoods(max_size=3)
