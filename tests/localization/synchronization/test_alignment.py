import numpy as np

from gnnsync.angles import wrap
from gnnsync.localization.synchronization.alignment import RobustAlignment
from tests.distances import disc_network, true_patches

MIRRORED = (1, 4, 5)
SIGNS = np.where(np.isin(np.arange(12), MIRRORED), -1, 1)


def expected(pairs, angles):
    """Rotation of each pair: patch x_a = F_a R(-θ_a) p with F_a the reflection of some."""
    a, b = pairs
    return SIGNS[a] * (angles[b] - angles[a])


def test_exact_patches_give_exact_motions():
    patches, angles = true_patches(disc_network(), mirrored=MIRRORED)
    found = RobustAlignment()(patches)
    assert found.pairs.shape[1] >= 12
    a, b = found.pairs
    assert (a < b).all()
    assert (found.reflection == SIGNS[a] * SIGNS[b]).all()
    assert np.abs(wrap(found.rotation - expected(found.pairs, angles))).max() < 1e-6
    assert (found.contrast >= 0.0).all()


def test_a_misplaced_point_has_little_weight():
    patches, angles = true_patches(disc_network(), size=20, mirrored=MIRRORED, noise=0.001)
    patches.position[::20] += 0.3
    robust, plain = RobustAlignment(rounds=6)(patches), RobustAlignment(rounds=0)(patches)
    errors = [
        np.median(np.abs(wrap(found.rotation - expected(found.pairs, angles))))
        for found in (robust, plain)
    ]
    assert errors[0] < 0.2 * errors[1]


def test_few_pairs_still_join_all_patches():
    patches, _ = true_patches(disc_network(), count=40)
    from gnnsync.topology import component_labels

    every, few = (RobustAlignment(most_pairs=m)(patches).pairs for m in (0, 1))
    assert few.shape[1] < every.shape[1]
    assert component_labels(few, 40).max() == component_labels(every, 40).max()


def test_common_points_are_counted():
    patches, _ = true_patches(disc_network())
    found = RobustAlignment()(patches)
    a, b = found.pairs[:, 0].tolist()
    assert found.common[0] == len(np.intersect1d(patches.members(a), patches.members(b)))
