import numpy as np

from gnnsync.angles import wrap
from gnnsync.graph import MeasurementGraph
from gnnsync.localization.patches.truth import patch_truth
from tests.distances import disc_network, true_patches


def test_true_angles_groups_and_wrong_signs():
    network = disc_network()
    patches, angles = true_patches(network, 12, mirrored=(2,))
    signs = np.ones(12, np.int64)
    signs[2] = -1
    pairs = np.stack([np.arange(11), np.arange(1, 12)])
    offset = angles[:-1] - angles[1:]
    offset[4] += 2.0
    graph = MeasurementGraph(pairs, offset, 12)
    found, group, wrong = patch_truth(network.points, patches, signs, graph)
    assert np.abs(wrap(found - angles)).max() < 1e-9
    assert wrong == 0
    assert group.tolist() == [0] * 4 + [-1] + [0] * 6
    signs[7] = -1
    assert patch_truth(network.points, patches, signs, graph)[2] == 1
