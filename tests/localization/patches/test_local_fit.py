import numpy as np

from gnnsync.localization.patches.local_fit import fit_patches


def test_patches_of_different_size_are_fitted_together():
    rng = np.random.default_rng(0)
    points = rng.random((2, 6, 2))
    valid = np.ones((2, 6), bool)
    valid[1, 4:] = False
    apart = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    both = valid[:, :, None] & valid[:, None, :] & ~np.eye(6, dtype=bool)
    measured = np.where(both, apart, np.inf)
    start = points + 0.05 * rng.standard_normal(points.shape)
    place, spread = fit_patches(start, measured, None, np.zeros((2, 6, 6)), valid, 30)
    found = np.linalg.norm(place[:, :, None] - place[:, None], axis=-1)
    assert np.abs(found - apart)[both].max() < 1e-9
    assert (spread < 1e-8).all()
    assert (place[1, 4:] == start[1, 4:]).all()


def test_points_without_a_distance_push_each_other():
    points = np.array([[[0.0, 0.0], [1.0, 0.0], [0.02, 0.01]]])
    measured = np.full((1, 3, 3), np.inf)
    for i, j in ((0, 1), (1, 2)):
        measured[0, i, j] = measured[0, j, i] = 1.0
    apart = np.full((1, 3, 3), 0.9)
    place, _ = fit_patches(points, measured, None, apart, np.ones((1, 3), bool), 15)
    assert np.linalg.norm(place[0, 0] - place[0, 2]) > 0.6
