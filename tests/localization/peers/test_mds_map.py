import pytest

from gnnsync.localization.peers import MDSMap
from gnnsync.positions import position_ane
from tests.localization.peers.networks import complete_network, disc_network


def test_all_distances_give_the_points():
    network = complete_network()
    assert position_ane(MDSMap()(network).points, network) < 1e-12


def test_the_refined_map_is_nearer_to_the_truth():
    network = disc_network(80)
    plain = position_ane(MDSMap()(network).points, network)
    refined = MDSMap(refined=True)(network)
    assert refined.iterations > 0
    assert position_ane(refined.points, network) < 0.01 < plain


def test_refined_is_true_or_false():
    with pytest.raises(ValueError, match="refined"):
        MDSMap(refined="yes")
