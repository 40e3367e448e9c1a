import numpy as np

from gnnsync.localization.synchronization.translations import RobustTranslations
from gnnsync.positions import position_rmse
from tests.distances import disc_network, true_patches

SIGNS = np.where(np.arange(40) % 3 == 0, -1, 1)


def patches_and_angles(**options):
    network = disc_network()
    patches, angles = true_patches(
        network, 40, mirrored=np.flatnonzero(SIGNS < 0).tolist(), **options
    )
    return network, patches, angles


def test_exact_patches_give_the_map():
    network, patches, angles = patches_and_angles()
    found = RobustTranslations()(patches, SIGNS, angles, 60)
    assert position_rmse(found, network) < 1e-9


def test_a_point_in_no_patch_has_no_position():
    _, patches, angles = patches_and_angles()
    found = RobustTranslations()(patches, SIGNS, angles, 61)
    assert np.isnan(found[60]).all()


def test_wrong_angles_and_signs_are_put_right():
    network, patches, angles = patches_and_angles(noise=0.002)
    angles[:4] += 1.0
    signs = SIGNS.copy()
    signs[7] *= -1
    kept, turned = (
        RobustTranslations(turns=turns)(patches, signs, angles, 60) for turns in (0, 10)
    )
    assert position_rmse(turned, network) < 0.005
    assert position_rmse(turned, network) < position_rmse(kept, network)
